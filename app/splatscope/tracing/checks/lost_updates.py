"""Two threads that load the same value of a cell atomically, and each store what they make of it: one update is lost.

Each access is atomic, so it is no race. What is missing is that nothing may come between the two:

    thread 0                     thread 1
    loads total: 5 (line 9)
                                 loads total: 5 (line 9)
                                 stores 5 + 3 (line 10)
    stores 5 + 2 (line 10)

HLSL has no atomic load: there, `InterlockedAdd(total, 0, now)` is one, and `InterlockedExchange` stores.

Nothing is said without proof. The source must say that what is stored is the sum, difference, product or exclusive or of what was
loaded with something; the two threads must have found the same value, without a write to the cell between their loads; each must
have stored another value, and neither before the other had loaded. Nor is anything said of a thread that met a barrier between its
load and its store: there all may store the same on purpose. What a lock guards is never seen so.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from tree_sitter import Node

from splatscope.slang.source import text_of, walk
from splatscope.tracing.checks.cell_history import accesses_to_cell, says_value
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding, standing_at
from splatscope.tracing.checks.origins import name_of_parameter, parameters_of
from splatscope.tracing.checks.registry import check
from splatscope.tracing.checks.sources import Sources, name_of_function
from splatscope.tracing.checks.words import in_sentence, lines_of, thread_of
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

_STORES = ("store", "exchange")
_OPERATORS = ("+", "-", "*", "^")
_LOADS = re.compile(r"Interlocked(Add|Or|Xor|CompareExchange)")  # of 0, or of a value by the same
_MOST_CALLS = 100  # of a function that stores its parameter
_ZERO = re.compile(r"0[uU]?|0x0+[uU]?")
_AS_IT_IS = re.compile(r"as(?:uint|int|float)|u?int|float")  # functions that an update may go through


@dataclass(frozen=True)
class _Update:
    """A thread's load of a cell, and its store of what it made of that, both events."""

    load: int
    store: int


@dataclass(frozen=True)
class _Program:
    """The functions of a file."""

    tree: Node

    def only(self, name: str) -> Node | None:
        """Return the only function of a name, None if there are none or several."""
        named = self._definitions.get(name, [])
        return named[0] if len(named) == 1 else None

    @cached_property
    def _definitions(self) -> dict[str, list[Node]]:
        return self._by_name("function_definition", name_of_function)

    @cached_property
    def calls(self) -> dict[str, list[Node]]:
        """The calls by the name of what is called."""
        return self._by_name("call_expression", _function)

    def _by_name(self, type_: str, name_of: Callable[[Node], str]) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for node in walk(self.tree):
            if node.type == type_:
                found.setdefault(name_of(node), []).append(node)
        return found


