"""Predict faults on waves of other widths from a recording on waves of one width.

Whatever does not depend on the wave width is the same for every width: see `width_dependence`. The rest is computed again for other
widths: `WaveGetLaneCount()`, `WaveGetLaneIndex()` and arithmetic on them. What cannot be computed is not judged. For example, 64
threads on waves of 8:

    groupshared uint sums[8];
    uint sum = WaveActiveSum(value);
    if (WaveIsFirstLane())
        sums[lane / WaveGetLaneCount()] = sum;      waves of 4: thread 32 would write sums[8]

Four kinds of faults are predicted: a read of a lane that such a wave lacks; an index out of bounds of a shared array; a read of a
cell of a shared array that no thread writes; and a wave-wide result that is used for threads of other waves, whose own results are
unused. The last is also looked for in this run, since a kernel made for wider waves computes only a part of the right result.
Nothing is predicted for a kernel that requests a width (`[WaveSize(32)]`), or that races, since its behaviour is not certain at any
width.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from math import prod
from operator import and_, or_, xor

import numpy as np
from tree_sitter import Node

from splatscope.gpu.slang_types import SlangType
from splatscope.slang.comments import COMMENT
from splatscope.slang.constants import integer
from splatscope.slang.source import parent_of, part, text_of
from splatscope.slang.tokens import Tokens, names_in
from splatscope.tracing.checks.analysis.sources import name_of_function
from splatscope.tracing.checks.analysis.width_dependence import (
    MOST_TEXT,
    WidthDependence,
    asks_for_a_width,
    below,
    called,
    root_of,
    roots,
)
from splatscope.tracing.checks.analysis.words import in_sentence, thread_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.trace import Trace

WIDTHS = (4, 8, 16, 32, 64)

_NEAR = 1e-3  # floats with a smaller relative difference count as the same sum
_MOST_DEEP = 40  # nested expressions and variables
_MOST_AROUND = 200  # nested expressions, statements and blocks around a place
_MOST_VALUES = 200_000  # expressions that are evaluated
_MOST_EVENTS = 4000  # events of one place that are examined
_STATEMENTS = ("expression_statement", "declaration", "return_statement", "condition_clause")
_EXITS = ("return_statement", "break_statement", "continue_statement", "discard_statement")
_LOOPS = ("for_statement", "while_statement", "do_statement", "switch_statement")
_OPERATORS: dict[str, Callable] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: a // b, "%": lambda a, b: a % b,
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << b if b < 32 else None, ">>": lambda a, b: a >> b if b < 32 else None,
    "<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b), "<=": lambda a, b: int(a <= b), ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(bool(a) and bool(b)), "||": lambda a, b: int(bool(a) or bool(b)),
}  # fmt: skip
_OF_WAVES = ("WaveActive", "WavePrefix")  # beginnings of the names of operations with a result over a wave
_OVER_WAVES: dict[str, Callable] = {
    "WaveActiveSum": sum, "WaveActiveMin": min, "WaveActiveMax": max,
    "WaveActiveBitOr": lambda values: reduce(or_, values), "WaveActiveBitXor": lambda values: reduce(xor, values),
    "WaveActiveBitAnd": lambda values: reduce(and_, values),
}  # fmt: skip
_OF_RESULTS = _OVER_WAVES | {  # how to combine results over narrow waves into the result over a wide one
    "WaveActiveCountBits": sum, "WaveActiveProduct": prod, "WaveActiveAnyTrue": any, "WaveActiveAllTrue": all,
}  # fmt: skip


@check("wave-width", label="Other waves for", severity="error", gone="the dependence on the width of waves", order=34)
def other_wave_widths(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each place and kind of fault, reported for the narrowest waves that have it.

    Nothing is predicted for an access that was out of bounds in this run.
    """
    seen = {(finding.name, *finding.places) for finding in context.findings("out-of-bounds")}
    found = _predicted(trace, context, lambda predictions: predictions.found())
    return [finding for finding in found if (finding.name, *finding.places) not in seen]


def partly_used_results(trace: Trace, context: Context) -> tuple[list[str], list[str]]:
    """Return two lists of sentences on wave-wide results that are used for some waves only and have no finding.

    For the first list, wider waves would have left the same result in this run; for the second, that is not known.
    """
    partly = _predicted(trace, context, lambda predictions: predictions.partly_used())
    same = [one.words for one in partly if one.is_same]
    return same, [one.words for one in partly if one.finding is None and not one.is_same]


def _predicted(trace: Trace, context: Context, asked: Callable[["_Predictions"], list]) -> list:
    """Return `asked(predictions)`, or [] if nothing is certain."""
    texts = context.sources.texts.values()
    has_waves = any("Wave" in text for text in texts) and sum(map(len, texts)) <= MOST_TEXT
    _, height, depth = trace.info.group_size
    if not has_waves or (height, depth) != (1, 1) or asks_for_a_width(texts) or context.findings("race"):
        return []
    try:
        return asked(_Predictions(trace, context))
    except _TooDeepError:
        return []


def _semantic(head: str, name: str) -> tuple[str, str]:
    """Return the type and the semantic of a parameter in the head of a function; "" and "" if it has none."""
    tokens = Tokens(head)
    places = [at for at in tokens.indices if tokens.words[at] == name and tokens.words[at + 1] == ":" and at]
    return (tokens.words[places[0] - 1], tokens.words[places[0] + 2]) if places else ("", "")


class _TooDeepError(Exception):
    """Expressions or branches are nested too deeply to be examined quickly."""


