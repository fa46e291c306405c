"""Find two threads that take two locks in opposite orders: on another schedule each waits for the other."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from tree_sitter import Node

from splatscope.slang.source import enclosing
from splatscope.tracing.checks.analysis.cell_history import changes_value
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

_LOOPS = ("for_statement", "while_statement", "do_statement")
_MOST_CHANGES = 20_000  # changes of cells that may be locks

_Lock = tuple[str, int, int]  # the memory, the element, and the workgroup if the memory is shared; else −1


@dataclass(frozen=True)
class Taken:
    """Two locks that a thread took one after the other, holding all of `held` when it began to wait for the second."""

    thread: int
    first: int  # events
    second: int
    held: frozenset[_Lock]


def opposite_orders(trace: Trace, sources: Sources) -> Iterator[tuple[Taken, Taken]]:
    """Yield pairs of threads that took two locks in opposite orders, one pair for the first two locks of each kind.

    A third lock that both hold meanwhile keeps them apart, and so does a barrier between the two. Such pairs are not reported.
    """
    by_order: dict[tuple[_Lock, _Lock], list[Taken]] = {}
    for order, taken in _orders(trace, sources):
        by_order.setdefault(order, []).append(taken)
    group, syncs = trace.group_and_lane[0], trace.events_so_far(trace.at(lambda site: site.name.endswith("WithGroupSync")))

    def may_meet(first_taken: Taken, other: Taken) -> bool:
        is_apart = group[first_taken.first] == group[other.first] and syncs[first_taken.second] != syncs[other.second]
        return first_taken.thread != other.thread and not is_apart

    for (first, second), takings in by_order.items():
        others = by_order.get((second, first), []) if first < second else []
        pairs = ((first_taken, other) for first_taken in takings for other in others if may_meet(first_taken, other))
        if (pair := next((p for p in pairs if len(p[0].held & p[1].held - {first, second}) == 0), None)) is not None:
            yield pair


def _orders(trace: Trace, sources: Sources) -> Iterator[tuple[tuple[_Lock, _Lock], Taken]]:
    """Yield the two locks, and how they were taken, for each thread that waited for the second while it held the first."""
    names = {site.name for site in trace.sites if site.space in ("device", "shared") and _takes(site)}
    kinds = ("atomic", "write")
    events = np.flatnonzero(trace.at(lambda s: s.kind in kinds and s.name in names))
    changes = events[changes_value(trace, events, sources)] if names else events
    if len(changes) > _MOST_CHANGES or len(np.unique(trace.thread[changes])) < 2:
        return
    locks = _locks(trace, changes)
    held: dict[_Lock, int] = {}
    thread = -1
    for event in changes.tolist():
        if trace.thread[event] != thread:
            held, thread = {}, int(trace.thread[event])
        site, lock = trace.sites[trace.site[event]], _lock_at(trace, event)
        if lock not in locks or held.pop(lock, None) is not None or not _takes(site):
            continue
        for other, before in held.items():
            if _waits_while_holding(sources, trace.sites[trace.site[before]], site):
                yield (other, lock), Taken(thread, before, event, frozenset(held))
        held[lock] = event


def _locks(trace: Trace, changes: np.ndarray) -> set[_Lock]:
    """Return the cells that each thread takes when they have the same value, and gives back; before that, it may set them up."""
    by_cell: dict[_Lock, dict[int, list[int]]] = {}
    for event in changes.tolist():
        events = by_cell.setdefault(_lock_at(trace, event), {}).setdefault(int(trace.thread[event]), [])
        if events or _takes(trace.sites[trace.site[event]]):
            events.append(event)
    locks = set()
    for lock, threads in by_cell.items():
        takes = [event for events in threads.values() for event in events[::2]]
        is_paired = all(len(events) % 2 == 0 for events in threads.values())
        free = {int(trace.words[event][0]) for event in takes}
        if is_paired and len(free) == 1 and all(_takes(trace.sites[trace.site[event]]) for event in takes):
            locks.add(lock)
    return locks


def _lock_at(trace: Trace, event: int) -> _Lock:
    site = trace.sites[trace.site[event]]
    return site.name, int(trace.index[event]), int(trace.group_and_lane[0][event]) if site.space == "shared" else -1


def _takes(site: Site) -> bool:
    return site.kind == "atomic" and site.is_asked and "ompare" in site.operation


def _waits_while_holding(sources: Sources, before: Site, site: Site) -> bool:
    """Return whether a lock is taken in a loop that does not give up the lock taken before it in each iteration."""
    loop = _loop_of(sources, site)
    if loop is None:
        return False
    other = sources.statement(before)
    is_inside = other is not None and before.file == site.file and loop.start_byte <= other.start_byte < loop.end_byte
    return not is_inside or before == site


def _loop_of(sources: Sources, site: Site) -> Node | None:
    node = sources.statement(site)
    return node if node is None or node.type in _LOOPS else enclosing(node, *_LOOPS)
