"""Lost updates: two threads atomically load the same value of a cell, and each stores a new value computed from it.

Each access is atomic, so this is not a race. But a load and its store are not one atomic operation, so one update is lost:

    thread 0                     thread 1
    loads total: 5 (line 9)
                                 loads total: 5 (line 9)
                                 stores 5 + 3 (line 10)
    stores 5 + 2 (line 10)

HLSL has no atomic load and store: there, `InterlockedAdd(total, 0, now)` loads, and `InterlockedExchange` stores. A byte-address
buffer has both as methods.

A finding needs proof. In the source, the stored value must be the sum, difference, product or exclusive or of the loaded value and
something else. In the recording, the two threads must have loaded the same value without a write to the cell between their loads.
Each must have stored another value, and neither before the other had loaded. There is no finding if a thread met a barrier between
its load and its store, since there all threads may store the same value on purpose. Accesses under a lock never meet these
conditions.

A maximum or minimum, `if (mine > now) best.store(mine)`, may be right by luck, since the last store decides. So it is enough that
the two stored different values. Threads that load again after a barrier, until nobody has a better value, are excluded.

It is also enough that both updated the same cell one after the other, if nothing orders the two: see `other_schedules`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from tree_sitter import Node

from splatscope.slang.integer_constants import integer
from splatscope.slang.source import enclosing, parent_of, part, text_of, walk
from splatscope.tracing.checks.analysis.cell_history import accesses_to_cell, says_value
from splatscope.tracing.checks.analysis.other_schedules import Update, between_groups, within_a_group
from splatscope.tracing.checks.analysis.phrases import in_sentence, lines_of, thread_of
from splatscope.tracing.checks.analysis.sources import Sources, name_of_function
from splatscope.tracing.checks.analysis.value_origins import name_of_parameter, parameters_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding, standing_at
from splatscope.tracing.checks.registry import check
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

_STORES = ("store", "exchange", "InterlockedExchange")
_OPERATORS = ("+", "-", "*", "^")
_COMPARISONS = ("<", ">", "<=", ">=")
_CHOICES = ("max", "min")
_MOST_AROUND = 60  # nested branches around a store
_MOST_CALLS = 100  # calls of a function that stores its parameter
# With 0, or exchanging a value for the same, these are loads.
_LOADS = ("InterlockedAdd", "InterlockedOr", "InterlockedXor", "InterlockedCompareExchange")
_AS_IT_IS = ("asuint", "asint", "asfloat", "uint", "int", "float")  # functions that an update may go through


@dataclass(frozen=True)
class _Pair:
    """The numbers of the sites of a load and a store, and whether the stored value is the larger or smaller of two.

    `cell` is the accessed cell as written in the source, without blanks.
    """

    load: int
    store: int
    is_choice: bool
    cell: str


@dataclass(frozen=True)
class _Access:
    """A call of an atomic: the name of the operation, the cell as written without blanks, and the other arguments."""

    operation: str
    cell: str
    values: list[Node]


@dataclass(frozen=True)
class _Program:
    """The functions of a file."""

    tree: Node

    def only(self, name: str) -> Node | None:
        """Return the function with this name, None if there is none or if there are several."""
        functions = self._definitions.get(name, [])
        return functions[0] if len(functions) == 1 else None

    @cached_property
    def _definitions(self) -> dict[str, list[Node]]:
        return self._by_name("function_definition", name_of_function)

    @cached_property
    def calls(self) -> dict[str, list[Node]]:
        """The calls by the name of the called function."""
        return self._by_name("call_expression", _function)

    def _by_name(self, type_: str, name_of: Callable[[Node], str]) -> dict[str, list[Node]]:
        by_name: dict[str, list[Node]] = {}
        for node in walk(self.tree):
            if node.type == type_:
                by_name.setdefault(name_of(node), []).append(node)
        return by_name


@check("lost-update", label="Lost update of", severity="error", gone="the lost update", order=12, needs_barriers=True)
def lost_updates(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each pair of a load and a store in the source, reported for the first two threads."""
    by_sites: dict[tuple[int, int], Finding] = {}
    pairs = _pairs(trace, context.sources)
    used = {n: trace.sites[n] for n in np.unique(trace.site).tolist()} if pairs else {}
    only_read = [n for n, site in used.items() if site.kind == "atomic" and _only_reads(context.sources, site)]
    old_value_sites = {n for n, site in used.items() if _finds_old_value(site, context.sources)}
    for pair in pairs:
        by_cell = _updates_by_cell(trace, pair, context.ordered, pair.store in old_value_sites)
        for update, other in _find_losses(trace, pair, by_cell, only_read, old_value_sites):
            if (pair.load, pair.store) in by_sites:
                by_sites[pair.load, pair.store].count += 1
                continue
            outcome = (
                "the larger or smaller of that and a value of their own, but the last to store decides, whatever the other stored"
                if pair.is_choice
                else "what they make of it: one of the two updates is lost"
            )
            message = (
                "{who} both load {name} on {loads}, find the same, and store on {stores} "
                f"{outcome}. Each access is atomic, but others may come between the two: let one atomic operation do both."
            )
            by_sites[pair.load, pair.store] = _finding(trace, context, pair, (update, other), message)
        if (pair.load, pair.store) not in by_sites and (
            updates := _find_possible_loss(trace, context, pair, by_cell, old_value_sites)
        ):
            message = (
                "{who} load {name} on {loads} and store on {stores} what they make of it. In this run one came after the other, "
                "but nothing orders the two: if both load before either stores, one update is lost. Predicted, not seen. Let one "
                "atomic operation do both."
            )
            by_sites[pair.load, pair.store] = _finding(trace, context, pair, updates, message)
    return list(by_sites.values())


