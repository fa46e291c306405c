"""Expand macros before a source is instrumented, so that what they do is recorded, at the line of the call.

Only macros whose meaning is certain are expanded: those with a single, unconditional definition without `#` and `...`. A call of
any other macro is recorded as one step. Macros that are plain constants are not expanded either.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from splatscope.slang.comments import COMMENT
from splatscope.slang.source import Source, closing

_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\(([^)]{0,2000})\))?((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif|define|undef)\b[ \t]*(\w*)", re.MULTILINE)
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
# A macro's body that matches does something, calls something, or accesses memory.
MORE_THAN_A_VALUE = re.compile(r"[;={}\[]|\breturn\b|\b[A-Za-z_]\w*\s*\(")
_ANOTHER_NAME = re.compile(r"[A-Za-z_]\w*(?:\s*\.\s*\w+)*")  # of a buffer, a function, a type
MOST_TEXT = 20_000  # characters that one call may expand to
MOST_BODIES = 500_000  # characters of all macro bodies that are inserted into one file


@dataclass(frozen=True)
class Definition:
    """A `#define` as written, from offset `start` to `end`; `parameters` is the text in its parentheses, None without them."""

    name: str
    parameters: str | None
    body: str
    start: int
    end: int

    @property
    def takes_arguments(self) -> bool:
        """Whether the macro is called with parentheses."""
        return self.parameters is not None


@dataclass(frozen=True)
class Macro:
    """A macro that can be expanded: `parameters` is None for an object-like macro; `end` is where its definition ends."""

    parameters: tuple[str, ...] | None
    body: str
    file: str
    end: int


def definitions(text: str) -> Iterator[Definition]:
    """Yield the `#define` directives of a text, in order."""
    for match in _DEFINE.finditer(text):
        name, brackets, parameters, body = match.groups()
        yield Definition(name, parameters if brackets else None, body, match.start(), match.end())


def macros_in(sources: Iterable[Source], given: Mapping[str, str] = {}) -> dict[str, Macro]:
    """Return the macros of some files that can be expanded, by name.

    Args:
        sources: The files.
        given: Bodies of further macros given to the compiler. For one of these, `#ifndef` skips the file's own definition.
    """
    found = {name: Macro(None, body, "", 0) for name, body in given.items() if _is_more_than_a_value(body)}
    uncertain: set[str] = set()
    names: dict[str, set[str]] = {}  # the names in the body of each macro
    for name, body in given.items():
        names[name] = set(_NAME.findall(body))
        if '"' in body or "#" in body:
            uncertain.add(name)
    for source in sources:
        unconditional, defaults = _unconditional(source.visible)
        for define in definitions(source.visible):
            if define.name in given and define.start in defaults:
                continue
            body = COMMENT.sub(" ", re.sub(r"\\\r?\n", " ", define.body)).strip()
            listed = define.parameters or ""
            parameters = tuple(p.strip() for p in listed.split(",") if p.strip()) if define.takes_arguments else None
            names.setdefault(define.name, set()).update(_NAME.findall(body))
            is_certain = define.start in unconditional and define.name not in given and define.name not in found
            if not is_certain or "#" in body or '"' in body or "..." in listed:
                uncertain.add(define.name)
            elif define.takes_arguments or _is_more_than_a_value(body):
                found[define.name] = Macro(parameters, body, source.file, define.end)
        uncertain |= {match[2] for match in _DIRECTIVE.finditer(source.visible) if match[1] == "undef"}
    return {name: macro for name, macro in found.items() if name not in uncertain and not _is_recursive(name, names)}


def _is_more_than_a_value(body: str) -> bool:
    return bool(MORE_THAN_A_VALUE.search(body) or _ANOTHER_NAME.fullmatch(body.strip()))


def _is_recursive(name: str, names: dict[str, set[str]]) -> bool:
    """Return whether a macro's expansion contains its own name, so that it would be expanded again."""
    reached, waiting = set(), [name]
    while waiting:
        more = names.get(waiting.pop(), set()) - reached
        reached |= more
        waiting += more
    return name in reached


