"""What a source's text says of its loops: whether they are unrolled, or surely end, or nothing would end them."""

import re
from collections.abc import Iterable

from splatscope.slang.source import Source, closing
from splatscope.tracing.sites import Site

_HINTS = re.compile(r"(?:\s*\[\s*[A-Za-z_]\w*\s*(?:\([^()]*\))?\s*\])*\s*\Z")
_COUNTED = re.compile(
    r"for ?\( ?u?int (?P<i>\w+) = \w+ ?; ?(?P=i) ?<=? ?(?P<bound>\w+) ?;"
    r" ?(?:(?P=i) ?\+\+|\+\+ ?(?P=i)|(?P=i) ?\+= ?[1-9]\d*) ?\)(?P<body>.*)"
)
_CHANGED = r"\b{0}\s*(?:[-+*/%&|^]|<<|>>)?=[^=]|\b{0}\s*(?:\+\+|--)|(?:\+\+|--)\s*{0}\b"
_LOOP = re.compile(r"\b(for|while|do)\b")


def hints_before(clean: str, at: int) -> str:
    """The attributes before a statement, with the space around them."""
    return _HINTS.search(clean, max(0, at - 200), at).group(0)


def unrolls(clean: str, at: int) -> bool:
    """Whether the compiler unrolls the loop that begins there."""
    return bool(re.search(r"\[\s*ForceUnroll\b", hints_before(clean, at), re.IGNORECASE))


def is_counted(loop: str, constants: Iterable[str]) -> bool:
    """Whether a loop makes as many turns as a constant says."""
    match = _COUNTED.match(re.sub(r"\s+", " ", loop))
    if match is None or re.search(_CHANGED.format(match["i"]), match["body"]):
        return False
    return match["bound"].isdecimal() or match["bound"] in constants


def without_budget(source: Source, sites: list[Site], constants: Iterable[str]) -> list[int]:
    """The lines of a file's loops that are not sure to end, and that no site would end."""
    ended = {(site.line, site.column) for site in sites if site.kind == "overrun" and site.file == source.file}
    lines, tails = [], set()
    for block in (block for block in source.walk() if block.is_code and not (block.owner and block.owner.is_code)):
        for loop in _LOOP.finditer(source.clean, block.start, block.end):
            at = loop.start()
            if loop.group(1) == "do":
                tails.add(_behind(source.clean, loop.end()))
            if at in tails or unrolls(source.clean, at) or source.line_column(at) in ended:
                continue
            end = _behind(source.clean, closing(source.clean, source.clean.index("(", at)) + 1) if loop.group(1) == "for" else at
            if not is_counted(source.clean[at:end], constants):
                lines.append(source.line_column(at)[0])
    return lines


def _behind(clean: str, at: int) -> int:
    """Where the next thing begins behind a statement."""
    first = re.compile(r"\s*").match(clean, at).end()
    end = closing(clean, first) if clean[first : first + 1] == "{" else clean.find(";", first)
    return re.compile(r"\s*").match(clean, end + 1).end()
