"""Decide whether two updates of a cell, one after the other in this run, may come at the same time in another.

They may if nothing orders them: no barrier lies between them, and nothing that another thread may change in the meantime has
influenced that they happen: no branch that either thread took up to its store, and no name in the cell. Then the threads may reach
their loads in any order, and both may load before either stores. A thread that takes a lock, waits for its turn, or is chosen by an
atomic does so in a branch.

    thread 0, round 0            thread 40, round 1
    now = total.load()
    total.store(now + 1)
                                 now = total.load()
                                 total.store(now + 1)
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from splatscope.slang.tokens import names_in
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.analysis.wave_operations import is_wave_name
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


@dataclass(frozen=True)
class Update:
    """A thread's load of a cell, and its store of a value computed from that, both as events."""

    load: int
    store: int


def between_groups(trace: Trace, known: Sources, cell: str, store: Site, by_cell: list[list[Update]]) -> Iterator[list[Update]]:
    """Yield pairs of updates by different workgroups that may come at the same time, as far as that is certain.

    Args:
        trace: A recording of all workgroups; any other shows no such pairs.
        known: Its sources.
        cell: The cell as written in the source.
        store: The site of the stores.
        by_cell: The updates of each cell, in the order of their loads.
    """
    if store.space != "device" or not trace.info.all_groups:
        return
    reads = _reads(trace, _changed(trace, np.ones(len(trace), bool), ("device", "texture", "alias")))
    if _is_chosen(known, cell, store, reads):
        return
    decisions = np.flatnonzero(np.isin(trace.site, _decisions(trace, known, reads)))
    group, position = trace.group_and_lane[0], np.empty(len(trace), np.int64)
    position[trace.order] = np.arange(len(trace))
    first = np.full(int(group.max(initial=0)) + 1, len(trace))  # by group, the first event to use such a value
    np.minimum.at(first, group[decisions], position[decisions])
    for updates in by_cell:
        free = [update for update in updates if position[update.store] < first[group[update.store]]]
        yield from ([earlier, later] for earlier, later in pairwise(free) if group[earlier.load] != group[later.load])


def within_a_group(trace: Trace, known: Sources, cell: str, store: Site, by_cell: list[list[Update]]) -> Iterator[list[Update]]:
    """Yield pairs of updates by different threads of a workgroup that may come at the same time, as far as that is certain.

    Two lanes of a wave do not count in a kernel with wave operations, which wait for all lanes of the wave. The arguments are those
    of `between_groups`; the recording may be of one workgroup.
    """
    group, lane = trace.group_and_lane
    arrivals = np.cumsum(trace.at(lambda site: site.kind == "arrive"))
    threads, starts = trace.spans
    passed = arrivals - arrivals[starts[np.searchsorted(threads, trace.thread)]]  # barriers that the thread has met
    width = max(1, trace.info.wave_size)
    has_waves = any(map(is_wave_name, names_in("\n".join(trace.info.sources.values()))))
    cache: dict[tuple[int, int], np.ndarray | None] = {}  # by group and barriers passed, the sites of decisions; None if chosen

    def decision_sites(update: Update) -> np.ndarray | None:
        stretch = int(group[update.load]), int(passed[update.load])
        if stretch not in cache:
            own_changes = _changed(trace, (group == stretch[0]) & (passed == stretch[1]), ("shared",))
            reads = _reads(trace, own_changes | _changed(trace, np.ones(len(trace), bool), ("device", "texture", "alias")))
            is_chosen = _is_chosen(known, cell, store, reads)
            cache[stretch] = None if is_chosen else np.array(_decisions(trace, known, reads), np.int64)
        return cache[stretch]

    def is_free(update: Update) -> bool:
        sites = decision_sites(update)
        earlier_sites = trace.site[starts[np.searchsorted(threads, trace.thread[update.load])] : update.store]
        return sites is not None and not np.isin(earlier_sites, sites).any()

    for updates in by_cell:
        for earlier, later in pairwise(updates):
            is_met = group[earlier.load] == group[later.load] and passed[earlier.load] == passed[later.load]
            first, second = lane[[earlier.load, later.load]].tolist()
            is_apart = first != second and not (has_waves and first // width == second // width)
            if is_met and is_apart and is_free(earlier) and is_free(later):
                yield [earlier, later]


def _changed(trace: Trace, chosen: np.ndarray, spaces: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    """Return (name, space) of the memories in these spaces that chosen events change."""
    used = (trace.sites[number] for number in np.unique(trace.site[chosen]).tolist())
    return frozenset((s.name, s.space) for s in used if s.kind in ("write", "atomic") and s.space in spaces)


def _reads(trace: Trace, changed: Iterable[tuple[str, str]]) -> list[Site]:
    """Return the sites that read memories that are changed, also by another name."""
    names, spaces = {name for name, _ in changed}, {space for _, space in changed}
    return [
        s
        for s in trace.sites
        if s.kind in ("read", "atomic") and s.name in names and (s.space in spaces or s.space in ("device", "texture", "alias"))
    ]


def _is_chosen(sources: Sources, cell: str, store: Site, reads: list[Site]) -> bool:
    """Return whether what these sites read may influence which cell is updated."""
    names = names_in(cell) - {store.name.rpartition(".")[2]}
    return any(sources.dependence.may_change(name, read) for read in reads for name in names)


def _decisions(trace: Trace, sources: Sources, reads: list[Site]) -> list[int]:
    """Return the numbers of the branches that may depend on what these sites read, and of all loops with `do`."""
    dependence = sources.dependence
    branches = [
        n for n, s in enumerate(trace.sites) if s.kind == "branch" and any(dependence.may_depend(s, read) for read in reads)
    ]
    return branches + [n for n, s in enumerate(trace.sites) if s.kind == "loop" and sources.is_do_loop(s)]
