"""Decide which branches and memories may depend on the result of an atomic.

The analysis goes by names across the whole text: everything that a statement writes may depend if any name in it does. It may
report a dependence that does not exist, but never misses one, so a correct kernel never gets a finding from it.

A call writes the arguments of `out` and `inout` parameters, and of those that may stand for memory. `f(2` is the name for what
calls pass to the third parameter of f, and `f` for what f returns by its result and those parameters.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import accumulate

from splatscope.gpu.slang_types import is_numeric, is_swizzle
from splatscope.slang.declaration import read_parameter
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
_ASSIGNS = re.compile(r"(<<|>>|[-+*/%&|^])?=(?!=)|\+\+|--")
_WRITING = {"sincos", "modf", "frexp", "bwd_diff", "fwd_diff"}  # functions of Slang that write to arguments
_READING = {"Load", "Load2", "Load3", "Load4", "Sample", "SampleLevel", "getCount"}  # methods of Slang that write to nothing


@dataclass(frozen=True)
class _Statement:
    names: frozenset[str]
    written: frozenset[str]
    function: str  # the function that contains it, "" if there is none
    is_label: bool = False
    conditions: tuple[tuple[range, frozenset[str]], ...] = ()  # the offsets of those of `if` and `while`, and the names in each
    replaced: frozenset[str] = frozenset()  # the names that only stand before a plain `=`, so that what they held does not matter


@dataclass(frozen=True)
class _Names:
    """The functions, macros and variables of a program.

    Attributes:
        parameters: By function, (name, whether a call may write to the argument) of each parameter in each definition.
        macros: The names of all macros.
        variables: Names that occur without a call, among them those of lambdas.
    """

    parameters: Mapping[str, list[list[tuple[str, bool]]]]
    macros: AbstractSet[str]
    variables: AbstractSet[str]

    @classmethod
    def of(cls, sources: Collection[Source]) -> "_Names":
        parameters: dict[str, list[list[tuple[str, bool]]]] = {}
        variables: set[str] = set()
        for source in sources:
            tokens = source.tokens
            variables |= {tokens.words[at] for at in tokens.indices if tokens.words[at + 1] not in ("(", "<")}
            for block in (block for block in source.functions() if block.kind == "function"):
                spans = tokens.split(tokens.inside(block.signature.stop)) if tokens.words[block.signature.stop] == "(" else []
                parameters.setdefault(block.name, []).append([_parameter(tokens, span) for span in spans])
        return cls(parameters, {define.name for source in sources for define in definitions(source.text)}, variables)

    def flows(self) -> Iterator[_Statement]:
        """Yield what passes between parameters and the calls of their function."""
        for name, overloads in self.parameters.items():
            for position, (parameter, is_written) in (pair for one in overloads for pair in enumerate(one)):
                yield _Statement(frozenset({f"{name}({position}"}), frozenset({parameter}), "")
                if is_written:
                    yield _Statement(frozenset({parameter}), frozenset({name}), "")

    def positions(self, function: str) -> range:
        """Return the positions of the parameters of a function with a name."""
        return range(max((len(one) for one in self.parameters[function]), default=0))


def _parameter(tokens: Tokens, span: range) -> tuple[str, bool]:
    """Return a parameter's name, and whether a call may write to its argument: to memory, or to what is not an input."""
    type_text, name, _ = read_parameter(tokens, span)
    is_output = not {"out", "inout", "ref", "__ref"}.isdisjoint(tokens.words[span.start : span.stop])
    return name, is_output or not is_numeric(type_text)


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
        names = _Names.of(sources.values())
        macros = [define for source in sources.values() for define in definitions(source.text)]
        flows = [*names.flows(), *(_macro(define.name, Tokens(define.body), names) for define in macros)]
        for file, source in sources.items():
            offsets, statements, calls = _statements(source, names)
            self._files[file] = _lines(source.text), offsets, statements
            flows += calls
        statements = [statement for _, _, those in self._files.values() for statement in those]
        for statement in (*statements, *flows):
            for name in statement.names:
                self._with.setdefault(name, []).append(statement)

    def may_depend(self, branch: Site, atomic: Site) -> bool:
        """Return whether a branch may depend on an atomic's result."""
        condition, origin = self._at(branch), self._at(atomic)
        if condition is None or origin is None or condition is origin or condition.is_label:
            return True
        offset = self._offset(branch)
        names = next((names for span, names in condition.conditions if offset in span), condition.names - condition.replaced)
        return not names.isdisjoint(self._dependent(atomic, origin))

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
        number = bisect_right(starts, self._offset(site)) - 1
        return statements[number] if number >= 0 else None

    def _offset(self, site: Site) -> int:
        return self._files[site.file][0][site.line - 1] + site.column - 1


def _lines(text: str) -> list[int]:
    """Return the offsets of all lines."""
    return [0, *accumulate(len(line) + 1 for line in text.split("\n"))][:-1]


def _statements(source: Source, names: _Names) -> tuple[list[int], list[_Statement], list[_Statement]]:
    """Return the offsets of a file's statements, the statements, and what their calls pass to parameters."""
    tokens = source.tokens
    inside = {}
    for block in (block for block in source.functions() if block.is_outermost_code):
        span = range(block.attributes.start, tokens.partners[block.brace])
        inside |= dict.fromkeys(span, block.name)
    spans = list(_parts(tokens))
    statements = [_statement(tokens, span, inside.get(span.start, ""), names) for span in spans]
    return (
        [tokens.starts[span.start] for span in spans],
        statements,
        [flow for span in spans for flow in _passed(tokens, span, names)],
    )


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


