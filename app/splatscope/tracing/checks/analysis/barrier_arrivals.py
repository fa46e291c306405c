"""Determine the barriers at which the threads of a workgroup arrive, and the first at which they do not all meet.

All threads of a workgroup must meet at their first barrier, then at their second, and so on. So the n-th arrival of each thread is
compared with the n-th arrivals of the others. GPUVerify calls a mismatch barrier divergence (Betts, Chong, Donaldson, Qadeer and
Thomson, "GPUVerify: a verifier for GPU kernels", OOPSLA 2012). For example, four threads and the barriers A, B and C:

    thread   1st arrival   2nd arrival
    0        A             B
    1        A             B
    2        A             C
    3        A             none: it ends

All meet at A. The second arrivals differ: threads 0 and 1 wait together at B, thread 2 waits elsewhere, thread 3 is absent.
Everything before A is ordered and can be judged, and so can the events of threads 0 and 1 between A and B. No barrier orders the
events of threads 2 and 3 after A: a race found there would be a consequence of the divergence, not another fault.

A barrier statement in a function counts as a different barrier for each place that calls the function.
"""

from dataclasses import dataclass, replace

import numpy as np

from splatscope.tracing.checks.analysis.call_paths import call_sites
from splatscope.tracing.trace import Trace


@dataclass(frozen=True)
class Divergence:
    """The first barrier that not all threads of a workgroup meet.

    `together` and `elsewhere` are the n-th arrivals (events) in the device's order: those at the barrier that was reached first,
    and those at others. `absent` lists the threads that end without an n-th arrival. `ordered` is a mask of the events that a
    barrier still orders.
    """

    together: np.ndarray
    elsewhere: np.ndarray
    absent: np.ndarray
    ordered: np.ndarray


@dataclass(frozen=True)
class _Threads:
    """Data on each thread, (threads,) each.

    A thread that was `ended` in an endless loop might have arrived anywhere. A thread that was `cut`, because its part of the
    recording was full, arrived at least `arrivals` times.
    """

    ended: np.ndarray
    cut: np.ndarray
    arrivals: np.ndarray


@dataclass(frozen=True)
class _Arrivals:
    """The arrivals of all threads that were not ended, sorted by turn and device order; (arrivals,) each.

    `turn` is 1 for a thread's first arrival; equal `barrier` numbers mean the same barrier.
    """

    event: np.ndarray
    turn: np.ndarray
    barrier: np.ndarray


def first_divergence(trace: Trace) -> Divergence | None:
    """Find the first turn at which the threads of a workgroup do not all arrive at the same barrier; None if there is none.

    In a recording of all workgroups, each is examined separately, and the arrivals are those of the first that diverges.
    """
    if not trace.info.all_groups:
        return _in_group(trace)
    first, ordered = None, np.ones(len(trace), bool)
    for number in _suspicious_groups(trace):
        part, start = trace.of_group(number)
        divergence = _in_group(part)
        if divergence is None:
            continue
        ordered[start : start + len(part)] = divergence.ordered
        if first is None:
            absent = divergence.absent + number * trace.info.threads_per_group
            first = replace(divergence, together=divergence.together + start, elsewhere=divergence.elsewhere + start, absent=absent)
    return replace(first, ordered=ordered) if first else None


def _suspicious_groups(trace: Trace) -> list[int]:
    """Return the workgroups that may diverge: all but those whose threads arrive equally often at the same statements."""
    is_arrival = trace.at(lambda site: site.kind == "arrive")
    events, entry = np.flatnonzero(is_arrival), trace.info.entry
    groups, lanes = trace.group_and_lane[0], trace.info.threads_per_group
    if any(trace.sites[site].function != entry for site in np.unique(trace.site[events])):
        return np.unique(groups[events]).tolist()
    turn = trace.events_so_far(is_arrival)[events].astype(np.int64)
    key = groups[events].astype(np.int64) << 32 | turn
    order = np.argsort(key, kind="stable")
    keys, starts, counts = np.unique(key[order], return_index=True, return_counts=True)
    if len(keys) == 0:
        return []
    sites = trace.site[events][order]
    lowest, highest = (extreme.reduceat(sites, starts) for extreme in (np.minimum, np.maximum))
    return np.unique(keys[(counts != lanes) | (lowest != highest)] >> 32).tolist()


