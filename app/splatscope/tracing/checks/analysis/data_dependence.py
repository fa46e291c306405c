"""Decide which branches and memories may depend on the result of an atomic.

The analysis goes by names across the whole text: everything that a statement writes may depend if any name in it does. It may
report a dependence that does not exist, but never misses one, so a correct kernel never gets a finding from it.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from splatscope.gpu.slang_types import is_numeric
from splatscope.slang.preprocessor import definitions
from splatscope.slang.source import Source
from splatscope.slang.tokens import Tokens
from splatscope.tracing.sites import Site

MOST_TEXT = 300_000  # characters: beyond that, every branch counts as dependent on every atomic

_CONTROL = {"if", "else", "while", "for", "do", "switch", "return", "void", "in", "out", "inout", "const", "static"}
_PURE = {"asuint", "asint", "asfloat", "min", "max", "abs", "clamp", "any", "all", "select", "dot"}
_ATOMIC = {
    "load", "store", "exchange", "compareExchange", "add", "sub", "and", "or", "xor", "increment", "decrement", "max", "min",
}  # fmt: skip


@dataclass(frozen=True)
class _Statement:
    names: frozenset[str]
    written: frozenset[str]
    function: str  # the function that contains it, "" if there is none
    is_label: bool = False


@dataclass
class Dependence:
    """The statements of a program's sources, by file."""

    sources: Mapping[str, Source]
    _files: dict[str, tuple[list[int], list[int], list[_Statement]]] = field(default_factory=dict)
    _with: dict[str, list[_Statement]] = field(default_factory=dict)  # the statements that contain each name
    _known: dict[tuple[str, int, int], frozenset[str]] = field(default_factory=dict)

    def __post_init__(self):
        is_too_long = sum(len(source.text) for source in self.sources.values()) > MOST_TEXT
        sources = {} if is_too_long else self.sources
        functions = {block.name for source in sources.values() for block in source.functions()}
        macros = [define for source in sources.values() for define in definitions(source.text)]
        functions |= {define.name for define in macros}
        for file, source in sources.items():
            self._files[file] = _lines(source.text), *_statements(source, functions)
        statements = [statement for _, _, those in self._files.values() for statement in those]
        for statement in (*statements, *(_macro(define.name, Tokens(define.body), functions) for define in macros)):
            for name in statement.names:
                self._with.setdefault(name, []).append(statement)

    def may_depend(self, branch: Site, atomic: Site) -> bool:
        """Return whether a branch may depend on an atomic's result."""
        condition, origin = self._at(branch), self._at(atomic)
        if condition is None or origin is None or condition is origin or condition.is_label:
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


def _statements(source: Source, functions: set[str]) -> tuple[list[int], list[_Statement]]:
    """Return the offsets of a file's statements, and the statements; `functions` has the names of all functions and macros."""
    tokens = source.tokens
    inside = {}
    for block in (block for block in source.functions() if block.is_outermost_code):
        span = range(block.attributes.start, tokens.partners[block.brace])
        inside |= dict.fromkeys(span, block.name)
    spans = list(_parts(tokens))
    return [tokens.starts[span.start] for span in spans], [
        _statement(tokens, span, inside.get(span.start, ""), functions) for span in spans
    ]


def _parts(tokens: Tokens) -> Iterator[range]:
    """Yield what ends with `;`, `{` or `}`, or with the head of a `for`: `i++) sum += tile[i];` is two parts."""
    start, depth = 0, 0
    for at in tokens.indices:
        word = tokens.words[at]
        depth += (word == "(") - (word == ")")
        if word in (";", "{", "}") or depth < 0:
            yield range(start, at + 1)
            start, depth = at + 1, 0
    if start < len(tokens.partners):
        yield range(start, len(tokens.partners))


def _macro(name: str, body: Tokens, functions: set[str]) -> _Statement:
    """Return the statement that a macro is. It stands for its body."""
    statement = _statement(body, body.indices, "", functions)
    return _Statement(statement.names | {name}, statement.written | {name}, "")


def _statement(tokens: Tokens, span: range, function: str, functions: set[str]) -> _Statement:
    words = tokens.words
    of_names = [at for at in span if words[at].isidentifier() and words[at] not in (_CONTROL | _PURE) and not is_numeric(words[at])]
    called = {words[at] for at in of_names if words[at + 1] == "("}
    names = frozenset({words[at] for at in of_names} - (called - functions))
    written = frozenset(words[at] for at in of_names if _is_written(tokens, at))
    if called and all(name not in functions and (name in _ATOMIC or name.startswith("Interlocked")) for name in called):
        written |= names & {name for at in of_names if words[at + 1] == "(" for name in _written_by_atomic(tokens, at)}
    elif called:
        written = names  # a call may write to any of them
    has_effect = written or "return" in words[span.start : span.stop]
    return _Statement(names, written, function if has_effect else "", words[span.start] in ("case", "default"))


def _is_written(tokens: Tokens, at: int) -> bool:
    """Return whether a variable is written, such as `kept` in `kept[a + b[0][c]].x = v`; not for the name of a field."""
    words, end = tokens.words, at + 1
    if words[at - 1] == ".":
        return False
    while words[end] in ("[", "."):
        end = min(tokens.partners[end] + 1 if words[end] == "[" else end + 2, len(tokens.partners))
    after = "".join(words[end : end + 4])
    for operator in ("<<", ">>", *"-+*/%&|^"):
        if after.startswith(f"{operator}="):
            return True
    is_assigned = after[:1] == "=" and after[1:2] != "="
    return is_assigned or after[:2] in ("++", "--") or words[at - 1] in ("++", "--")


def _written_by_atomic(tokens: Tokens, at: int) -> set[str]:
    """Return the names that an atomic may write: the memory, and `old` in `InterlockedAdd(memory, 1, old)`."""
    words, written, start = tokens.words, set(), at
    while words[start - 1] == "." and start > 1:
        start -= 2
        while words[start] == "]" and tokens.partners[start] > 0:
            start = tokens.partners[start] - 1
        written.add(words[start])
    if words[at].startswith("Interlocked"):
        arguments = tokens.split(tokens.inside(at + 1))
        has_result = len(arguments) > (3 if "Compare" in words[at] else 2)
        for span in (*arguments[:1], *(arguments[-1:] if has_result else [])):
            written |= {words[index] for index in tokens.outermost(span) if tokens.is_name_or_number(index)}
    return written
