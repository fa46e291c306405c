"""Examples for the debugger: a kernel with its inputs, and a fix if it has a fault."""

import difflib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
MOST_COMPARED = 300  # lines
Fill = dict[str, Any]


@dataclass(frozen=True)
class Example:
    """A kernel with its inputs.

    `fixes` are pairs (wrong text, right text). The wrong text occurs exactly once in the source, and not in the fixed source.
    """

    name: str
    title: str
    about: str
    inputs: dict[str, Fill] = field(default_factory=dict)
    fixes: tuple[tuple[str, str], ...] = ()
    groups: tuple[int, int, int] = (1, 1, 1)

    @property
    def source(self) -> str:
        """The kernel's source."""
        return (FOLDER / f"{self.name}.slang").read_text(encoding="utf-8")


def fixed(example: Example, source: str) -> str | None:
    """Return the source with the example's fix, or None if it is already fixed or was rewritten."""
    for wrong, right in example.fixes:
        if source.count(wrong) != 1:
            return None
        source = source.replace(wrong, right)
    return source if example.fixes else None


def difference(before: str, after: str) -> list[tuple[str, int, str]]:
    """Return removed and added lines as (sign, line, text): `-` lines are numbered in the old source, `+` lines in the new.

    If more than MOST_COMPARED lines lie between the first and the last difference, none is returned: comparing lines takes more
    than linear time, and no example is as long.
    """
    old, new, lines = before.split("\n"), after.split("\n"), []
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    end = next((i for i in range(shorter - start) if old[-1 - i] != new[-1 - i]), shorter - start)
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(old), len(new)) > MOST_COMPARED:
        return []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            lines += [("-", start + i + 1, old[i]) for i in range(i1, i2)]
            lines += [("+", start + j + 1, new[j]) for j in range(j1, j2)]
    return lines


def zeros(count: int) -> Fill:
    """Fill a buffer with `count` zeros."""
    return {"fill": "zeros", "count": count}


def ramp(count: int) -> Fill:
    """Fill a buffer with the numbers 0, 1, 2 and so on."""
    return {"fill": "ramp", "count": count}


def shuffle(count: int, seed: int = 3) -> Fill:
    """Fill a buffer with 0 … count − 1 in random order."""
    return {"fill": "shuffle", "count": count, "seed": seed}


def random(count: int, seed: int = 1) -> Fill:
    """Fill a buffer with random numbers."""
    return {"fill": "random", "count": count, "seed": seed}


def values(words: str, count: int | None = None) -> Fill:
    """Fill a buffer with these numbers, written out."""
    return {"fill": "values", "values": words} | ({} if count is None else {"count": count})