def _finding(trace: Trace, context: Context, pair: _Pair, updates: tuple[Update, Update], message: str) -> Finding:
    update, other = updates
    sites = trace.sites[pair.load], trace.sites[pair.store]
    loads, stores = lines_of(*sites)
    place, index = standing_at(*sites), int(trace.index[update.store])
    who = f"{thread_of(trace, update.load)} and {in_sentence(thread_of(trace, other.load))}"
    words = message.format(who=who, name=context.sources.cell(sites[1], index), loads=loads, stores=stores)
    threads = [int(trace.thread[update.load]), int(trace.thread[other.load])]
    return Finding("lost-update", sites[1].name, words, threads=threads, index=index, events=[update.load, other.load], **place)


def _pairs(trace: Trace, sources: Sources) -> list[_Pair]:
    """Return the pairs of sites for which the source shows that the store updates the loaded value."""
    used = np.unique(trace.site).tolist()
    atomic = [(number, trace.sites[number]) for number in used if trace.sites[number].kind == "atomic"]
    loads = {(site.file, site.line, site.column): number for number, site in atomic if _only_reads(sources, site)}
    pairs: list[_Pair] = []
    programs: dict[str, _Program] = {}
    for number, site in atomic:
        if site.operation in ("store", "InterlockedExchange") and loads and (call := _call_at(sources, site)) is not None:
            program = programs.setdefault(site.file, _Program(sources.trees[site.file]))
            for cell, value, store in _stores(program, call):
                for load_call, is_choice in _find_updated_loads(program, cell, value, store):
                    position = load_call.start_point[0] + 1, load_call.start_point[1] + 1
                    load = loads.get((site.file, *position))
                    if load is not None and trace.sites[load].name == site.name:
                        pairs.append(_Pair(load, number, is_choice, cell))
    return list(dict.fromkeys(pairs))


def _only_reads(sources: Sources, site: Site) -> bool:
    """Return whether an atomic access leaves the cell unchanged: a load, or its HLSL form `InterlockedOr(x, 0, now)`."""
    if site.operation == "load":
        return True
    call = _call_at(sources, site) if site.operation.startswith("Interlocked") else None
    return call is not None and _is_load(call)


def _is_load(call: Node) -> bool:
    """Return whether a call reads a cell atomically and leaves it unchanged."""
    access = _access(call)
    if access is None or access.operation == "load":
        return access is not None and bool(_method(call)[1])
    operation, values = access.operation, access.values
    if operation not in _LOADS or len(values) < 2:
        return False
    if operation == "InterlockedCompareExchange":
        return len(values) == 3 and text_of(values[0]) == text_of(values[1])
    return len(values) == 2 and integer(text_of(values[0]), {}) == 0


