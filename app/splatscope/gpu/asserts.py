"""`assert(condition)` in a kernel. Slang has none: a plain kernel evaluates the condition and drops it; a recording checks it."""

import re

_TOKEN = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|(?<![\w.:])assert(?=\s*\()', re.DOTALL)
_DECLARED = re.compile(r"#[ \t]*define[ \t]+assert\b|\bassert\s*(?:<[^<>]*>)?\s*\([^()]*\)\s*\{")
_BRACKET = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|[()\[\]{},]', re.DOTALL)


def without_asserts(source: str) -> str:
    """Reduce each assert to its condition: `assert(a < b, "why");` becomes `(a < b);`. Spaces keep all other characters in place.

    A source that declares its own `assert` is unchanged.
    """
    if _DECLARED.search(source):
        return source
    parts, at = [], 0
    for token in _TOKEN.finditer(source):
        if token.group(0) != "assert" or token.start() < at:
            continue
        comma, end = _behind_condition(source, token.end())
        parts += [source[at : token.start()], " " * len("assert"), source[token.end() : comma], _blank(source[comma:end])]
        at = end
    return "".join(parts) + source[at:]


def _behind_condition(source: str, start: int) -> tuple[int, int]:
    """Return where an assert's condition ends, and the position of its closing bracket. The opening bracket follows `start`."""
    depth, comma = 0, None
    for token in _BRACKET.finditer(source, start):
        char = token.group(0)
        if char == "," and depth == 1 and comma is None:
            comma = token.start()
        depth += (char in ("(", "[", "{")) - (char in (")", "]", "}"))
        if depth == 0 and char == ")":
            return (token.start() if comma is None else comma), token.start()
    return len(source), len(source)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
