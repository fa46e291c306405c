"""Decide which branches and memories may depend on the result of an atomic.

The analysis goes by names across the whole text: everything that a statement writes may depend if any name in it does. It may
report a dependence that does not exist, but never misses one, so a correct kernel never gets a finding from it.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from splatscope.slang.comments import without_comments
from splatscope.slang.source import Source, closing
from splatscope.tracing.sites import Site

MOST_TEXT = 300_000  # characters: beyond that, every branch counts as dependent on every atomic

_NAME = re.compile(r"[A-Za-z_]\w*")
_PART = re.compile(r"^[ \t]*#(?:\\\r?\n|[^\n])*|[^;{}#]*[;{}]?|#", re.MULTILINE)  # a directive, or a statement
_MACRO = re.compile(r"\s*#\s*define\s+([A-Za-z_]\w*)")
_WRITTEN = re.compile(
    r"([A-Za-z_]\w*)(?:\s*(?:\[[^\]]*\]|\.\w+))*\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)|(?:\+\+|--)\s*([A-Za-z_]\w*)"
)
_INNERMOST = re.compile(r"\[[^\[\]]*\]")  # subscripts that contain no others
_MOST_SUBSCRIPTS = 10  # nested subscripts
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
_CONTROL = {"if", "else", "while", "for", "do", "switch", "return", "void", "in", "out", "inout", "const", "static", "define"}
_PURE = re.compile(r"(?:u?int|float|bool|half|double)(?:\d(?:x\d)?)?|asuint|asint|asfloat|min|max|abs|clamp|any|all|select|dot")
_ATOMIC = re.compile(r"Interlocked\w+|load|store|exchange|compareExchange|add|sub|and|or|xor|increment|decrement|max|min")
_CALL = re.compile(r"((?:[A-Za-z_]\w*\s*\.\s*)*)\b([A-Za-z_]\w*)\s*\(")
_BRACKET = re.compile(r"[()]")
_LABEL = re.compile(r"\s*(?:case|default)\b")


@dataclass(frozen=True)
class _Statement:
    names: frozenset[str]
    written: frozenset[str]
    function: str  # the function that contains it, "" if there is none
    text: str


@dataclass
class Dependence:
    """The statements of a program's texts, by file."""

    texts: Mapping[str, str]
    _files: dict[str, tuple[list[int], list[int], list[_Statement]]] = field(default_factory=dict)
    _with: dict[str, list[_Statement]] = field(default_factory=dict)  # the statements that contain each name
    _known: dict[tuple[str, int, int], frozenset[str]] = field(default_factory=dict)

    def __post_init__(self):
        is_too_long = sum(map(len, self.texts.values())) > MOST_TEXT
        sources = {} if is_too_long else {file: Source(text) for file, text in self.texts.items()}
        functions = {block.name for source in sources.values() for block in source.functions()}
        functions |= {name for text in self.texts.values() for name in re.findall(r"#\s*define\s+(\w+)", text)}
        for file, source in sources.items():
            self._files[file] = _lines(self.texts[file]), *_statements(self.texts[file], source, functions)
            for statement in self._files[file][2]:
                for name in statement.names:
                    self._with.setdefault(name, []).append(statement)

    def may_depend(self, branch: Site, atomic: Site) -> bool:
        """Return whether a branch may depend on an atomic's result."""
        condition, origin = self._at(branch), self._at(atomic)
        if condition is None or origin is None or condition is origin or _LABEL.match(condition.text):
            return True
        return not condition.names.isdisjoint(self._dependent(atomic, origin))

    def may_reach(self, name: str, atomic: Site) -> bool:
        """Return whether a memory's contents or layout may depend on an atomic's result; `name` may be `block.buffer`."""
        origin = self._at(atomic)
        return origin is None or name.rpartition(".")[2] in origin.names | self._dependent(atomic, origin)

    def may_change(self, name: str, access: Site) -> bool:
        """Return whether a variable's value may depend on the result of an access."""
        origin = self._at(access)
        return origin is None or name in self._dependent(access, origin)

    def _dependent(self, atomic: Site, statement: _Statement) -> frozenset[str]:
        """Return the names that may depend on an atomic's result."""
        key = atomic.file, atomic.line, atomic.column
        if key not in self._known:
            dependent_names: set[str] = set()
            pending = [statement]
            seen = {id(statement)}
            while pending:
                current = pending.pop()
                is_called = len(self._with.get(current.function, [])) > 1  # it occurs outside of its own head
                for name in {*current.written, *([current.function] if is_called else [])} - dependent_names:
                    dependent_names.add(name)
                    for successor in self._with.get(name, []):
                        if id(successor) not in seen:
                            seen.add(id(successor))
                            pending.append(successor)
            self._known[key] = frozenset(dependent_names)
        return self._known[key]

    def _at(self, site: Site) -> _Statement | None:
        """Return the statement at a site, None if its text is not known."""
        if site.file not in self._files:
            return None
        lines, starts, statements = self._files[site.file]
        if not 0 < site.line <= len(lines):
            return None
        number = bisect_right(starts, lines[site.line - 1] + site.column - 1) - 1
        return statements[number] if number >= 0 else None