@check("lost-update", label="Lost update of", severity="error", gone="the lost update", order=12, needs_barriers=True)
def lost_updates(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each pair of a load and a store in the source, told for the first two threads."""
    found: dict[tuple[int, int], Finding] = {}
    pairs = _pairs(trace, context.sources)
    used = {n: trace.sites[n] for n in np.unique(trace.site).tolist()} if pairs else {}
    only_read = [n for n, site in used.items() if site.kind == "atomic" and _only_reads(context.sources, site)]
    says_found = {n for n, site in used.items() if _says_what_it_found(site, context.sources)}
    for load, store in pairs:
        for one, other in _lost(trace, _updates(trace, load, store, context.ordered, store in says_found), only_read, says_found):
            if (load, store) in found:
                found[load, store].count += 1
                continue
            sites = trace.sites[load], trace.sites[store]
            loads, stores = lines_of(*sites)
            name = context.sources.cell(sites[1], int(trace.index[one.store]))
            who = f"{thread_of(trace, one.load)} and {in_sentence(thread_of(trace, other.load))}"
            message = (
                f"{who} both load {name} on {loads}, find the same, and store on {stores} what they make of it: one of the two "
                "updates is lost. Each access is atomic, but others may come between the two: let one atomic operation do both."
            )
            threads = [int(trace.thread[one.load]), int(trace.thread[other.load])]
            at, index = standing_at(*sites), int(trace.index[one.store])
            found[load, store] = Finding(
                "lost-update", sites[1].name, message, threads=threads, index=index, events=[one.load, other.load], **at
            )
    return list(found.values())


def _pairs(trace: Trace, known: Sources) -> list[tuple[int, int]]:
    """Return the sites of loads and stores, as numbers, where the source says that the store updates what was loaded."""
    used = np.unique(trace.site).tolist()
    atomic = [(number, trace.sites[number]) for number in used if trace.sites[number].kind == "atomic"]
    loads = {(site.file, site.line, site.column): number for number, site in atomic if _only_reads(known, site)}
    pairs: list[tuple[int, int]] = []
    programs: dict[str, _Program] = {}
    for number, site in atomic:
        if site.access in ("store", "InterlockedExchange") and loads and (call := _call_at(known, site)) is not None:
            program = programs.setdefault(site.file, _Program(known.trees[site.file]))
            for cell, value, made in _stores(program, call):
                at = _loaded_at(program, cell, value, made)
                load = loads.get((site.file, *at)) if at else None
                if load is not None and trace.sites[load].name == site.name:
                    pairs.append((load, number))
    return list(dict.fromkeys(pairs))


def _only_reads(known: Sources, site: Site) -> bool:
    """Return whether an atomic access leaves the cell as it is: a load, or HLSL's way to make one, `InterlockedOr(x, 0, now)`."""
    if site.access == "load":
        return True
    call = _call_at(known, site) if site.access.startswith("Interlocked") else None
    return call is not None and _is_load(call)


def _is_load(call: Node) -> bool:
    """Return whether a call reads a cell atomically and leaves it as it is."""
    if _method(call)[1] == "load":
        return True
    operation = _LOADS.fullmatch(_function(call))
    _, *values = _arguments(call) or [None]
    if operation is None or len(values) < 2:
        return False
    if operation[1] == "CompareExchange":
        return len(values) == 3 and text_of(values[0]) == text_of(values[1])
    return len(values) == 2 and _ZERO.fullmatch(text_of(values[0])) is not None


def _call_at(known: Sources, site: Site) -> Node | None:
    """Return the call at the site of an atomic access; None where the source does not say."""
    statement = known.statement(site)
    calls = (n for n in walk(statement) if n.type == "call_expression") if statement is not None else ()
    at = (site.line - 1, site.column - 1)
    return next((c for c in calls if c.start_point == at and (_method(c)[1] in _STORES or _function(c) == site.access)), None)


def _method(call: Node) -> tuple[str, str]:
    """Return on what a method is called, without blanks, and its name: ("total[0]", "load"); ("", "") for a plain function."""
    receiver, dot, name = _without_blanks(call.child_by_field_name("function")).rpartition(".")
    return (receiver, name) if dot else ("", "")


def _cell(call: Node) -> str:
    """Return the cell that an atomic's call accesses, without blanks."""
    return _method(call)[0] or _without_blanks(_arguments(call)[0])


def _stores(program: _Program, call: Node) -> Iterator[tuple[str, Node, Node]]:
    """Yield (cell, value, call) of a store: as it stands there, and in a function that stores its parameter as it is called."""
    values = _arguments(call)[0 if _method(call)[1] else 1 :]
    if not values or (len(values) > 1 and not _method(call)[1] and not _is_ignored(values[1], call)):
        return  # who asks what an exchange found may mend what was lost
    cell, value = _cell(call), values[0]
    yield cell, value, call
    function = _function_around(call)
    if function is None or program.only(name := name_of_function(function)) != function:
        return
    names = [name_of_parameter(one) for one in parameters_of(function)]
    if text_of(value) not in names or any(_may_write(use) for use in _uses(text_of(value), function)):
        return
    for made in program.calls.get(name, [])[:_MOST_CALLS]:
        given = _arguments(made)
        if len(given) == len(names):
            yield _with_arguments(cell, names, given), given[names.index(text_of(value))], made


def _is_ignored(result: Node, call: Node) -> bool:
    """Return whether nobody asks for what an exchange found."""
    function = _function_around(call)
    if result.type != "identifier" or function is None:
        return False
    others = [use for use in _uses(text_of(result), function) if use != result]
    return len(others) == 1 and others[0].parent.type in ("declaration", "init_declarator")


def _loaded_at(program: _Program, cell: str, value: Node, store: Node) -> tuple[int, int] | None:
    """Return (line, column) of the load whose result a store updates; None if it stores anything else."""
    if value.type == "identifier":
        value = _initializer(value, store) or value
    for node in walk(value):
        if not _is_updated(node, value):
            continue
        loaded = _load(program, node, store)
        if loaded is not None and loaded[0] == cell:
            return loaded[1].start_point[0] + 1, loaded[1].start_point[1] + 1
    return None


def _load(program: _Program, node: Node, before: Node, is_inner: bool = False) -> tuple[str, Node] | None:
    """Return (cell, call) of the load that an expression stands for: by a local, or a function that returns what it loads."""
    loaded = node if node.type == "call_expression" else None
    if node.type == "identifier":
        loaded = _initializer(node, before) or _taken(node, before)
    while loaded is not None and loaded.type == "call_expression" and _AS_IT_IS.fullmatch(_function(loaded)):
        loaded = next(iter(_arguments(loaded)), None)
    if loaded is None or loaded.type != "call_expression":
        return None
    if _is_load(loaded):
        return _cell(loaded), loaded
    function = None if is_inner else program.only(_function(loaded))
    returns = [n for n in walk(function) if n.type == "return_statement"] if function is not None else []
    if function is None or len(returns) != 1 or not returns[0].named_children:
        return None
    names, given = [name_of_parameter(one) for one in parameters_of(function)], _arguments(loaded)
    found = _load(program, returns[0].named_children[0], returns[0], is_inner=True)
    return (_with_arguments(found[0], names, given), found[1]) if found and len(names) == len(given) else None


def _taken(name: Node, store: Node) -> Node | None:
    """Return the call that gives a local its value, before a store in the same block: `InterlockedOr(total, 0, now)`."""
    statement, block = _in_block(store)
    writes = [use for use in _uses(text_of(name), block) if _may_write(use)] if block is not None else []
    if len(writes) != 1 or writes[0].parent.type != "argument_list":
        return None
    call = writes[0].parent.parent
    is_before = call.parent.parent == block and call.end_byte <= statement.start_byte
    return call if is_before and _is_load(call) and _arguments(call)[-1] == writes[0] else None


def _with_arguments(cell: str, names: list[str], given: list[Node]) -> str:
    """Return a cell with arguments in place of a function's parameters."""
    texts = dict(zip(names, map(_without_blanks, given), strict=True))
    return re.sub(r"[A-Za-z_]\w*", lambda name: texts.get(name[0], name[0]), cell)


def _arguments(call: Node) -> list[Node]:
    return call.child_by_field_name("arguments").named_children


def _without_blanks(node: Node) -> str:
    return re.sub(r"\s", "", text_of(node))


def _uses(name: str, node: Node) -> list[Node]:
    return [n for n in walk(node) if n.type == "identifier" and text_of(n) == name]


def _function_around(node: Node) -> Node | None:
    around: Node | None = node
    while around is not None and around.type != "function_definition":
        around = around.parent
    return around


def _is_updated(node: Node, root: Node) -> bool:
    """Return whether an expression is a node with something added, subtracted, multiplied or the like."""
    operators = 0
    while node != root:
        parent = node.parent
        if parent.type == "argument_list":
            parent = parent.parent
        is_operator = parent.type == "binary_expression" and text_of(parent.child_by_field_name("operator")) in _OPERATORS
        is_cast = parent.type == "call_expression" and _AS_IT_IS.fullmatch(_function(parent))
        if not (is_operator or is_cast or parent.type == "parenthesized_expression"):
            return False
        operators += is_operator
        node = parent
    return operators > 0


def _function(call: Node) -> str:
    return text_of(call.child_by_field_name("function"))


def _initializer(name: Node, store: Node) -> Node | None:
    """Return what a local is declared with, before a store in the same block; None if it may hold something else there."""
    statement, block = _in_block(store)
    if block is None:
        return None
    text, value = text_of(name), None
    for sibling in block.named_children:
        if sibling == statement:
            break
        if sibling.type != "declaration":
            continue
        for declarator in (n for n in sibling.named_children if n.type == "init_declarator"):
            if text_of(declarator.child_by_field_name("declarator")) == text:
                value = declarator.child_by_field_name("value")
    if value is None:
        return None
    return None if any(_may_write(use) for use in _uses(text, block)) else value


def _in_block(node: Node) -> tuple[Node, Node | None]:
    """Return the statement of a block that a node stands in, and the block, None if it is in none."""
    while node.parent is not None and node.parent.type != "compound_statement":
        node = node.parent
    return node, node.parent


def _may_write(use: Node) -> bool:
    """Return whether a local may be written where it is used: assigned, counted up, or handed to a function of the kernel's own."""
    parent = use.parent
    if parent.type == "assignment_expression":
        return parent.child_by_field_name("left") == use
    if parent.type == "argument_list":
        if _function(parent.parent).startswith("Interlocked") and use == parent.named_children[1]:
            return False
        return not _AS_IT_IS.fullmatch(_function(parent.parent)) and not _method(parent.parent)[1]
    return parent.type == "update_expression"


def _updates(trace: Trace, load: int, store: int, trusted: np.ndarray, says_found: bool) -> list[_Update]:
    """Return the stores of a site that update what their thread loaded last, without a barrier between the two.

    `says_found` is whether the records of the store say what the cell held before, and not what it stored.
    """
    chosen = np.flatnonzero(np.isin(trace.site, [load, store]) & trusted & (trace.flags == 0))
    arrivals = np.r_[0, np.cumsum(trace.at(lambda site: site.kind == "arrive"))]
    return [
        _Update(one, other)
        for one, other in pairwise(chosen.tolist())
        if (trace.site[one], trace.site[other]) == (load, store)
        and trace.thread[one] == trace.thread[other]
        and trace.index[one] == trace.index[other]
        and arrivals[one] == arrivals[other]
        and (says_found or trace.words[one].tolist() != trace.words[other].tolist())
    ]


def _says_what_it_found(site: Site, known: Sources) -> bool:
    """Return whether an access's records say what the cell held before: what an exchange left, the next access tells."""
    return says_value(site) and not known.says_new_value(site)


def _lost(trace: Trace, updates: list[_Update], only_read: list[int], says_found: set[int]) -> list[tuple[_Update, _Update]]:
    """Return pairs of updates of one value, of which one is lost.

    Args:
        trace: What was recorded.
        updates: Of one load and one store in the source.
        only_read: The sites of atomic accesses that leave the cell as it is.
        says_found: Those whose records say what the cell held before.
    """
    group = trace.group_and_lane[0]

    def cell(update: _Update) -> tuple[int, int]:
        is_shared = trace.sites[trace.site[update.load]].space == "shared"
        return int(trace.index[update.load]), int(group[update.load]) if is_shared else 0

    by_cell: dict[tuple[int, int], list[_Update]] = {}
    for update in updates:
        by_cell.setdefault(cell(update), []).append(update)
    found = []
    for mine in by_cell.values():
        mine.sort(key=lambda update: int(trace.slot[update.load]))
        history = accesses_to_cell(trace, mine[0].load)
        changes = trace.slot[history[~np.isin(trace.site[history], only_read)]]
        for one, other in pairwise(mine):
            loads, stores = trace.slot[[one.load, other.load]], trace.slot[[one.store, other.store]]
            is_same = trace.words[one.load].tolist() == trace.words[other.load].tolist()
            is_between = ((changes > loads[0]) & (changes < loads[1])).any()
            first = min(one.store, other.store, key=lambda event: trace.slot[event])
            if trace.site[first] in says_found and not _left_another(trace, history, first, one, says_found):
                continue
            if is_same and not is_between and trace.thread[one.load] != trace.thread[other.load] and loads.max() < stores.min():
                found.append((one, other))
    return found


def _left_another(trace: Trace, history: np.ndarray, store: int, update: _Update, says_found: set[int]) -> bool:
    """Return whether the next access to the cell found another value than an update had loaded."""
    later = history[trace.slot[history] > trace.slot[store]]
    if not len(later) or trace.site[later[0]] not in says_found:
        return False
    return trace.words[later[0]].tolist() != trace.words[update.load].tolist()