def _call_at(sources: Sources, site: Site) -> Node | None:
    """Return the call at the site of an atomic access; None if it is not known."""
    statement = sources.statement(site)
    calls = (n for n in walk(statement) if n.type == "call_expression") if statement is not None else ()
    start = (site.line - 1, site.column - 1)
    names = {*_STORES, site.operation}
    return next((c for c in calls if c.start_point == start and (_method(c)[1] in names or _function(c) == site.operation)), None)


def _method(call: Node) -> tuple[str, str]:
    """Return (object without blanks, method) of a call: ("total[0]", "load"); ("", "") for a plain function."""
    receiver, dot, name = _without_blanks(part(call, "function")).rpartition(".")
    return (receiver, name) if dot else ("", "")


def _access(call: Node) -> _Access | None:
    """Return the atomic access of a call: `cell.load()`, `InterlockedAdd(cell, …)`, or `bytes.InterlockedAdd(address, …)`."""
    (receiver, method), arguments = _method(call), _arguments(call)
    if method.startswith("Interlocked") and arguments:
        return _Access(method, f"{receiver}[{_without_blanks(arguments[0])}]", arguments[1:])
    if method:
        return _Access(method, receiver, arguments)
    return _Access(_function(call), _without_blanks(arguments[0]), arguments[1:]) if arguments else None


def _stores(program: _Program, call: Node) -> Iterator[tuple[str, Node, Node]]:
    """Yield (cell, value, call) for a store. If a function stores its parameter, yield one for each call of the function."""
    access = _access(call)
    is_interlocked = access is not None and access.operation.startswith("Interlocked")
    if (
        access is None
        or not access.values
        or (is_interlocked and len(access.values) > 1 and not _is_ignored(access.values[1], call))
    ):
        return  # a thread that uses the old value of an exchange may repair the lost update
    cell, value = access.cell, access.values[0]
    yield cell, value, call
    function = enclosing(call, "function_definition")
    if function is None or program.only(name := name_of_function(function)) != function:
        return
    names = [name_of_parameter(parameter) for parameter in parameters_of(function)]
    if text_of(value) not in names or any(_may_write(use) for use in _uses(text_of(value), function)):
        return
    for outer_call in program.calls.get(name, [])[:_MOST_CALLS]:
        arguments = _arguments(outer_call)
        if len(arguments) == len(names):
            yield _with_arguments(cell, names, arguments), arguments[names.index(text_of(value))], outer_call


def _is_ignored(result: Node, call: Node) -> bool:
    """Return whether the old value of an exchange is unused."""
    function = enclosing(call, "function_definition")
    if result.type != "identifier" or function is None:
        return False
    others = [use for use in _uses(text_of(result), function) if use != result]
    return len(others) == 1 and parent_of(others[0]).type in ("declaration", "init_declarator")


def _find_updated_loads(program: _Program, cell: str, value: Node, store: Node) -> Iterator[tuple[Node, bool]]:
    """Yield (load, whether it is a choice) for the loads of its cell that a store updates; nothing for any other store."""
    yield from _find_compared_loads(program, cell, value, store)
    if value.type == "identifier":
        value = _initializer(value, store) or value
    for node in walk(value):
        operators = _operators(node, value)
        load = _load(program, node, store) if operators else None
        if load is not None and load[0] == cell:
            yield load[1], not operators.isdisjoint(_CHOICES)
            return


def _find_compared_loads(program: _Program, cell: str, value: Node, store: Node) -> Iterator[tuple[Node, bool]]:
    """Yield (load, True) for a load whose comparison with the stored value decides whether to store: `if (mine > now)`."""
    child, text = store, _without_blanks(_without_casts(value))
    names = {text_of(node) for node in walk(value) if node.type == "identifier"}
    for _ in range(_MOST_AROUND):
        parent = child.parent
        if parent is None or parent.type == "function_definition":
            return
        if parent.type == "if_statement" and child == parent.child_by_field_name("consequence"):
            if any(_may_write(use) for name in names for use in _uses(name, child)):
                return
            for sides in _comparisons(part(parent, "condition")):
                for side, other in (sides, sides[::-1]):
                    load = _load(program, side, parent) if _without_blanks(_without_casts(other)) == text else None
                    if load is not None and load[0] == cell:
                        yield load[1], True
                        return
        child = parent


