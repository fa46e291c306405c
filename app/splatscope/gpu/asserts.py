"""`assert(condition)` in a kernel. Slang has none: what compiles evaluates the condition and drops it; a recording checks it."""

import re

_TOKEN = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|(?<![\w.:])assert(?=\s*\()', re.DOTALL)
_DECLARED = re.compile(r"#[ \t]*define[ \t]+assert\b|\bassert\s*(?:<[^<>]*>)?\s*\([^()]*\)\s*\{")
_BRACKET = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|[()\[\]{},]', re.DOTALL)


def without_asserts(source: str) -> str:
    """Return a source whose asserts are their conditions alone, each character in its place: `assert(a < b, "why");` → `(a < b);`.

    A source that declares an `assert` of its own stays as it is.
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
    """Return where the condition of the assert whose bracket follows ends, and where the closing bracket stands."""
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
