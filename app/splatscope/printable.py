"""Print text that others wrote: names, paths, reasons and messages from a repository, a submission or a compiler."""

import re
import unicodedata
from pathlib import Path

MOST = 2_000  # characters
# What a CI system's log takes as a command: `::` at a line's start (GitHub), `##[`, `##vso[` and the like anywhere (GitHub, Azure).
_COMMAND = re.compile(r"\A *:(?=:)|#(?=#\w*\[)")

# A spreadsheet treats a cell that begins with one of these as a formula, wide forms in some languages; an apostrophe prevents it.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "'")


def printable(text: str, most: int = MOST) -> str:
    r"""Return a text as one line that a terminal, the log of a CI system, XML and UTF-8 take for plain text.

    Characters that cannot be printed become their escapes, such as `\x1b` and `\u202e`: control characters, line breaks, marks
    that change the direction of writing, halves of surrogate pairs. So does what would begin a command of a CI system. A text of
    more than `most` characters is cut off. The result is unchanged by another call.
    """
    if len(text) > most:
        text = f"{text[: most - 1]}…"
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " if unicodedata.category(c) == "Zs" else _escaped(c) for c in text)
    return _COMMAND.sub(lambda match: f"{match[0][:-1]}\\x{ord(match[0][-1]):02x}", text)


def cell(text: str) -> str:
    """Return a text for a cell of a table. `text_of_cell` is the inverse."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def text_of_cell(text: str) -> str:
    """Return the text that `cell` was given."""
    return text[1:] if text[:1] == "'" and text[1:].startswith(_FORMULA) else text


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def relative(path: Path, here: Path) -> str:
    """Return a path as it is printed: relative to `here` if it is inside, and printable."""
    return printable(inside(path, here))


def inside(path: Path, here: Path) -> str:
    """Return a path with slashes, relative to `here` if it is inside."""
    return path.relative_to(here.resolve()).as_posix() if path.is_relative_to(here.resolve()) else path.as_posix()