def _comparisons(condition: Node) -> Iterator[tuple[Node, Node]]:
    """Yield (left, right) for each `<` or `>` comparison that must hold for a condition to hold."""
    pending = [condition]
    while pending:
        node = pending.pop()
        if node.type in ("parenthesized_expression", "condition_clause"):
            pending += node.named_children
        elif node.type == "binary_expression":
            operator = text_of(part(node, "operator"))
            left, right = part(node, "left"), part(node, "right")
            if operator == "&&":
                pending += [left, right]
            elif operator in _COMPARISONS:
                yield left, right


def _load(program: _Program, node: Node, before: Node, is_inner: bool = False) -> tuple[str, Node] | None:
    """Return (cell, call) of the load that an expression stands for, through a local or a function that returns a load."""
    expression = node if node.type == "call_expression" else None
    if node.type == "identifier":
        expression = _initializer(node, before) or _find_assigned_value(node, before)
    expression = _without_casts(expression) if expression is not None else None
    if expression is None or expression.type != "call_expression":
        return None
    access = _access(expression)
    if access is not None and _is_load(expression):
        return access.cell, expression
    function = None if is_inner else program.only(_function(expression))
    returns = [n for n in walk(function) if n.type == "return_statement"] if function is not None else []
    if function is None or len(returns) != 1 or not returns[0].named_children:
        return None
    names, arguments = [name_of_parameter(parameter) for parameter in parameters_of(function)], _arguments(expression)
    load = _load(program, returns[0].named_children[0], returns[0], is_inner=True)
    return (_with_arguments(load[0], names, arguments), load[1]) if load and len(names) == len(arguments) else None


def _find_assigned_value(name: Node, place: Node) -> Node | None:
    """Return the expression that gives a local its only value before a place: `InterlockedOr(total, 0, now)`, or b in `now = b`."""
    declarator = _declaration(name, place)
    if declarator is None or declarator.type == "init_declarator":
        return None
    writes = [use for use in _uses(text_of(name), parent_of(parent_of(declarator))) if _may_write(use)]
    if len(writes) != 1:
        return None
    expression = parent_of(writes[0])
    expression = parent_of(expression) if expression.type == "argument_list" else expression
    statement = parent_of(expression)
    if statement.type != "expression_statement" or not _comes_before(statement, place):
        return None
    if expression.type == "assignment_expression":
        return expression.child_by_field_name("right") if text_of(part(expression, "operator")) == "=" else None
    is_load = expression.type == "call_expression" and _is_load(expression)
    return expression if is_load and _arguments(expression)[-1] == writes[0] else None


def _comes_before(statement: Node, place: Node) -> bool:
    """Return whether a statement is always executed before a place: it is earlier in a block around the place."""
    node: Node | None = place
    block = parent_of(statement)
    while node is not None and node.parent != block:
        node = node.parent
    return node is not None and block.type == "compound_statement" and statement.end_byte <= node.start_byte


def _with_arguments(cell: str, names: list[str], arguments: list[Node]) -> str:
    """Replace a function's parameters by arguments in the text of a cell."""
    texts = dict(zip(names, map(_without_blanks, arguments), strict=True))
    return re.sub(r"[A-Za-z_]\w*", lambda name: texts.get(name[0], name[0]), cell)


def _arguments(call: Node) -> list[Node]:
    return part(call, "arguments").named_children


def _without_casts(node: Node) -> Node:
    """Return the expression inside `asuint(…)` and the like."""
    while node.type == "call_expression" and _function(node) in _AS_IT_IS and len(_arguments(node)) == 1:
        node = _arguments(node)[0]
    return node


def _without_blanks(node: Node) -> str:
    return "".join(text_of(node).split())


def _uses(name: str, node: Node) -> list[Node]:
    return [n for n in walk(node) if n.type == "identifier" and text_of(n) == name]


