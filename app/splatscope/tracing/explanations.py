"""Explain each kind of finding by the smallest kernel that has it, and by the change that mends it.

`explained/KIND.slang` holds both: what stands under `#ifdef MENDED` replaces what is wrong. Its first lines say how to run it, what
the kind means, and how it is mended.
"""

from dataclasses import dataclass
from pathlib import Path

from splatscope.tracing.checks import CHECKS
from splatscope.tracing.fixes import patch_of

_FOLDER = Path(__file__).with_name("explained")
_HEAD = 3  # lines of comments: how to run it, what the kind means, how it is mended


@dataclass(frozen=True)
class Explanation:
    """What a kind of finding means.

    Attributes:
        meaning: In one sentence.
        mend: How the example is mended, in one sentence.
        example: A kernel in which it is found.
        mended: The same kernel, in which nothing is found.
        groups: The workgroups to dispatch, X,Y,Z.
    """

    meaning: str
    mend: str
    example: str
    mended: str
    groups: str

    @property
    def patch(self) -> str:
        """The mend as a unified diff."""
        return patch_of(self.example, self.mended, "example.slang")


def explanation(kind: str) -> Explanation:
    """Explain a kind of finding. Raises LookupError if there is none of this name."""
    if kind not in CHECKS:
        raise LookupError(f"There is no kind of finding “{kind}”. There are {', '.join(sorted(CHECKS))}.")
    lines = (_FOLDER / f"{kind}.slang").read_text(encoding="utf-8").splitlines(keepends=True)
    run, meaning, mend = (line.removeprefix("//").strip() for line in lines[:_HEAD])
    example, mended = (_preprocessed(lines[_HEAD:], is_mended) for is_mended in (False, True))
    return Explanation(meaning, mend, example, mended, run.partition("groups=")[2])


def _preprocessed(lines: list[str], is_mended: bool) -> str:
    kept, is_on = [], True
    for line in lines:
        match line.split():
            case ["#ifdef", "MENDED"]:
                is_on = is_mended
            case ["#ifndef", "MENDED"]:
                is_on = not is_mended
            case ["#else"]:
                is_on = not is_on
            case ["#endif"]:
                is_on = True
            case _:
                kept += [line] * is_on
    return "".join(kept)