def _in_group(trace: Trace) -> Divergence | None:
    is_arrival = trace.at(lambda site: site.kind == "arrive")
    if not is_arrival.any():
        return None
    turn = trace.events_so_far(is_arrival).astype(np.int64)  # for each event, the number of its thread's arrivals so far
    threads, arrivals = _arrivals(trace, np.flatnonzero(is_arrival), turn)
    wrong_turn = _first_wrong_turn(threads, arrivals)
    if wrong_turn is None:
        return None
    rows = np.flatnonzero(arrivals.turn == wrong_turn)
    is_first = arrivals.barrier[rows] == arrivals.barrier[rows[0]]
    together, elsewhere = arrivals.event[rows[is_first]], arrivals.event[rows[~is_first]]
    has_fewer = threads.arrivals < wrong_turn
    absent = np.flatnonzero(has_fewer & ~threads.ended & ~threads.cut)

    # Threads that wait together are ordered up to this turn, as are those whose rest is unknown; others up to the previous turn.
    is_waiting = threads.ended | (threads.cut & has_fewer)
    is_waiting[trace.thread[together]] = True
    ordered = turn < np.where(is_waiting[trace.thread], wrong_turn, wrong_turn - 1)
    return Divergence(together, elsewhere, absent, ordered)


def _arrivals(trace: Trace, events: np.ndarray, turn: np.ndarray) -> tuple[_Threads, _Arrivals]:
    count = trace.info.threads
    ended, cut = np.zeros(count, bool), np.zeros(count, bool)
    ended[trace.thread[trace.kinds == "overrun"]] = True
    cut[list(trace.info.cut_threads)] = True
    events = events[~ended[trace.thread[events]]]
    events = events[np.lexsort((trace.slot[events], turn[events]))]
    threads = _Threads(ended, cut, np.bincount(trace.thread[events], minlength=count))
    return threads, _Arrivals(events, turn[events], _barriers(trace, events))


def _barriers(trace: Trace, events: np.ndarray) -> np.ndarray:
    """Number the barriers of arrivals: by statement, and in called functions also by the calling statements."""
    sites = trace.site[events].astype(np.int64)
    entry = trace.info.entry
    if all(trace.sites[site].function == entry for site in np.unique(sites)):
        return sites
    call_paths = call_sites(trace, events)
    if any(-1 in path for path in call_paths.values()):  # the statement of a call that never ended is not known
        return sites
    numbers: dict[tuple, int] = {}
    paths = ((site, *call_paths.get(event, ())) for event, site in zip(events.tolist(), sites.tolist(), strict=True))
    return np.array([numbers.setdefault(path, len(numbers)) for path in paths], np.int64)


def _first_wrong_turn(threads: _Threads, arrivals: _Arrivals) -> int | None:
    """Return the first turn with arrivals at different barriers, or with fewer arrivals than threads that must arrive."""
    turns, starts = np.unique(arrivals.turn, return_index=True)
    if len(turns) == 0:
        return None
    lowest, highest = (extreme.reduceat(arrivals.barrier, starts) for extreme in (np.minimum, np.maximum))
    arrived = np.diff(np.r_[starts, len(arrivals.turn)])
    arrivals_before_cut = np.sort(threads.arrivals[threads.cut & ~threads.ended])
    missing_in_record = np.searchsorted(arrivals_before_cut, turns)  # threads that were cut before that turn
    expected = (~threads.ended).sum() - missing_in_record
    mismatches = np.flatnonzero((lowest != highest) | (arrived != expected))
    return int(turns[mismatches[0]]) if len(mismatches) else None