def _operators(node: Node, root: Node) -> set[str]:
    """Return the operators between a node and an expression around it: `+`, `*`, `max` and so on; none if there are others."""
    operators: set[str] = set()
    while node != root:
        parent = parent_of(node)
        if parent.type == "argument_list":
            parent = parent_of(parent)
        function = _function(parent) if parent.type == "call_expression" else ""
        if parent.type == "binary_expression" and text_of(part(parent, "operator")) in _OPERATORS:
            operators.add(text_of(part(parent, "operator")))
        elif function in _CHOICES:
            operators.add(function)
        elif parent.type == "conditional_expression" and _is_chosen(node, parent):
            operators.add("max")
        elif not (function in _AS_IT_IS or parent.type == "parenthesized_expression"):
            return set()
        node = parent
    return operators


def _is_chosen(node: Node, choice: Node) -> bool:
    """Return whether a node is a side of `a > b ? a : b`."""
    sides = [part(choice, "consequence"), part(choice, "alternative")]
    comparisons = list(_comparisons(part(choice, "condition")))
    texts = sorted(_without_blanks(side) for side in sides)
    return node in sides and len(comparisons) == 1 and sorted(map(_without_blanks, comparisons[0])) == texts


def _function(call: Node) -> str:
    return text_of(part(call, "function"))


def _initializer(name: Node, place: Node) -> Node | None:
    """Return the initial value of a local; None if the local may have another value at a place."""
    declarator = _declaration(name, place)
    if declarator is None or declarator.type != "init_declarator":
        return None
    block = parent_of(parent_of(declarator))
    is_written = any(_may_write(use) for use in _uses(text_of(name), block))
    return None if is_written else declarator.child_by_field_name("value")


def _declaration(name: Node, place: Node) -> Node | None:
    """Return the declaration of a local that is used at a place, in a block around it; None for anything but such a local."""
    text, child = text_of(name), place
    while child.parent is not None and child.type != "function_definition":
        parent = child.parent
        statements = parent.named_children if parent.type == "compound_statement" else ()
        head = parent.child_by_field_name("initializer") if parent.type == "for_statement" else None
        if head is not None and any(text_of(n) == text for n in walk(head) if n.type == "identifier"):
            return None
        for statement in reversed([n for n in statements if n.end_byte <= child.start_byte and n.type == "declaration"]):
            for declarator in statement.named_children:
                identifier = declarator.child_by_field_name("declarator") if declarator.type == "init_declarator" else declarator
                if identifier is not None and identifier.type == "identifier" and text_of(identifier) == text:
                    return declarator
        child = parent
    return None


def _may_write(use: Node) -> bool:
    """Return whether a use may write a local: an assignment, `++`, or an argument for one of the kernel's own functions."""
    parent = parent_of(use)
    if parent.type == "assignment_expression":
        return parent.child_by_field_name("left") == use
    if parent.type == "argument_list":
        call, arguments = parent_of(parent), parent.named_children
        receiver, method = _method(call)
        if (method or _function(call)).startswith("Interlocked"):
            return use != arguments[1] and not (receiver and use == arguments[0])
        return not method and _function(call) not in _AS_IT_IS and _function(call) not in _CHOICES
    return parent.type == "update_expression"


def _updates(trace: Trace, load: int, store: int, trusted: np.ndarray, finds_old_value: bool) -> list[Update]:
    """Return the stores of a site that update the value that their thread loaded last, without a barrier in between.

    `finds_old_value` says whether the records of the store contain the cell's old value instead of the stored one.
    """
    events = np.flatnonzero(np.isin(trace.site, [load, store]) & trusted & (trace.flags == 0))
    arrivals = np.r_[0, np.cumsum(trace.at(lambda site: site.kind == "arrive"))]
    return [
        Update(event, next_event)
        for event, next_event in pairwise(events.tolist())
        if (trace.site[event], trace.site[next_event]) == (load, store)
        and trace.thread[event] == trace.thread[next_event]
        and trace.index[event] == trace.index[next_event]
        and arrivals[event] == arrivals[next_event]
        and (finds_old_value or trace.words[event].tolist() != trace.words[next_event].tolist())
    ]


def _finds_old_value(site: Site, sources: Sources) -> bool:
    """Return whether an access's records contain the cell's old value. Then the next access shows the new one."""
    return says_value(site) and not sources.says_new_value(site)


