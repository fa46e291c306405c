"""Mask constructs that tree-sitter's grammar for Slang lacks. The length stays the same, so the rest parses at its own offsets."""

import re

from splatscope.slang.comments import blank
from splatscope.slang.tokens import Tokens


def blank_span(text: list[str], start: int, end: int, first: str = "") -> None:
    """Blank a span of characters except line breaks; `first`, if given, replaces its first character."""
    for i in range(start, end):
        if text[i] != "\n":
            text[i] = " "
    if first:
        text[start] = first


def _opaque(text: list[str], start: int, end: int) -> None:
    """Turn a statement into `____;`, which the grammar reads as an expression."""
    for i in range(start, end):
        if text[i] != "\n":
            text[i] = "_"
    text[end - 1] = ";"


_ALIAS = re.compile(r"\b(typealias|typedef|associatedtype)\b[^;{}]*;")
_THROW = re.compile(r"\bthrow\s+(\w[^;{}]*);")
_TRY = re.compile(r"\btry\b(?=\s+\w)")
# Before a bracket such a word is left alone, since it may be a call: `expand(v)` of a kernel's own function.
_PREFIX = re.compile(r"\b(no_diff|expand|each|dyn|some|constexpr|nonuniform|unorm|snorm)\b(?=\s+\w)")
_DEFER = re.compile(r"\bdefer\b\s*(\{)?")
_LABEL = re.compile(r"\b(?:break|continue)(\s+\w+)\s*;")
_HINT = re.compile(r"\[[A-Za-z_]\w*(\s*\([^()]*\))?\](?=\s*(?:\[[A-Za-z_]\w*(?:\([^()]*\))?\]\s*)*(?:for|while|do|if|switch)\b)")
# A run of such hints, and the keyword after it. It takes linear time on any text.
_HINTS = re.compile(r"((?:\[[A-Za-z_]\w*(?:\s*\([^()]*\))?\]\s*)+)(?:(for|while|do|if|switch)\b)?")
_ANNOTATION = re.compile(r"\b(?:let|var)\s+\w+(\s*:\s*[\w.]+(?:<[^;=]*>)?(?:\[[^\]]*\])*)")
_DOTTED = re.compile(r"(?<=[;{}])\s*(?:const\s+)?(\w+(?:<[^;()=]*>)?(?:\s*\.\s*\w+)+)\s+\w+\s*[=;\[,]")
_SIZED = re.compile(r"\b[A-Za-z_]\w*(?:<[^;()=]*?>)?((?:\[[^\[\]]*\])+)\s+[A-Za-z_]\w*\s*[=;,[]")
_EXPRESSION_LAMBDA = re.compile(r"\([^()]*\)\s*=>")
_TARGET_SWITCH = re.compile(r"\b__(?:target|stage)_switch\b")
_COMPILE_TIME_FOR = re.compile(r"\$for\s*\(([^;{}]*?\([^()]*\))\s*\)")

# Words that are keywords in the grammar, but that Slang accepts as names where one is declared so: `out[i] = 1;`. They are left
# alone if a type or another keyword follows (`out int i`).
_KEYWORDS = (
    "in", "out", "inout", "point", "line", "lineadj", "triangle", "triangleadj", "sample", "centroid", "linear", "precise",
    "shared", "var", "let", "new", "delete", "template", "union", "using", "register", "virtual", "explicit", "mutable",
)  # fmt: skip
_NAME = re.compile(rf"\b({'|'.join(_KEYWORDS)})\b(?!\s+[A-Za-z_])")
_STAND_INS = {f"${word[1:]}": word for word in _KEYWORDS}  # names in Slang contain no $
_STAND_IN = re.compile(r"\$\w+")
_INFINITY, _AS_LITERAL = "1.#INF", "1.e999"  # HLSL's infinity, and a literal of the same length that every grammar reads


def as_written(text: str) -> str:
    """Restore the names in a piece of masked text: `$ut[i]` becomes `out[i]`."""
    text = text.replace(_AS_LITERAL, _INFINITY)
    return _STAND_IN.sub(lambda match: _STAND_INS.get(match.group(0), match.group(0)), text) if "$" in text else text


def with_infinities(text: str) -> str:
    """Replace each `1.#INF`, which the grammar reads as a directive, by a number of the same length."""
    return text.replace(_INFINITY, _AS_LITERAL)


def without_hints(text: str) -> str:
    """Blank the attributes before loops and branches, such as `[loop]`, which the grammar does not read before `do`."""
    return _HINTS.sub(lambda run: blank(run[1]) + run[2] if run[2] else run[0], text)


def _unwrap_catches(text: str, masked: list[str]) -> None:
    """Leave two blocks of `do { … } catch (error: E) { … }`, which is no loop."""
    tokens = Tokens(text) if "catch" in text else Tokens("")
    words, partners = tokens.words, tokens.partners
    for at in tokens.indices:
        if words[at - 1 : at + 1] == ["}", "catch"]:
            end = partners[at + 1] if words[at + 1] == "(" else at
            blank_span(masked, tokens.starts[at], tokens.end(min(end, len(partners) - 1)))
        elif words[at : at + 2] == ["do", "{"] and words[min(partners[at + 1] + 1, len(partners))] == "catch":
            blank_span(masked, tokens.starts[at], tokens.end(at))


def mask(text: str) -> str:
    """Blank the constructs in a function's body that the grammar lacks, and replace names that it reads as keywords.

    `try` becomes an operator, so that it stays beside its call, and `throw` a goto, which Slang does not have.

    Example:
        `float[4] v; [unroll] for (…)` becomes `float    v;          for (…)`, and `out[i] = 1;` becomes `$ut[i] = 1;`.
    """
    masked = list(with_infinities(text))
    for match in _NAME.finditer(text):
        masked[match.start()] = "$"
    for match in _ALIAS.finditer(text):
        _opaque(masked, *match.span())
    for match in _PREFIX.finditer(text):
        blank_span(masked, *match.span())
    for match in _TRY.finditer(text):
        blank_span(masked, *match.span(), first="+")
    for match in _THROW.finditer(text):
        blank_span(masked, *match.span(1), first="_")
        masked[match.start() : match.start() + 5] = "goto "
    _unwrap_catches(text, masked)
    for match in _DEFER.finditer(text):
        if match.group(1):
            blank_span(masked, match.start(), match.start() + 5)
        else:
            _opaque(masked, match.start(), text.find(";", match.end()) + 1)
    for pattern in (_LABEL, _HINT, _ANNOTATION, _SIZED):
        for match in pattern.finditer(text):
            blank_span(masked, *match.span(0 if pattern is _HINT else 1))
    for match in _TARGET_SWITCH.finditer(text):
        masked[slice(*match.span())] = "switch(0)".ljust(match.end() - match.start())
    for match in _DOTTED.finditer(text):
        for i in range(*match.span(1)):
            masked[i] = "_" if masked[i] in ". <>," else masked[i]
    for match in _COMPILE_TIME_FOR.finditer(text):
        blank_span(masked, *match.span())
        masked[match.start() : match.start() + 2] = "if"
        masked[match.start() + 4], masked[match.start() + 5], masked[match.end() - 1] = "(", "0", ")"
    for match in _EXPRESSION_LAMBDA.finditer("".join(masked)):
        blank_span(masked, *match.span())
    return "".join(masked)