def _unconditional(text: str) -> tuple[set[int], set[int]]:
    """Return the offsets of unconditional definitions, and of those among them that are under an `#ifndef` of their own name.

    Such a definition is skipped only if the macro is given to the compiler. The include guard around a whole file does not count.
    """
    found, defaults = set(), set()
    conditions: list[tuple[str, bool]] = []  # for each open #if: the name in an #ifndef, and whether it guards the whole file
    directives = list(_DIRECTIVE.finditer(text))
    for i, match in enumerate(directives):
        word, name = match.groups()
        if word == "define" and all(is_guard or of == name for of, is_guard in conditions):
            found.add(match.start())
            if any(of == name for of, _ in conditions):
                defaults.add(match.start())
        elif word.startswith("if"):
            guards = word == "ifndef" and i + 1 < len(directives) and directives[i + 1].groups() == ("define", name)
            conditions.append((name, i == 0) if guards else ("", False))
        elif word in ("else", "elif") and conditions:
            conditions[-1] = ("", False)
        elif word == "endif" and conditions:
            conditions.pop()
    return found, defaults


def expand(source: Source, macros: dict[str, Macro]) -> Source:
    """Return the source with its macro calls expanded, each on the line of the call.

    Example:
        With `#define SET(v) a[0] = v`, `SET(2);` becomes `a[0] = 2;`. For all of that, `line_column` returns the place of `SET(2)`.
    """
    parts, moves, at, length = [], [], 0, 0
    try:
        calls = list(_expanded_calls(source, macros))
    except RecursionError:  # hundreds of nested macros
        return source
    for start, end, text in calls:
        text += "\n" * source.text.count("\n", start, end)
        parts += [source.text[at:start], text]
        length += start - at
        moves.append((length, start, True))
        length += len(text)
        moves.append((length, end, False))
        at = end
    if not moves:
        return source
    return Source.expanded(source, "".join([*parts, source.text[at:]]), moves)


def _expanded_calls(source: Source, macros: dict[str, Macro]) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, new text) for each macro call."""
    at, left = 0, [MOST_BODIES]
    while macros and (name := _NAME.search(source.code, at)) is not None:
        at = name.end()
        macro = macros.get(name.group(0))
        if macro is None or (macro.file == source.file and name.start() < macro.end):
            continue
        call = _expanded_call(source.code, name, macros, left)
        if call is None or not re.search(r'["#]', source.text[name.start() : call[0]]):
            at = call[0] if call else at
            if call:
                yield name.start(), call[0], call[1]


def _expanded_call(text: str, name: re.Match[str], macros: dict[str, Macro], left: list[int]) -> tuple[int, str] | None:
    """Return (end of the call, new text); None if the name is not a call. `left[0]` is what remains of MOST_BODIES."""
    macro, end, body = macros[name.group(0)], name.end(), macros[name.group(0)].body
    left[0] -= 1 + len(body)
    if left[0] < 0:
        return None
    if macro.parameters is not None:
        opening = re.compile(r"\s*\(").match(text, end)
        if opening is None:
            return None
        end = closing(text, opening.end() - 1) + 1
        given = _arguments(text[opening.end() : end - 1])
        if not macro.parameters and given == [""]:
            given = []
        if len(given) != len(macro.parameters):
            return None
        values = dict(zip(macro.parameters, (_expanded(value, macros, left) for value in given), strict=True))
        body = _NAME.sub(lambda match: values.get(match.group(0), match.group(0)), body)
    body = _expanded(body, macros, left)
    return (end, " ".join(body.split())) if len(body) < MOST_TEXT else None


def _expanded(text: str, macros: dict[str, Macro], left: list[int]) -> str:
    """Return a text with its macro calls expanded."""
    parts, at, start = [], 0, 0
    while (name := _NAME.search(text, at)) is not None:
        at = name.end()
        if name.group(0) in macros:
            call = _expanded_call(text, name, macros, left)
            if call is not None:
                parts += [text[start : name.start()], call[1]]
                at = start = call[0]
    return "".join(parts) + text[start:]


def _arguments(text: str) -> list[str]:
    """Split a macro's arguments at every comma outside of parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]
