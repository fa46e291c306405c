"""Two threads that load the same value of a cell atomically, and each store what they make of it: one update is lost.

Each access is atomic, so it is no race. What is missing is that nothing may come between the two:

    thread 0                     thread 1
    loads total: 5 (line 9)
                                 loads total: 5 (line 9)
                                 stores 5 + 3 (line 10)
    stores 5 + 2 (line 10)

Nothing is said without proof. The source must say that what is stored is the sum, difference, product or exclusive or of what was
loaded with something; the two threads must have found the same value, without a write to the cell between their loads; each must
have stored another value, and neither before the other had loaded. Nor is anything said of a thread that met a barrier between its
load and its store: there all may store the same on purpose. What a lock guards is never seen so.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from tree_sitter import Node

from splatscope.slang.source import text_of, walk
from splatscope.tracing.checks.cell_history import accesses_to_cell
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding, standing_at
from splatscope.tracing.checks.registry import check
from splatscope.tracing.checks.sources import Sources
from splatscope.tracing.checks.words import in_sentence, lines_of, thread_of
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

_STORES = ("store", "exchange")
_OPERATORS = ("+", "-", "*", "^")
_AS_IT_IS = re.compile(r"as(?:uint|int|float)|u?int|float")  # functions that an update may go through


@dataclass(frozen=True)
class _Update:
    """A thread's load of a cell, and its store of what it made of that, both events."""

    load: int
    store: int


@check("lost-update", label="Lost update of", severity="error", gone="the lost update", order=12, needs_barriers=True)
def lost_updates(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each pair of a load and a store in the source, told for the first two threads."""
    found: dict[tuple[int, int], Finding] = {}
    for load, store in _pairs(trace, context.sources):
        for one, other in _lost(trace, _updates(trace, load, store, context.ordered)):
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
    loads = {(site.file, site.line, site.column): number for number, site in atomic if site.access == "load"}
    pairs = []
    for number, site in atomic:
        if site.access == "store" and loads and (call := _call_at(known, site)) is not None:
            at = _loaded_at(call)
            load = loads.get((site.file, *at)) if at else None
            if load is not None and trace.sites[load].name == site.name:
                pairs.append((load, number))
    return pairs


def _call_at(known: Sources, site: Site) -> Node | None:
    """Return the call at the site of a store; None where the source does not say."""
    statement = known.statement(site)
    calls = (n for n in walk(statement) if n.type == "call_expression") if statement is not None else ()
    at = (site.line - 1, site.column - 1)
    return next((call for call in calls if call.start_point == at and _method(call)[1] in _STORES), None)


def _method(call: Node) -> tuple[str, str]:
    """Return on what a method is called, without blanks, and its name: ("total[0]", "load"); ("", "") for a plain function."""
    receiver, dot, name = re.sub(r"\s", "", text_of(call.child_by_field_name("function"))).rpartition(".")
    return (receiver, name) if dot else ("", "")


def _loaded_at(call: Node) -> tuple[int, int] | None:
    """Return (line, column) of the load whose result a store updates; None if it stores anything else."""
    arguments = call.child_by_field_name("arguments").named_children
    if not arguments:
        return None
    cell = _method(call)[0]
    for node in walk(arguments[0]):
        if not _is_updated(node, arguments[0]):
            continue
        loaded = node if node.type == "call_expression" else _initializer(node, call) if node.type == "identifier" else None
        while loaded is not None and loaded.type == "call_expression" and _AS_IT_IS.fullmatch(_function(loaded)):
            loaded = next(iter(loaded.child_by_field_name("arguments").named_children), None)
        if loaded is not None and loaded.type == "call_expression" and _method(loaded) == (cell, "load"):
            return loaded.start_point[0] + 1, loaded.start_point[1] + 1
    return None


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
    statement = store
    while statement.parent is not None and statement.parent.type != "compound_statement":
        statement = statement.parent
    block = statement.parent
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
    uses = (n for n in walk(block) if n.type == "identifier" and text_of(n) == text)
    return None if any(_may_write(use) for use in uses) else value


def _may_write(use: Node) -> bool:
    """Return whether a local may be written where it is used: assigned, counted up, or handed to a function of the kernel's own."""
    parent = use.parent
    if parent.type == "assignment_expression":
        return parent.child_by_field_name("left") == use
    if parent.type == "argument_list":
        return not _AS_IT_IS.fullmatch(_function(parent.parent)) and not _method(parent.parent)[1]
    return parent.type == "update_expression"


def _updates(trace: Trace, load: int, store: int, trusted: np.ndarray) -> list[_Update]:
    """Return the stores of a site that update what their thread loaded last, without a barrier between the two."""
    chosen = np.flatnonzero(np.isin(trace.site, [load, store]) & trusted & (trace.flags == 0))
    arrivals = np.r_[0, np.cumsum(trace.at(lambda site: site.kind == "arrive"))]
    return [
        _Update(one, other)
        for one, other in pairwise(chosen.tolist())
        if (trace.site[one], trace.site[other]) == (load, store)
        and trace.thread[one] == trace.thread[other]
        and trace.index[one] == trace.index[other]
        and arrivals[one] == arrivals[other]
        and trace.words[one].tolist() != trace.words[other].tolist()
    ]


def _lost(trace: Trace, updates: list[_Update]) -> list[tuple[_Update, _Update]]:
    """Return pairs of updates of one value, of which one is lost."""
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
        changes = trace.slot[history[[trace.sites[n].access != "load" for n in trace.site[history].tolist()]]]
        for one, other in pairwise(mine):
            loads, stores = trace.slot[[one.load, other.load]], trace.slot[[one.store, other.store]]
            is_same = trace.words[one.load].tolist() == trace.words[other.load].tolist()
            is_between = ((changes > loads[0]) & (changes < loads[1])).any()
            if is_same and not is_between and trace.thread[one.load] != trace.thread[other.load] and loads.max() < stores.min():
                found.append((one, other))
    return found