def _lines(text: str) -> list[int]:
    """Return the offsets of all lines."""
    return [0, *accumulate(len(line) + 1 for line in text.split("\n"))][:-1]


def _statements(text: str, source: Source, functions: set[str]) -> tuple[list[int], list[_Statement]]:
    """Return the offsets of a text's statements, and the statements; `functions` has the names of all functions."""
    code = without_comments(text)
    blocks = sorted((block.head, block.end, block.name) for block in source.functions())
    spans = [span for match in _PART.finditer(code) if match[0] for span in _split_part(*match.span(), code)]
    statements, block_index = [], 0
    for start, end in spans:
        while block_index < len(blocks) and blocks[block_index][1] <= start:
            block_index += 1
        is_inside = block_index < len(blocks) and blocks[block_index][0] <= start
        statements.append(_statement(code[start:end], blocks[block_index][2] if is_inside else "", functions))
    return [start for start, _ in spans], statements


def _split_part(start: int, end: int, code: str) -> list[tuple[int, int]]:
    """Return the span of a part; or two, if it has the end of a `for` and the statement after it: `i++) sum += tile[i];`."""
    depth = 0
    for bracket in _BRACKET.finditer(code, start, end):
        depth += 1 if bracket[0] == "(" else -1
        if depth < 0 and code[start] != "#":
            return [(start, bracket.end()), (bracket.end(), end)] if bracket.end() < end else [(start, end)]
    return [(start, end)]


def _statement(text: str, function: str, functions: set[str]) -> _Statement:
    macro = _MACRO.match(text)
    body = text[macro.end() :] if macro else text
    called = {name for name in _CALLED.findall(body) if name not in _CONTROL and not _PURE.fullmatch(name)}
    words = {name for name in _NAME.findall(text) if name not in _CONTROL and not _PURE.fullmatch(name)}
    names = frozenset(words - (called - functions))
    written = _written(text, names)
    if called and all(name not in functions and _ATOMIC.fullmatch(name) for name in called):
        written |= names & _written_by_atomics(text)
    elif called:
        written = names  # a call may write to any of them
    if macro:
        written |= {macro[1]}  # the macro stands for its body
    has_effect = written or re.search(r"\breturn\b", text)
    return _Statement(names, written, function if has_effect else "", text)


def _written(text: str, names: frozenset[str]) -> frozenset[str]:
    """Return the names that a statement writes, such as `kept` in `kept[a + b[0][c]] = v`; all names if subscripts nest deeply."""
    written: set[str] = set()
    for _ in range(_MOST_SUBSCRIPTS):
        written.update(name for pair in _WRITTEN.findall(text) for name in pair if name)
        outer = _INNERMOST.sub(" ", text)
        if outer == text:
            return frozenset(written)
        text = outer
    return names


def _written_by_atomics(text: str) -> set[str]:
    """Return the names that atomics in a statement may write: the memory, and `old` in `InterlockedAdd(memory, 1, old)`."""
    for _ in range(_MOST_SUBSCRIPTS):
        outer = _INNERMOST.sub(" ", text)
        if outer == text:
            break
        text = outer
    written: set[str] = set()
    for call in _CALL.finditer(text):
        written.update(_NAME.findall(call[1]))
        if call[2].startswith("Interlocked"):
            arguments = text[call.end() : closing(text, call.end() - 1)].split(",")
            has_result = len(arguments) > (3 if "Compare" in call[2] else 2)
            written.update(_NAME.findall(f"{arguments[0]} {arguments[-1]}" if has_result else arguments[0]))
    return written