def _updates_by_cell(trace: Trace, pair: _Pair, trusted: np.ndarray, finds_old_value: bool) -> list[list[Update]]:
    """Return the updates by a load and a store, grouped by cell and in the order of their loads.

    `trusted` is a mask of the events to use; for `finds_old_value`, see `_updates`.
    """
    group = trace.group_and_lane[0]

    def cell(update: Update) -> tuple[int, int]:
        is_shared = trace.sites[trace.site[update.load]].space == "shared"
        return int(trace.index[update.load]), int(group[update.load]) if is_shared else 0

    by_cell: dict[tuple[int, int], list[Update]] = {}
    for update in _updates(trace, pair.load, pair.store, trusted, finds_old_value):
        by_cell.setdefault(cell(update), []).append(update)
    for updates in by_cell.values():
        updates.sort(key=lambda update: int(trace.slot[update.load]))
    return list(by_cell.values())


def _find_losses(
    trace: Trace, pair: _Pair, by_cell: list[list[Update]], only_read: list[int], old_value_sites: set[int]
) -> list[tuple[Update, Update]]:
    """Return pairs of updates of the same value, so that one of the two is lost.

    Args:
        trace: The trace.
        pair: The load and the store in the source.
        by_cell: Its updates, see `_updates_by_cell`.
        only_read: The sites of atomic accesses that leave the cell unchanged.
        old_value_sites: The sites whose records contain the cell's old value.
    """
    losses = []
    for updates in by_cell:
        history = accesses_to_cell(trace, updates[0].load)
        changes = trace.slot[history[~np.isin(trace.site[history], only_read)]]
        for update, other in pairwise(updates):
            loads, stores = trace.slot[[update.load, other.load]], trace.slot[[update.store, other.store]]
            is_same = trace.words[update.load].tolist() == trace.words[other.load].tolist()
            is_between = ((changes > loads[0]) & (changes < loads[1])).any()
            if not is_same or is_between or trace.thread[update.load] == trace.thread[other.load] or loads.max() >= stores.min():
                continue
            left_values = [
                _find_left_value(trace, history, store, old_value_sites)
                for store in sorted((update.store, other.store), key=trace.slot.item)
            ]
            loaded_value = trace.words[update.load].tolist()
            is_lost = left_values[0] not in (None, loaded_value)
            if pair.is_choice:
                is_lost &= left_values[1] not in (None, loaded_value, left_values[0])
                is_lost &= not _loads_again(trace, history, update) and not _loads_again(trace, history, other)
            if is_lost:
                losses.append((update, other))
    return losses


def _find_possible_loss(
    trace: Trace, context: Context, pair: _Pair, by_cell: list[list[Update]], old_value_sites: set[int]
) -> tuple[Update, Update] | None:
    """Return two updates, one of which is lost if both load before either stores; None if that is not certain."""
    if pair.is_choice or trace.info.stepped_over or context.unrecorded:
        return None
    for find_pairs in (between_groups, within_a_group):
        for update, other in find_pairs(trace, context.sources, pair.cell, trace.sites[pair.store], by_cell):
            left_value = _find_left_value(trace, accesses_to_cell(trace, update.load), update.store, old_value_sites)
            if left_value not in (None, trace.words[update.load].tolist()):
                return update, other
    return None


def _find_left_value(trace: Trace, history: np.ndarray, store: int, old_value_sites: set[int]) -> list[int] | None:
    """Return the value that a store left in its cell, for an exchange from the next access; None if it is not recorded."""
    if trace.site[store] not in old_value_sites:
        return trace.words[store].tolist()
    later = history[trace.slot[history] > trace.slot[store]]
    return trace.words[later[0]].tolist() if len(later) and trace.site[later[0]] in old_value_sites else None


def _loads_again(trace: Trace, history: np.ndarray, update: Update) -> bool:
    """Return whether a thread loads the cell again after a barrier, at the same place, and so may repair a lost update."""
    is_same_load = (trace.site[history] == trace.site[update.load]) & (trace.thread[history] == trace.thread[update.load])
    later_loads = history[is_same_load & (history > update.store)]
    arrivals = trace.at(lambda site: site.kind == "arrive")
    return len(later_loads) > 0 and bool(arrivals[update.store : later_loads[-1]].any())
