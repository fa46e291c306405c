"""Kernels to open in the debugger: three that work, five that do not, each with its fix."""

import difflib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("examples")


@dataclass(frozen=True)
class Example:
    """A kernel with its inputs. `fixes` are (what stands there, what should) pairs; each occurs once in the source."""

    name: str
    title: str
    inputs: dict[str, dict[str, Any]] = field(default_factory=dict)
    fixes: tuple[tuple[str, str], ...] = ()
    groups: tuple[int, int, int] = (1, 1, 1)

    @property
    def source(self) -> str:
        return (FOLDER / f"{self.name}.slang").read_text(encoding="utf-8")


def shuffle(count: int, seed: int = 3) -> dict[str, Any]:
    return {"fill": "shuffle", "count": count, "seed": seed}


def zeros(count: int) -> dict[str, Any]:
    return {"fill": "zeros", "count": count}


_BARRIER = "GroupMemoryBarrierWithGroupSync();"

EXAMPLES = (
    Example("bitonic-sort", "Bitonic sort of 64 keys", {"data": shuffle(64)}),
    Example("tree-reduction", "Tree reduction of 64 numbers", {"values": {"fill": "random", "count": 64}, "total": zeros(1)}),
    Example("compare-and-swap", "Compare and swap", {"values": {"fill": "ramp", "count": 16}, "total": zeros(1)}),
    Example(
        "missing-barrier",
        "A barrier too far out",
        {"data": shuffle(64)},
        (("            }\n        }\n        " + _BARRIER, "            }\n            " + _BARRIER + "\n        }"),),
    ),
    Example(
        "plain-histogram",
        "A histogram without atomics",
        {"samples": {"fill": "random", "count": 32}, "histogram": zeros(8)},
        (("counts[bin] += 1;", "InterlockedAdd(counts[bin], 1);"),),
    ),
    Example(
        "divergent-barrier",
        "A barrier that half of the threads miss",
        {"data": {"fill": "ramp", "count": 32}},
        (("    if (lane < 16)\n    {\n        " + _BARRIER, "    " + _BARRIER + "\n    if (lane < 16)\n    {"),),
    ),
    Example(
        "out-of-bounds",
        "A blur past the ends of its row",
        {"row": {"fill": "random", "count": 32}, "blurred": zeros(32)},
        (("row[x - 1]", "row[max(x - 1, 0)]"), ("row[x + 1]", "row[min(x + 1, 31)]")),
    ),
    Example(
        "zero-by-zero",
        "Zero divided by zero",
        {
            "weights": {"fill": "values", "count": 16, "values": "1 2 3 4  2 2 2 2  0 0 0 0  4 3 2 1  1 0 0 0"},
            "shares": zeros(16),
            "largest": zeros(16),
        },
        (("share = w / sum", "share = sum > 0 ? w / sum : float4(0)"),),
    ),
)
BY_NAME = {example.name: example for example in EXAMPLES}


def fixed(example: Example, source: str) -> str | None:
    """The source with the example's fix, None where it does not apply: it was made already, or the source was rewritten."""
    for wrong, right in example.fixes:
        if source.count(wrong) != 1:
            return None
        source = source.replace(wrong, right)
    return source if example.fixes else None


def difference(before: str, after: str) -> list[tuple[str, int, str]]:
    """Lines that go and lines that come, as (sign, line, text): `-` counts in the old source, `+` in the new."""
    old, new, found = before.split("\n"), after.split("\n"), []
    for what, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            found += [("-", i + 1, old[i]) for i in range(i1, i2)] + [("+", j + 1, new[j]) for j in range(j1, j2)]
    return found