def _macro(name: str, body: Tokens, names: _Names) -> _Statement:
    """Return the statement that a macro is. It stands for its body."""
    statement = _statement(body, body.indices, "", names)
    return _Statement(statement.names | {name}, statement.written | {name}, "")


def _statement(tokens: Tokens, span: range, function: str, names: _Names) -> _Statement:
    words = tokens.words
    places = _names_at(tokens, span)
    known = {*names.parameters, *names.macros, *names.variables}
    here = frozenset(words[at] for at in places if words[at] in known or not _is_called(tokens, at))
    assigned = {at: _assigned_by(tokens, at) for at in places}
    written = frozenset(words[at] for at in places if assigned[at])
    for at in places:
        if _is_called(tokens, at):
            written |= here & _written_by_call(tokens, at, here, names)
    uses = Counter(words[at] for at in places)
    replaced = frozenset(words[at] for at in places if assigned[at] == "=" and uses[words[at]] == 1)
    has_effect = written or "return" in words[span.start : span.stop]
    conditions = tuple(
        (range(tokens.starts[at], tokens.starts[inside.stop]), frozenset(words[inner] for inner in _names_at(tokens, inside)))
        for at in span
        if words[at] in ("if", "while") and _is_called(tokens, at)
        for inside in [tokens.inside(at + 1)]
    )
    is_label = words[span.start] in ("case", "default")
    return _Statement(here, written, function if has_effect else "", is_label, conditions, replaced)


def _names_at(tokens: Tokens, span: range) -> list[int]:
    """Return the places of the names in a span, without types, words of the language, and letters that select components."""
    words = tokens.words
    names = (at for at in span if words[at].isidentifier() and words[at] not in (_CONTROL | _PURE) and not is_numeric(words[at]))
    return [at for at in names if words[at - 1] != "." or not is_swizzle(words[at])]


def _is_called(tokens: Tokens, at: int) -> bool:
    return tokens.words[at + 1] == "("


def _passed(tokens: Tokens, span: range, names: _Names) -> Iterator[_Statement]:
    """Yield what the calls of a statement pass to parameters. A function that is named otherwise may be passed anything."""
    places = _names_at(tokens, span)
    all_names = frozenset(tokens.words[at] for at in places)
    for at in places:
        name = tokens.words[at]
        if name not in names.parameters:
            continue
        passed = _arguments(tokens, at, names) if _is_called(tokens, at) else None
        for position in names.positions(name):
            if passed is None:
                yield _Statement(all_names, frozenset({f"{name}({position}"}), "")
            elif position < len(passed):
                yield _Statement(passed[position], frozenset({f"{name}({position}"}), "")


def _arguments(tokens: Tokens, at: int, names: _Names) -> list[frozenset[str]] | None:
    """Return the names in each argument of a call; None if it has more than any function of its name has parameters."""
    arguments = tokens.split(tokens.inside(at + 1))
    if len(arguments) > len(names.positions(tokens.words[at])):
        return None
    return [frozenset(tokens.words[inner] for inner in _names_at(tokens, span)) for span in arguments]


def _written_by_call(tokens: Tokens, at: int, all_names: frozenset[str], names: _Names) -> AbstractSet[str]:
    """Return the names that a call in a statement may write; all of the statement's if it is not known what it does."""
    name, is_method = tokens.words[at], tokens.words[at - 1] == "."
    if name in names.parameters and name not in names.macros:
        arguments = _arguments(tokens, at, names)
        if arguments is None:
            return all_names
        outputs = {i for one in names.parameters[name] for i, (_, is_written) in enumerate(one) if is_written}
        return _receiver(tokens, at).union(*(inside for i, inside in enumerate(arguments) if i in outputs))
    if name in names.macros or name.startswith("__"):
        return all_names
    if name in _ATOMIC or name.startswith("Interlocked"):
        return _written_by_atomic(tokens, at)
    is_known = name in _READING if is_method else not (name in _WRITING or name in names.variables)
    return frozenset() if is_known else all_names


def _receiver(tokens: Tokens, at: int) -> set[str]:
    """Return the names of the object on which a method is called: a and b for `a.b[i].f`."""
    words, receiver, start = tokens.words, set(), at
    while words[start - 1] == "." and start > 1:
        start -= 2
        while words[start] == "]" and tokens.partners[start] > 0:
            start = tokens.partners[start] - 1
        receiver.add(words[start])
    return receiver


def _assigned_by(tokens: Tokens, at: int) -> str:
    """Return the operator that writes a variable, `=` for `kept` in `kept[a + b[0][c]].x = v`; "" for none, or for a field."""
    words, end = tokens.words, at + 1
    if words[at - 1] == ".":
        return ""
    if words[at - 1] in ("++", "--"):
        return words[at - 1]
    while words[end] in ("[", "."):
        end = min(tokens.partners[end] + 1 if words[end] == "[" else end + 2, len(tokens.partners))
    found = _ASSIGNS.match("".join(words[end : end + 4]))
    return found[0] if found else ""


def _written_by_atomic(tokens: Tokens, at: int) -> set[str]:
    """Return the names that an atomic may write: the memory, and `old` in `InterlockedAdd(memory, 1, old)`."""
    words, written = tokens.words, _receiver(tokens, at)
    if words[at].startswith("Interlocked"):
        arguments = tokens.split(tokens.inside(at + 1))
        has_result = len(arguments) > (3 if "Compare" in words[at] else 2)
        for span in (*arguments[:1], *(arguments[-1:] if has_result else [])):
            written |= {words[index] for index in tokens.outermost(span) if tokens.is_name_or_number(index)}
    return written