@dataclass(frozen=True)
class _Moment:
    """The state of a thread just before one of its events, on waves of a given width."""

    lane: int
    event: int
    width: int


@dataclass(frozen=True)
class _PartlyUsed:
    """A wave-wide result that is used for some waves only.

    `finding` describes the result of wider waves if it differs; `is_same` says whether it certainly does not.
    """

    words: str
    finding: Finding | None = None
    is_same: bool = False


class _Predictions:
    """The predictions of one recording for other widths, from the first workgroup in it."""

    def __init__(self, trace: Trace, context: Context):
        self._trace, self._known = trace, context.sources
        self._depends = WidthDependence(context.sources.trees, context.sources.symbols.aliases)
        self._own = trace.info.wave_size
        self._groups, self._lane = trace.group_and_lane
        self._mine = self._groups == (self._groups[0] if len(trace) else 0)
        self._usable = context.ordered & (trace.flags == 0) & self._mine
        self._unsure_memory = {finding.name for finding in context.findings("uninitialised-read")} | context.unrecorded.keys()
        self._writes_to: dict[str, list[tuple[str, Node]] | None] = {}  # by shared array
        self._written: dict[tuple[str, int], set[int] | None] = {}  # by shared array and width
        self._left = _MOST_VALUES
        self._identifiers: dict[int, dict[str, list[Node]]] = {}  # by function and name
        self._declarators: dict[int, dict[str, list[Node]]] = {}
        self._events_at: dict[int, np.ndarray] = {}  # by site
        self._sites: dict[tuple[str, int, int], list[int]] = {}
        for number, site in enumerate(trace.sites):
            if site.kind in ("value", "step", "read", "write", "branch", "atomic", "element"):
                self._sites.setdefault((site.file, site.line, site.column), []).append(number)

    def found(self) -> list[Finding]:
        """Return the findings."""
        found: dict[tuple, Finding] = {}
        for file, tree in self._known.trees.items():
            for node in below(tree):
                for finding in self._at(file, node):
                    found.setdefault((finding.name, finding.file, finding.line), finding)
        return [*found.values(), *(one.finding for one in self.partly_used() if one.finding is not None)]

    def partly_used(self) -> list[_PartlyUsed]:
        """Return the wave operations whose results are used for some waves and unused for others."""
        waves = -(-self._trace.info.lanes // self._own)
        found: list[_PartlyUsed] = []
        for file, tree in self._known.trees.items() if waves > 1 else ():
            calls = [n for n in below(tree) if n.type == "call_expression" and called(n).startswith(_OF_WAVES)]
            for call in sorted(calls, key=lambda n: n.start_byte):
                users = self._made_something_of(file, call) or set()
                used = {lane // self._own for lane in users}
                if 0 < len(used) < waves and not self._are_idle(file, call, used):
                    found.append(self._partly_used(file, call, users, waves - len(used)))
        return found

    def _partly_used(self, file: str, call: Node, users: set[int], unused: int) -> _PartlyUsed:
        """Return the description of a wave-wide result that `users` use, and that is unused for `unused` waves."""
        line, user, lanes = call.start_point[0] + 1, min(users), self._trace.info.lanes
        words = (
            f"{file}, line {line}: {called(call)} has a result for each wave, and of the {-(-lanes // self._own)} waves of "
            f"{self._own} in a workgroup those of {unused} are not used. "
        )
        operands = part(call, "arguments").named_children
        if operands and operands[0].type in ("number_literal", "true"):  # the operation counts lanes
            return _PartlyUsed(f"{words}Whether that is meant was not judged.", is_same=True)
        results = self._results(file, call)
        wider = {width: self._wider(called(call), results, user, width) for width in WIDTHS if width > self._own} if results else {}
        if not wider:
            return _PartlyUsed(f"{words}What wider waves leave was not judged: name a device that has them.")
        event, result = results[user]
        differing = [width for width, whole in wider.items() if not _is_same(whole, result)]
        if not differing:
            return _PartlyUsed(f"{words}In this run, wider waves would have left the same.", is_same=True)
        whole = [width for width in differing if {lane // width for lane in users} == set(range(-(-lanes // width)))]
        width = (whole or differing[-1:])[0]
        name, who = self._trace.sites[self._trace.site[event]].name, in_sentence(thread_of(self._trace, event))
        message = (
            f"On these waves of {self._own}, {who} gets {_shown(result)} as {name} on line {line}, a result for {self._own} "
            f"threads of {lanes}, and nobody uses that of all others: on waves of {width}, it is {_shown(wider[width])}."
        )
        return _PartlyUsed(
            "", Finding("wave-width", name, message, [line], [int(self._trace.thread[event])], 0, [event], file=file)
        )

    def _results(self, file: str, call: Node) -> dict[int, tuple[int, float]]:
        """Return (event, result) of a wave operation by thread; {} if one is missing or if they cannot be combined."""
        given = parent_of(call)
        if called(call) not in _OF_RESULTS or given.type not in ("init_declarator", "assignment_expression"):
            return {}
        target = part(given, "declarator" if given.type == "init_declarator" else "left")
        operator = given.child_by_field_name("operator")
        if target.type != "identifier" or (operator is not None and text_of(operator) != "="):
            return {}
        results: dict[int, tuple[int, float]] = {}
        for event in self._events(file, given).tolist():
            value = self._trace.value(event) if self._trace.sites[self._trace.site[event]].name == text_of(target) else None
            if value is None or len(value) != 1:
                return {}
            results[int(self._lane[event])] = event, value[0]
        return results if len(results) == self._trace.info.lanes else {}

    def _wider(self, operation: str, results: dict[int, tuple[int, float]], lane: int, width: int) -> float:
        """Return the result over a wave of another width, which is a multiple of this run's."""
        first = lane // width * width
        return _OF_RESULTS[operation]([results[one][1] for one in range(first, first + width, self._own) if one in results])

    def _at(self, file: str, node: Node) -> Iterator[Finding]:
        if node.type == "call_expression" and called(node) == "WaveReadLaneAt":
            arguments = part(node, "arguments").named_children
            if len(arguments) == 2:
                yield from self._outside(file, node, arguments[1], "")
        elif node.type == "subscript_expression":
            argument, indices = part(node, "argument"), part(node, "indices")
            if text_of(argument) in self._known.shared and len(indices.named_children) == 1:
                yield from self._outside(file, node, indices.named_children[0], text_of(argument))
                yield from self._unwritten(file, node, indices.named_children[0], text_of(argument))
        elif node.type == "init_declarator":
            yield from self._left_over(file, node)
            yield from self._overwritten(file, node)

    def _outside(self, file: str, node: Node, index: Node, memory: str) -> Iterator[Finding]:
        """Yield the finding that an index is not below the width, or not below the size of the shared array `memory`."""
        size = self._size(memory) if memory else 0
        if memory and not size:
            return
        for width in WIDTHS:
            for at in self._moments(file, node, width) if width != self._own else ():
                value = self._value(index, at)
                bound = size or width
                if value is None or not bound <= value:
                    continue
                here = self._value(index, _Moment(at.lane, at.event, self._own))
                if here is None or here >= (size or self._own):
                    continue  # it is not known, or it is already wrong in this run
                line, who = node.start_point[0] + 1, in_sentence(thread_of(self._trace, at.event))
                if memory:
                    verb = "writes" if _is_written(node) else "reads"
                    what = f"{verb} {memory}[{value}] on line {line}, which is outside: its size is {size}"
                else:
                    what = f"reads lane {value} on line {line}, which such a wave does not have"
                yield self._finding(file, memory or "WaveReadLaneAt", width, f"{who} {what}", at.event, line)
                return

    def _unwritten(self, file: str, node: Node, index: Node, memory: str) -> Iterator[Finding]:
        """Yield the finding that a read cell of a shared array is not written by any thread.

        The set of written cells is trusted only if the same computation for this run's width gives the recorded one.
        """
        places = [place for _, place in self._writes(memory) or []]
        if _is_written(node) or not any(map(self._varies, [node, *places])):
            return
        if self._cells_written(memory, self._own) != self._cells_seen(memory):
            return
        for width in WIDTHS:
            written = self._cells_written(memory, width) if width != self._own else None
            if written is None:
                continue
            for at in self._moments(file, node, width):
                value = self._value(index, at)
                if value is None or value in written or value >= self._size(memory):
                    continue
                line, who = node.start_point[0] + 1, in_sentence(thread_of(self._trace, at.event))
                what = f"{who} reads {memory}[{value}] on line {line}, which no thread writes"
                yield self._finding(file, memory, width, what, at.event, line)
                return

    def _left_over(self, file: str, node: Node) -> Iterator[Finding]:
        """Yield the finding that a wave-wide result is used for threads whose own results are unused."""
        if (result := self._result(file, node)) is None:
            return
        made, users = result
        call, name = part(node, "value"), text_of(part(node, "declarator"))
        lanes = self._trace.info.lanes
        if (values := self._operands(call, made)) is None:
            return
        for width in WIDTHS:
            waves = set(range(-(-lanes // width)))
            if width >= self._own or {lane // self._own for lane in users} != set(range(-(-lanes // self._own))):
                continue
            if waves == {lane // width for lane in users}:
                continue
            for lane, event in sorted(users.items()):
                whole, narrow = (self._over(called(call), values, lane, wide) for wide in (self._own, width))
                recorded = self._trace.value(int(made[self._lane[made] == lane][0]))
                if recorded is None or not _is_same(recorded[0], whole) or _is_same(whole, narrow):
                    continue
                line, who = node.start_point[0] + 1, in_sentence(thread_of(self._trace, event))
                what = (
                    f"{who} gets {narrow:,} in place of {whole:,} as {name} on line {line}, a result for {width} threads of "
                    f"{min(self._own, lanes)}, and nobody uses that of the others"
                )
                yield self._finding(file, name, width, what, int(made[self._lane[made] == lane][0]), line)
                return

    def _overwritten(self, file: str, node: Node) -> Iterator[Finding]:
        """Yield the finding that threads of several waves store their results in one cell, so that the last one decides."""
        if (result := self._result(file, node)) is None or (function := _function_of(node)) is None:
            return
        made, _ = result
        call, name = part(node, "value"), text_of(part(node, "declarator"))
        if (values := self._operands(call, made)) is None:
            return
        stores = [parent_of(use) for use in self._mentions(name, function) if _is_stored_in_cell(use)]
        for cell in (part(store, "left") for store in stores):
            writes = self._events(file, cell, "write")
            if self._depends.of_value(part(cell, "indices")) or not self._usable[writes].all():
                continue
            for width in (width for width in WIDTHS if width < self._own):
                stored = {event: self._over(called(call), values, int(self._lane[event]), width) for event in writes.tolist()}
                first: dict[int, int] = {}  # by cell
                for event, value in stored.items():
                    other = first.setdefault(int(self._trace.index[event]), event)
                    if _is_same(stored[other], value):
                        continue
                    site, line = self._trace.sites[self._trace.site[event]], cell.start_point[0] + 1
                    who, rival = (in_sentence(thread_of(self._trace, one)) for one in (event, other))
                    what = (
                        f"{who} writes {value:,} to {self._known.cell(site, int(self._trace.index[event]))} on line {line}, and "
                        f"{rival} writes {stored[other]:,}: each has the result for its own {width} threads, and the last to write "
                        "decides"
                    )
                    yield self._finding(file, site.name, width, what, event, line)
                    return

    def _operands(self, call: Node, made: np.ndarray) -> dict[int, float] | None:
        """Return what each thread gives to a wave operation, by lane; None if it is not known or may vary with the width."""
        operand = part(call, "arguments").named_children[0]
        values = {int(self._lane[e]): self._value(operand, _Moment(int(self._lane[e]), int(e), self._own)) for e in made}
        known = {lane: value for lane, value in values.items() if value is not None}
        is_known = operand.type != "number_literal" and len(known) == len(values) and not self._depends.of_value(operand)
        return known if is_known else None

    def _result(self, file: str, node: Node) -> tuple[np.ndarray, dict[int, int]] | None:
        """Return the events at which all threads assign a wave-wide result to a local, and its users; None if not known."""
        call, name = node.child_by_field_name("value"), text_of(part(node, "declarator"))
        function = _function_of(node)
        if call is None or call.type != "call_expression" or called(call) not in _OVER_WAVES or function is None:
            return None
        lanes, made = self._trace.info.lanes, self._events(file, node)
        if self._depends.of_reaching(node) or self._depends.changes(name, function) or len(made) != lanes:
            return None
        if sorted(self._lane[made].tolist()) != list(range(lanes)) or (users := self._users(file, name, node, function)) is None:
            return None
        return made, users

    def _over(self, operation: str, values: dict[int, float], lane: int, width: int) -> float:
        first = lane // width * width
        return _OVER_WAVES[operation]([values[one] for one in range(first, first + width) if one in values])

    def _users(self, file: str, name: str, declared: Node, function: Node) -> dict[int, int] | None:
        """Return the threads that use a variable, each with an event; None if they are not known."""
        users: dict[int, int] = {}
        for node in self._mentions(name, function):
            if node.parent == declared:
                continue
            if self._depends.of_reaching(node) or _is_optional(node):
                return None
            events = self._events(file, node)
            if not len(events):
                return None
            users |= {int(self._lane[event]): int(event) for event in events}
        return users or None

    def _finding(self, file: str, name: str, width: int, what: str, event: int, line: int) -> Finding:
        message = f"Predicted, not seen: on waves of {width}, {what}. This run had waves of {self._own}."
        return Finding("wave-width", name, message, [line], [int(self._trace.thread[event])], 0, [event], file=file)

    # Which cells are written

    def _cells_seen(self, memory: str) -> set[int]:
        """Return the cells of a shared array that were written in this run."""
        is_written = self._trace.at(lambda site: (site.space, site.name, site.kind) == ("shared", memory, "write"))
        return set(self._trace.index[is_written & self._mine].tolist())

    def _cells_written(self, memory: str, width: int) -> set[int] | None:
        """Return all cells of a shared array that any thread writes on waves of a width; None if not certain."""
        if (memory, width) not in self._written:
            self._written[memory, width] = self._work_out_written(memory, width)
        return self._written[memory, width]

    def _work_out_written(self, memory: str, width: int) -> set[int] | None:
        is_whole = bool(self._usable[self._mine].all()) and not self._trace.info.truncated
        writes = self._writes(memory) if is_whole and memory not in self._unsure_memory and self._size(memory) else None
        if writes is None:
            return None
        cells: set[int] = set()
        for file, node in writes:
            (index,) = part(node, "indices").named_children
            if (comers := self._comers(file, node, width)) is None:
                return None
            for at in comers:
                value = self._value(index, at)
                if not isinstance(value, int):
                    return None
                cells.add(value)
        return cells

    def _varies(self, place: Node) -> bool:
        """Return whether the threads that reach an access, or the cell that it accesses, may depend on the width."""
        return self._depends.of_reaching(place) or self._depends.of_value(part(place, "indices"))

    def _writes(self, memory: str) -> list[tuple[str, Node]] | None:
        """Return the places that write to a shared array, None if the source uses it other than to access a cell."""
        if memory not in self._writes_to:
            self._writes_to[memory] = self._find_writes(memory)
        return self._writes_to[memory]

    def _find_writes(self, memory: str) -> list[tuple[str, Node]] | None:
        found, known = [], 0
        for file, node in self._uses_of_shared.get(memory, []):
            place = parent_of(node)
            known += place.type in ("array_declarator", "subscript_expression")
            if place.type != "subscript_expression":
                continue
            function, cell = _function_of(node), place
            while parent_of(cell).type in ("parenthesized_expression", "field_expression"):
                cell = parent_of(cell)
            if len(part(place, "indices").named_children) != 1 or function is None or _is_called(cell):
                return None
            if any(change.type == "call_expression" for change in self._depends.changes(memory, function)):
                return None
            if _is_written(cell) or parent_of(cell).type == "update_expression":
                found.append((file, place))
        return found if known == self._words[memory] else None

    @cached_property
    def _uses_of_shared(self) -> dict[str, list[tuple[str, Node]]]:
        """The places that name each shared memory, with their files."""
        uses: dict[str, list[tuple[str, Node]]] = {}
        for file, tree in self._known.trees.items():
            for node in below(tree):
                if node.type == "identifier" and (name := text_of(node)) in self._known.shared:
                    uses.setdefault(name, []).append((file, node))
        return uses

    @cached_property
    def _words(self) -> Counter[str]:
        """The number of occurrences of each word in the texts, outside of comments."""
        return Counter(word for text in self._known.texts.values() for word in Tokens(COMMENT.sub("", text)).words)

    # Which threads use a result

    def _made_something_of(self, file: str, call: Node) -> set[int] | None:
        """Return the threads for which the result of a wave operation makes a difference; None if they are not known.

        All threads must have called it once, and only thread numbers may decide which of them use it: if data decide, another
        wave's result may be used in the next run.
        """
        function = _function_of(call)
        made = self._events(file, call)
        if any(around.type == "call_expression" and called(around).startswith(_OF_WAVES) for around in _up(call)):
            return None  # the result of the outer operation matters
        if function is None or called(call) in self._depends.functions or _is_optional(call) or self._depends.of_reaching(call):
            return None
        if sorted(self._lane[made].tolist()) != list(range(self._trace.info.lanes)):
            return None
        given = next((n for n in _up(call) if n.type in ("init_declarator", "assignment_expression", *_STATEMENTS)), None)
        if given is None or given.type in _STATEMENTS:
            return self._affected(file, call, call, function)
        target = part(given, "declarator" if given.type == "init_declarator" else "left")
        name = text_of(target)
        changes = [change for change in self._depends.changes(name, function) if change != given]
        if changes or len(self._declared(name, function)) != 1:
            return self._affected(file, call, call, function) if target.type != "identifier" else None
        users: set[int] = set()
        for node in self._mentions(name, function):
            if node.start_byte > given.end_byte:
                affected = self._affected(file, node, call, function)
                if affected is None:
                    return None
                users |= affected
        return users

    def _affected(self, file: str, node: Node, made: Node, function: Node) -> set[int] | None:
        """Return the threads for which an expression's value makes a difference; `made` is where it was first computed."""
        if self._depends.of_reaching(node) or not all(map(self._is_by_number, _decided_between(made, node, function))):
            return None
        comers = {int(self._lane[event]): int(event) for event in self._events(file, node)}
        goes = {lane: self._counts(node, _Moment(lane, event, self._own)) for lane, event in comers.items()}
        return None if not goes or None in goes.values() else {lane for lane, counts in goes.items() if counts}

    def _counts(self, node: Node, at: _Moment) -> bool | None:
        """Return whether a thread that evaluates an expression uses its value. It may not, as for `any` in `lane == 0 && any`."""
        child = node
        for around in _up(node):
            if child.type in _STATEMENTS:
                return child.type != "condition_clause" or self._does_something(around, at)
            if around.type == "conditional_expression" and child != around.child_by_field_name("condition"):
                way = self._by_number(part(around, "condition"), at)
                if way is None or bool(way) != (child == around.child_by_field_name("consequence")):
                    return None if way is None else False
            operator = text_of(part(around, "operator")) if around.type == "binary_expression" else ""
            if operator in ("&&", "||"):
                is_right = child == around.child_by_field_name("right")
                other = self._by_number(part(around, "left" if is_right else "right"), at)
                if other is None and is_right:
                    return None
                if other is not None and bool(other) != (operator == "&&"):
                    return False
            child = around
        return True

    def _does_something(self, branch: Node, at: _Moment) -> bool:
        """Return whether a branch may have an effect for a thread. It has none if it only contains branches not taken."""
        if branch.type != "if_statement" or branch.child_by_field_name("alternative") is not None:
            return True
        inside = part(branch, "consequence")
        while inside.type == "compound_statement" and len(inside.named_children) == 1:
            inside = inside.named_children[0]
        if inside.type != "if_statement" or inside.child_by_field_name("alternative") is not None:
            return True
        return self._by_number(_condition(inside), at) != 0 and self._does_something(inside, at)

    def _are_idle(self, file: str, call: Node, used: set[int]) -> bool:
        """Return whether the threads of all other waves contribute nothing: `WaveActiveSum(lane < waves ? sums[lane] : 0)`."""
        operands, has_own = part(call, "arguments").named_children, False
        for event in self._events(file, call) if operands else ():
            is_nothing = self._is_nothing(operands[0], _Moment(int(self._lane[event]), int(event), self._own))
            is_used = int(self._lane[event]) // self._own in used
            has_own |= is_used and not is_nothing
            if not is_used and not is_nothing:
                return False
        return has_own

    def _is_nothing(self, node: Node, at: _Moment, depth: int = 0) -> bool:
        """Return whether an expression is certainly a literal for a thread, whatever the contents of memory."""
        if node.type in ("number_literal", "false", "true"):
            return True
        if depth > _MOST_DEEP:
            return False
        if node.type == "parenthesized_expression" and len(node.named_children) == 1:
            return self._is_nothing(node.named_children[0], at, depth + 1)
        if node.type == "conditional_expression":
            way = self._value(part(node, "condition"), at)
            side = "consequence" if way else "alternative"
            return way is not None and self._is_nothing(part(node, side), at, depth + 1)
        if node.type == "binary_expression" and text_of(part(node, "operator")) == "&&":
            return 0 in (self._value(part(node, "left"), at), self._value(part(node, "right"), at))
        function = _function_of(node) if node.type == "identifier" else None
        if function is None:
            return False
        declared = self._declared(text_of(node), function)
        if len(declared) != 1 or (given := declared[0].child_by_field_name("value")) is None:
            return False
        changes = self._depends.changes(text_of(node), function)
        return self._is_nothing(given, at, depth + 1) and not any(self._may_come(change, at) for change in changes)

    def _may_come(self, node: Node, at: _Moment) -> bool:
        """Return whether a thread may reach a place, according to the conditions around it."""
        ways = [(self._value(_condition(one), at), taken) for one, taken in _branches(node) if one.type == "if_statement"]
        return all(way is None or bool(way) == taken for way, taken in ways)

    def _by_number(self, node: Node, at: _Moment) -> float | None:
        """Return the value of an expression if it depends only on the thread's number."""
        return self._value(node, at) if self._is_by_number(node) else None

    def _is_by_number(self, node: Node, depth: int = 0) -> bool:
        """Return whether an expression contains only thread numbers, constants and uniforms."""
        function = _function_of(node)
        if function is None or depth > _MOST_DEEP:
            return False
        for one in below(node):
            if one.type in ("subscript_expression", "assignment_expression", "update_expression"):
                return False
            if (
                one.type == "call_expression"
                and self._known.symbols.resolve(called(one)) not in ("uint", "int")
                and called(one) not in ("min", "max")
            ):
                return False
            if one.type == "identifier" and not _is_called(one) and not self._is_number(one, function, depth):
                return False
        return True

    def _is_number(self, node: Node, function: Node, depth: int) -> bool:
        name = text_of(node)
        changes, declared = self._depends.changes(name, function), self._declared(name, function)
        if declared:
            values = [one.child_by_field_name("value") for one in declared]
            is_kept = all(parent_of(change).type == "for_statement" for change in changes)  # changed only in a loop's head
            return is_kept and all(value is not None and self._is_by_number(value, depth + 1) for value in values)
        head = text_of(part(function, "declarator"))
        if name in names_in(head):
            return not changes and _semantic(head, name)[1].startswith(("SV_Group", "SV_Dispatch"))
        everywhere = (one for named in self._depends.functions.values() for one in named)
        return name not in self._known.shared and not any(self._depends.changes(name, one) for one in everywhere)

    # Which threads reach a place

    def _moments(self, file: str, node: Node, width: int) -> Iterator[_Moment]:
        """Yield the threads that certainly reach a place on waves of a width, once for each time."""
        if (known := self._before_branches(file, node, width)) is None:
            return
        moments, inside = known
        comers = sorted(at.lane for at in moments)
        for at in moments:
            goes = [self._holds(_condition(branch), at, comers) for branch, _ in inside]
            if all(way is not None and bool(way) == taken for way, (_, taken) in zip(goes, inside, strict=True)):
                yield at

    def _comers(self, file: str, node: Node, width: int) -> list[_Moment] | None:
        """Return all threads that reach a place on waves of a width, once for each time; None if not certain."""
        if (known := self._before_branches(file, node, width)) is None:
            return None
        comers, inside = known
        if len(comers) >= _MOST_EVENTS:
            return None
        for branch, taken in reversed(inside):
            lanes = [at.lane for at in comers]
            ways = [self._holds(_condition(branch), at, lanes) for at in comers]
            if None in ways:
                return None
            comers = [at for at, way in zip(comers, ways, strict=True) if bool(way) == taken]
        return comers

    def _before_branches(self, file: str, node: Node, width: int) -> tuple[list[_Moment], list[tuple[Node, bool]]] | None:
        """Return the threads that reach the outermost width-dependent branch around a place, and that branch and those inside it.

        If there is no such branch, return the threads that reach the place, once for each time, and no branches. Return None if it
        is not certain.
        """
        if _is_optional(node):
            return None
        branches = list(_branches(node))  # innermost first
        unsure = [number for number, (branch, _) in enumerate(branches) if self._depends.of_value(_condition(branch))]
        inside = branches[: unsure[-1] + 1] if unsure else []
        reached = inside[-1][0] if inside else node
        if self._depends.of_reaching(reached) or any(branch.type != "if_statement" for branch, _ in inside):
            return None
        exits = self._exits[file]
        if inside and bisect_left(exits, reached.start_byte) < bisect_left(exits, node.start_byte):
            return None  # some threads may exit earlier
        events = self._events(file, _condition(reached), "branch") if inside else self._events(file, node)
        moments = [_Moment(int(self._lane[event]), int(event), width) for event in events]
        if inside and len({at.lane for at in moments}) != len(moments):
            return None
        return moments, inside

    @cached_property
    def _exits(self) -> dict[str, list[int]]:
        """The sorted offsets of the exits in each file."""
        return {
            file: sorted(node.start_byte for node in below(tree) if node.type in _EXITS) for file, tree in self._known.trees.items()
        }

    def _holds(self, condition: Node, at: _Moment, comers: list[int]) -> float | None:
        """Return the value of a condition. The first lane is the first of the wave's threads among `comers`."""
        inner = condition.named_children[0] if condition.type == "condition_clause" else condition
        if inner.type == "call_expression" and called(inner) == "WaveIsFirstLane":
            return int(at.lane == min(lane for lane in comers if lane // at.width == at.lane // at.width))
        return self._value(inner, at)

    def _events(self, file: str, node: Node, kind: str = "") -> np.ndarray:
        """Return the events that show that a node was reached: those of a site at its start or at that of an enclosing node."""
        steps, around = 0, node
        while around is not None and steps < _MOST_DEEP and around.type != "compound_statement":
            for one in (around, *(around.named_children[:1] if around.type == "condition_clause" else ())):
                line, column = one.start_point
                numbers = self._sites.get((file, line + 1, column + 1), [])
                numbers = [n for n in numbers if kind in ("", self._trace.sites[n].kind)]
                if numbers:
                    return max((self._of_site(number) for number in numbers), key=len)
            if around.type in _STATEMENTS:
                break
            around = around.parent
            steps += 1
        return np.zeros(0, np.int64)

    def _of_site(self, number: int) -> np.ndarray:
        if number not in self._events_at:
            self._events_at[number] = np.flatnonzero((self._trace.site == number) & self._usable)[:_MOST_EVENTS]
        return self._events_at[number]

    # Values of expressions

    def _value(self, node: Node, at: _Moment, depth: int = 0, is_now: bool = True) -> float | None:
        """Return the value of an expression at an event, None if it is not certain.

        If `is_now` is False, the expression was evaluated earlier, at the declaration of a variable that is still in scope.
        """
        self._left -= 1
        if depth > _MOST_DEEP or self._left < 0:
            return None
        if (
            node.type in ("parenthesized_expression", "subscript_argument_list", "condition_clause")
            and len(node.named_children) == 1
        ):
            return self._value(node.named_children[0], at, depth + 1, is_now)
        if node.type == "number_literal":
            return integer(text_of(node), {})
        if node.type == "binary_expression":
            operator = text_of(part(node, "operator"))
            a, b = (self._value(part(node, side), at, depth + 1, is_now) for side in ("left", "right"))
            return _combined(operator, a, b)
        if node.type == "unary_expression" and text_of(node).startswith("!"):
            value = self._value(node.named_children[0], at, depth + 1, is_now)
            return None if value is None else int(not value)
        if node.type == "call_expression":
            return self._called(node, at, depth, is_now)
        if node.type == "field_expression" and part(node, "argument").type == "identifier":
            return self._given(text_of(part(node, "argument")), text_of(part(node, "field")), node, at)
        if node.type == "identifier":
            return self._variable(node, at, depth, is_now)
        return None

    def _called(self, node: Node, at: _Moment, depth: int, is_now: bool) -> float | None:
        name, arguments = called(node), part(node, "arguments").named_children
        if name == "WaveGetLaneCount":
            return at.width
        if name == "WaveGetLaneIndex":
            return at.lane % at.width
        values = [self._value(argument, at, depth + 1, is_now) for argument in arguments]
        numbers = [value for value in values if value is not None]
        if len(numbers) < len(values) or name in self._depends.functions:
            return None
        if self._known.symbols.resolve(name) in ("uint", "int") and len(numbers) == 1:
            return numbers[0] if isinstance(numbers[0], int) else None
        return {"min": min, "max": max}[name](numbers) if name in ("min", "max") and numbers else None

    def _variable(self, node: Node, at: _Moment, depth: int, is_now: bool) -> float | None:
        """Return a variable's value: a thread number, the value of its only definition, a constant, or the recorded value."""
        name, function = text_of(node), _function_of(node)
        if function is None:
            return None
        if (value := self._given(name, "", node, at)) is not None:
            return value
        declared, changes = self._declared(name, function), self._depends.changes(name, function)
        if not declared and name in self._known.integers:
            return integer(name, self._known.integers)
        if (is_now or _are_in_loop_head(changes, node)) and _are_apart(declared):
            value = self._recorded(name, node, function, at)
            if value is not None:
                return value
        if len(declared) == 1 and not changes and (given := declared[0].child_by_field_name("value")) is not None:
            return self._value(given, at, depth + 1, is_now=False)
        return None

    def _given(self, name: str, field: str, node: Node, at: _Moment) -> int | None:
        """Return a system value of the entry point: the number of a thread in its group or in the dispatch."""
        function = _function_of(node)
        if function is None or name_of_function(function) != self._trace.info.entry:
            return None
        type_text, semantic = _semantic(text_of(part(function, "declarator")), name)
        type_ = SlangType.parse(type_text)
        is_integer = type_ is not None and type_.scalar.name in ("int", "uint")
        if not is_integer or self._depends.changes(name, function) or field != ("x" if type_.shape else ""):
            return None
        if semantic in ("SV_GroupIndex", "SV_GroupThreadID"):
            return at.lane
        if semantic == "SV_DispatchThreadID" and self._trace.info.groups[1:] == (1, 1):
            return int(self._groups[at.event]) * self._trace.info.lanes + at.lane
        return None

    def _recorded(self, name: str, node: Node, function: Node, at: _Moment) -> float | None:
        """Return the recorded value of a variable before an event, if it does not depend on the width."""
        statement = next((one for one in _up(node) if one.type in _STATEMENTS), None)
        if self._depends.of_name(name) or statement is None or name in self._changed_in(statement):
            return None
        numbers = self._values_of.get((name, name_of_function(function)), [])
        start = int(np.searchsorted(self._trace.thread, self._trace.thread[at.event]))
        mine = np.flatnonzero(np.isin(self._trace.site[start : at.event], numbers))
        value = self._trace.value(start + int(mine[-1])) if len(mine) else None
        return value[0] if value is not None and len(value) == 1 else None

    def _mentions(self, name: str, function: Node) -> list[Node]:
        if function.id not in self._identifiers:
            named = self._identifiers[function.id] = {}
            for node in below(function):
                if node.type == "identifier":
                    named.setdefault(text_of(node), []).append(node)
        return self._identifiers[function.id].get(name, [])

    def _declared(self, name: str, function: Node) -> list[Node]:
        """Return the declarators of a local in a function."""
        if function.id not in self._declarators:
            named = self._declarators[function.id] = {}
            for node in below(function):
                for one in node.named_children if node.type == "declaration" else ():
                    if one.type == "init_declarator" or one.type == "identifier":
                        named.setdefault(root_of(one), []).append(one)
        return self._declarators[function.id].get(name, [])

    @cached_property
    def _values_of(self) -> dict[tuple[str, str], list[int]]:
        found: dict[tuple[str, str], list[int]] = {}
        for number, site in enumerate(self._trace.sites):
            if site.kind == "value" and not site.path:
                found.setdefault((site.name, site.function), []).append(number)
        return found

    def _changed_in(self, statement: Node) -> set[str]:
        changed: set[str] = set()
        for node in below(statement):
            if node.type == "update_expression" or (node.type == "assignment_expression" and node.parent != statement):
                changed |= roots(node.child_by_field_name("left") or part(node, "argument"))
        return changed

    def _size(self, name: str) -> int:
        """Return the size of a one-dimensional shared array, 0 if it is not known."""
        site = next((s for s in self._trace.sites if s.name == name and s.space == "shared" and s.dims), None)
        sizes = self._known.sizes(site) if site is not None else []
        return sizes[0] if len(sizes) == 1 else 0


def _combined(operator: str, a: float | None, b: float | None) -> float | None:
    """Apply an operator to two numbers; return None if the result is not certain, as for a sum that wraps around."""
    if a is None or b is None or operator not in _OPERATORS:
        return None
    if not (isinstance(a, int) and isinstance(b, int)) and operator not in ("+", "-", "*"):
        return None
    if operator in ("/", "%") and b == 0:
        return None
    value = _OPERATORS[operator](a, b)
    return None if value is None or (isinstance(value, int) and not 0 <= value < 2**31) else value


def _shown(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{int(value):,}"


def _is_same(a: float, b: float) -> bool:
    return a == b if isinstance(a, int) and isinstance(b, int) else abs(a - b) <= _NEAR * max(abs(a), abs(b))


def _condition(branch: Node) -> Node:
    condition = branch.child_by_field_name("condition")
    return condition if condition is not None else branch


def _up(node: Node) -> Iterator[Node]:
    """Yield the ancestors of a node, innermost first, up to its function."""
    for _ in range(_MOST_AROUND):
        if node.parent is None or node.type == "function_definition":
            return
        node = node.parent
        yield node
    raise _TooDeepError


def _branches(node: Node) -> Iterator[tuple[Node, bool]]:
    """Yield the branches and loops around a node, innermost first, and whether it is on the side where the condition holds."""
    child = node
    for around in _up(node):
        if around.type in ("if_statement", *_LOOPS) and child != _condition(around):
            yield around, child.type != "else_clause"
        child = around


def _is_optional(node: Node) -> bool:
    """Return whether a node is not always evaluated with its statement: in `a ? b : c`, or after `&&`."""
    child = node
    for around in _up(node):
        if child.type in _STATEMENTS:
            return False
        if around.type == "conditional_expression" and child != around.child_by_field_name("condition"):
            return True
        is_logical = around.type == "binary_expression" and text_of(part(around, "operator")) in ("&&", "||")
        if is_logical and child == around.child_by_field_name("right"):
            return True
        child = around
    return False


def _decided_between(made: Node, used: Node, function: Node) -> Iterator[Node]:
    """Yield the conditions that decide which threads get from a value's computation to its use: around that and around exits."""
    exits = [node for node in below(function) if node.type in _EXITS and made.end_byte <= node.start_byte < used.start_byte]
    for node in (used, *exits):
        for branch, _ in _branches(node):
            if not branch.start_byte <= made.start_byte < branch.end_byte:
                yield _condition(branch)


def _is_written(node: Node) -> bool:
    return parent_of(node).type == "assignment_expression" and parent_of(node).child_by_field_name("left") == node


def _is_stored_in_cell(node: Node) -> bool:
    """Return whether a node is all that a statement stores in a cell: `sum` in `sums[0] = sum`."""
    given = parent_of(node)
    return (
        given.type == "assignment_expression"
        and given.child_by_field_name("right") == node
        and part(given, "left").type == "subscript_expression"
        and text_of(part(given, "operator")) == "="
    )


def _is_called(node: Node) -> bool:
    """Return whether a node is the called function: `cells[0].add` in `cells[0].add(1)`."""
    return parent_of(node).type == "call_expression" and parent_of(node).child_by_field_name("function") == node


def _are_in_loop_head(changes: list[Node], node: Node) -> bool:
    """Return whether a variable is changed only in the heads of loops around a node, so that it is constant in an iteration."""
    heads = {child.id for loop, _ in _branches(node) if loop.type == "for_statement" for child in loop.children[:-1]}
    return all(change.id in heads for change in changes)


def _are_apart(declared: list[Node]) -> bool:
    """Return whether the scopes of variables with the same name do not overlap."""
    scopes = (parent_of(one).parent for one in declared)
    spans = sorted((scope.start_byte, scope.end_byte) for scope in scopes if scope is not None)
    return all(end <= start for (_, end), (start, _) in pairwise(spans))


def _function_of(node: Node) -> Node | None:
    return next((around for around in _up(node) if around.type == "function_definition"), None)
