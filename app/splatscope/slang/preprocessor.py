"""Macros written out before a source is instrumented, so that what they do is recorded, all of it at the line that calls them.

Only where there is no doubt what a name stands for: one definition, under no condition, without `#` and `...`. Any other stays
as it is, and what it does is one step.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from splatscope.slang.source import Source, closing

_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\(([^)]*)\))?((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|endif|define|undef)\b[ \t]*(\w*)", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
_MORE_THAN_A_VALUE = re.compile(r"[;={}\[]|\breturn\b")
MOST_TEXT = 20_000  # characters that one call may become
MOST_BODIES = 500_000  # characters of all the bodies that one file may take in


@dataclass(frozen=True)
class Macro:
    """`parameters` is None where the name alone is replaced."""

    parameters: tuple[str, ...] | None
    body: str
    file: str
    at: int  # where its definition ends


def macros_in(sources: Iterable[Source]) -> dict[str, Macro]:
    """The macros of some files that can be written out, by name."""
    found: dict[str, Macro] = {}
    doubtful: set[str] = set()
    names: dict[str, set[str]] = {}  # in what a macro becomes
    for source in sources:
        sure = _sure(source.text)
        for define in _DEFINE.finditer(source.text):
            name, brackets, listed, body = define.groups()
            body = _COMMENT.sub(" ", re.sub(r"\\\r?\n", " ", body)).strip()
            parameters = tuple(p.strip() for p in listed.split(",") if p.strip()) if brackets else None
            names.setdefault(name, set()).update(_NAME.findall(body))
            if name in found or define.start() not in sure or "#" in body or '"' in body or "..." in (listed or ""):
                doubtful.add(name)
            elif brackets or _MORE_THAN_A_VALUE.search(body):
                found[name] = Macro(parameters, body, source.file, define.end())
        doubtful |= {match[2] for match in _DIRECTIVE.finditer(source.text) if match[1] == "undef"}
    return {name: macro for name, macro in found.items() if name not in doubtful and not _leads_to(name, names)}


def _leads_to(name: str, names: dict[str, set[str]]) -> bool:
    """Whether a macro's own name is left in what it becomes: written out once, it would be replaced again."""
    reached, waiting = set(), [name]
    while waiting:
        more = names.get(waiting.pop(), set()) - reached
        reached |= more
        waiting += more
    return name in reached


def _sure(text: str) -> set[int]:
    """Where definitions stand that no condition can leave out, but for the one around a whole header."""
    sure, depth = set(), 0
    directives = list(_DIRECTIVE.finditer(text))
    for i, match in enumerate(directives):
        word, name = match.groups()
        guards = word == "ifndef" and i + 1 < len(directives) and directives[i + 1].groups() == ("define", name)
        if word == "define" and depth == 0:
            sure.add(match.start())
        depth += (word.startswith("if") and not (guards and i == 0)) - (word == "endif")
    return sure


def written_out(source: Source, macros: dict[str, Macro]) -> Source:
    """The source with its calls of macros written out; each stays on its line, and its places are those of the call."""
    parts, shifts, at, length = [], [], 0, 0
    try:
        calls = list(_calls(source, macros))
    except RecursionError:  # hundreds of macros, each in the next
        return source
    for start, end, text in calls:
        text += "\n" * source.text.count("\n", start, end)
        parts += [source.text[at:start], text]
        length += start - at
        shifts.append((length, start, True))
        length += len(text)
        shifts.append((length, end, False))
        at = end
    if not shifts:
        return source
    result = Source("".join([*parts, source.text[at:]]).encode("latin-1").decode(), source.file)
    result.written, result.shifts = source.text, shifts
    return result


def _calls(source: Source, macros: dict[str, Macro]) -> Iterable[tuple[int, int, str]]:
    at, left = 0, [MOST_BODIES]
    while macros and (name := _NAME.search(source.clean, at)) is not None:
        at = name.end()
        macro = macros.get(name.group(0))
        if macro is None or (macro.file == source.file and name.start() < macro.at):
            continue
        call = _replaced(source.clean, name, macros, left)
        if call is None or not re.search(r'["#]', source.text[name.start() : call[0]]):
            at = call[0] if call else at
            if call:
                yield name.start(), call[0], call[1]


def _replaced(text: str, name: re.Match[str], macros: dict[str, Macro], left: list[int]) -> tuple[int, str] | None:
    """(where a call ends, what it becomes); None where it is none. `left` counts down MOST_BODIES."""
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
        values = dict(zip(macro.parameters, (_all(value, macros, left) for value in given), strict=True))
        body = _NAME.sub(lambda match: values.get(match.group(0), match.group(0)), body)
    body = _all(body, macros, left)
    return (end, " ".join(body.split())) if len(body) < MOST_TEXT else None


def _all(text: str, macros: dict[str, Macro], left: list[int]) -> str:
    parts, at, start = [], 0, 0
    while (name := _NAME.search(text, at)) is not None:
        at = name.end()
        if name.group(0) in macros:
            call = _replaced(text, name, macros, left)
            if call is not None:
                parts += [text[start : name.start()], call[1]]
                at = start = call[0]
    return "".join(parts) + text[start:]


def _arguments(text: str) -> list[str]:
    """Arguments of a macro: commas count outside of round brackets, all of them."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]
