"""A thread that waits in a loop for a value that never comes, until its budget of iterations is used up.

A thread waits if its last iterations accessed the same memory with the same outcome, and if other threads may change that: the
access is atomic, or some thread writes there. The cause is whatever keeps the thread that last changed the cell from changing it
again:

    thread 0                     thread 1
    takes the lock (line 12)
                                 finds it taken (line 12), again and again
    waits for its wave, which goes on only when all its lanes have left the loop

Any other loop that uses up its budget is a timeout. A wait that another workgroup could still have ended is neither: on a busy
machine that group may not have run yet.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from splatscope.tracing.checks.analysis.cell_history import (
    ACCESSES,
    accesses_to_cell,
    changes_value,
    keep_value,
    last_change,
    says_value,
)
from splatscope.tracing.checks.analysis.lock_order import opposite_orders
from splatscope.tracing.checks.analysis.phrases import in_sentence, lines_of, looked_at, thread_of
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding, standing_at
from splatscope.tracing.checks.group_order import may_know
from splatscope.tracing.checks.registry import check
from splatscope.tracing.instrument.runtime import NO_SLOT
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


@dataclass(frozen=True)
class Wait:
    """A wait, as events: where the loop was ended, the last access to the cell, and the start of the repeated iterations."""

    overrun: int
    last: int
    first: int


@check("livelock", label="Waits for ever for", severity="error", gone="the endless wait", order=9)
def livelocks(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each loop and memory, reported for the first thread that waits there."""
    by_cause: dict[tuple, Finding] = {}
    overruns = _overruns(trace)
    stopped = {int(trace.thread[event]): trace.sites[trace.site[event]].line for event in overruns.tolist()}
    waits = _waits(trace)
    cut_off = [wait for late, wait in waits if not late and _is_cut_off(trace, context, wait)]
    valid_until = min((trace.slot[wait.overrun] for wait in cut_off), default=NO_SLOT)
    for late, wait in waits:
        if trace.slot[wait.overrun] >= valid_until and trace.sites[trace.site[wait.last]].space != "shared":
            continue
        loop, cell = trace.sites[trace.site[wait.overrun]], trace.sites[trace.site[wait.last]]
        cause = (loop.file, loop.line, cell.name)
        if cause in by_cause:
            by_cause[cause].count += 1
        elif not late:
            by_cause[cause] = _finding(trace, context, wait, loop, cell, stopped)
    return [*by_cause.values(), *_deadlocks(trace, context)]


def _deadlocks(trace: Trace, context: Context) -> list[Finding]:
    """Return a finding for two threads that take two locks in opposite orders, unless some thread waits for ever anyway."""
    if len(_overruns(trace)):
        return []
    findings: dict[tuple, Finding] = {}
    for one, other in opposite_orders(trace, context.sources):
        sites = [trace.sites[trace.site[taken.second]] for taken in (one, other)]
        first, second = (context.sources.cell(trace.sites[trace.site[e]], int(trace.index[e])) for e in (one.first, one.second))
        message = (
            f"{thread_of(trace, one.second)} holds {first} while it waits for {second} on line {sites[0].line}, and "
            f"{in_sentence(thread_of(trace, other.second))} holds {second} while it waits for {first} on line {sites[1].line}: on "
            "a schedule on which each has taken its first lock, both wait for ever. Take the locks in one order everywhere."
        )
        threads, events = [one.thread, other.thread], [one.second, other.second]
        index, place = int(trace.index[one.second]), standing_at(*sites)
        finding = Finding("livelock", sites[0].name, message, threads=threads, index=index, events=events, **place)
        findings.setdefault(tuple(finding.places), finding)
    return list(findings.values())


def cut_off_waits(trace: Trace, context: Context) -> list[str]:
    """Return a sentence for each wait that was cut off while a thread of another workgroup could still change the cell."""
    waits = [wait for late, wait in _waits(trace) if not late and _is_cut_off(trace, context, wait)]
    sites = ((trace.sites[trace.site[wait.overrun]], trace.sites[trace.site[wait.last]]) for wait in waits)
    return [cut_off_words((loop.file, loop.line), cell.name) for loop, cell in sites]


def cut_off_words(loop: tuple[str, int], name: str) -> str:
    """Return the sentence for a wait in a loop at (file, line) that was cut off too early."""
    return (
        f"{loop[0]}, line {loop[1]}: what follows this loop was not looked at. It was cut off while it waited for {name}, which "
        "a workgroup that had not run, or not to its end, may change."
    )


def _overruns(trace: Trace) -> np.ndarray:
    """Return the event at which each thread's first loop was ended. Later loops have no budget left."""
    overruns = np.flatnonzero(trace.at(lambda site: site.kind == "overrun"))
    return overruns[np.unique(trace.thread[overruns], return_index=True)[1]]


def _waits(trace: Trace) -> list[tuple[bool, Wait]]:
    """Return (whether it may follow from another, wait), in the order of the threads; those that may follow come last."""
    waits = [wait for event in _overruns(trace).tolist() if (wait := wait_before(trace, event)) is not None]
    return sorted(zip(_began_late(trace, waits), waits, strict=True), key=lambda pair: pair[0])


def _began_late(trace: Trace, waits: list[Wait]) -> list[bool]:
    """Return, for each wait, whether it began after another was cut off, so that it may follow from that one."""
    position = np.empty(len(trace), np.int64)
    position[trace.order] = np.arange(len(trace))
    group = trace.group_and_lane[0]

    def related_overruns(wait: Wait) -> list[int]:
        is_shared = trace.sites[trace.site[wait.last]].space == "shared"
        return [other.overrun for other in waits if not is_shared or group[other.overrun] == group[wait.overrun]]

    return [position[wait.first] > position[related_overruns(wait)].min() for wait in waits]


def wait_before(trace: Trace, overrun: int, turn: int | None = None) -> Wait | None:
    """Return the wait of a thread whose loop was ended; None if it does not wait.

    If `turn`, an event at the start of a loop's iteration, is given, return the thread's wait in that loop before `overrun`.
    """
    thread, loop = trace.thread[overrun], trace.sites[trace.site[overrun if turn is None else turn]]
    begin = int(np.searchsorted(trace.thread, thread))
    turns = trace.at(lambda s: s.kind == "loop" and (s.file, s.line, s.column) == (loop.file, loop.line, loop.column))
    starts = begin + np.flatnonzero(turns[begin:overrun])
    if len(starts) < 3:
        return None
    iterations = [_accesses(trace, *span) for span in zip(starts[-3:-1].tolist(), starts[-2:].tolist(), strict=True)]
    before, after = ([(trace.site[e], trace.index[e], *trace.words[e].tolist()) for e in events] for events in iterations)
    if before != after:
        return None
    value_events = [event for event in iterations[1] if says_value(trace.sites[trace.site[event]])]
    candidates = [e for e in value_events if trace.sites[trace.site[e]].kind == "atomic"] or [
        e for e in value_events if _has_writer(trace, e)
    ]
    lengths = np.diff(starts)
    first = starts[np.flatnonzero(np.r_[True, lengths != lengths[-1]])[-1]]
    return Wait(overrun, candidates[-1], int(first)) if candidates else None


def _accesses(trace: Trace, start: int, end: int) -> list[int]:
    kinds = [trace.sites[site].kind for site in trace.site[start:end].tolist()]
    return [event for event, kind in zip(range(start, end), kinds, strict=True) if kind in ACCESSES]


def _has_writer(trace: Trace, event: int) -> bool:
    return bool((trace.kinds_of(accesses_to_cell(trace, event)) != "read").any())


def _finding(trace: Trace, context: Context, wait: Wait, loop: Site, cell: Site, stopped: dict[int, int]) -> Finding:
    thread, index = int(trace.thread[wait.last]), int(trace.index[wait.last])
    name = context.sources.cell(cell, index)
    value = trace.value(wait.last)
    stays = f", which stays {value[0] if len(value) == 1 else value}" if value else ""
    change = last_change(trace, wait.last, context.sources)
    sites, threads, events, access_line = [loop], [thread], [wait.last], looked_at(cell, loop)
    if change is None and (later_change := _changed_by_a_later_group(trace, wait)) is not None:
        first = _find_first_waiting_access(trace, wait)
        sites, threads, events, stays = [loop], [int(trace.thread[first])], [first], ""
        who, line = in_sentence(thread_of(trace, later_change)), trace.sites[trace.site[later_change]].line
        end = f"{who} changes it on line {line}, but a device may begin that group only when this one has ended."
    elif change is None:
        scope = "" if cell.space == "shared" or trace.info.all_groups else " of this workgroup"
        end = f"no thread{scope} changes it."
    else:
        holder = int(trace.thread[change])
        sites, threads, events = [trace.sites[trace.site[change]], loop], [holder, thread], [change, wait.last]
        who = "it" if holder == thread else in_sentence(thread_of(trace, change))
        end = f"{who} changed it on {lines_of(*sites)[0]}{_explain_no_change(trace, wait.last, holder, stopped)}."
        if _wait_for_each_other(trace, holder, loop.line, cell, stopped):
            end += " Workgroups that wait for each other end only if all of them run side by side, which no device promises."
    message = f"{thread_of(trace, events[-1])} waits in the loop on {lines_of(*sites)[-1]} for {name}{access_line}{stays}: {end}"
    return Finding("livelock", cell.name, message, threads=threads, index=index, events=events, **standing_at(*sites))


def may_wait(texts: Iterable[str]) -> bool:
    """Return whether a program has loops and exchanges, by which threads may wait for each other."""
    texts = list(texts)
    return any("xchange" in text for text in texts) and any("while" in text or "for" in text for text in texts)


def is_stuck(trace: Trace, finding: Finding) -> bool:
    """Return whether a livelock is one of a thread with itself or with another of its wave, which no other thread can end."""
    width = max(1, trace.info.wave_size)
    return finding.kind == "livelock" and len(finding.lines) > 1 and len({thread // width for thread in finding.threads}) == 1


def _wait_for_each_other(trace: Trace, holder: int, line: int, cell: Site, stopped: dict[int, int]) -> bool:
    """Return whether workgroups wait in a loop for a cell that they all change, as at a barrier across the dispatch."""
    groups = {thread // trace.info.threads_per_group for thread, loop_line in stopped.items() if loop_line == line}
    is_between = trace.info.all_groups and cell.space == "device"
    return is_between and stopped.get(holder) == line and len(groups) > 1


def _changed_by_a_later_group(trace: Trace, wait: Wait) -> int | None:
    """Return the event by which a thread of a later workgroup changes the cell after the wait was ended, None if there is none."""
    events = accesses_to_cell(trace, wait.last)
    events = events[(trace.slot[events] > trace.slot[wait.overrun]) & (trace.kinds_of(events) != "read")]
    group = trace.group_and_lane[0]
    is_load = np.array([site.operation == "load" for site in trace.sites])
    later = events[(group[events] > group[wait.overrun]) & ~is_load[trace.site[events]]]
    return int(later[0]) if len(later) else None


def _find_first_waiting_access(trace: Trace, wait: Wait) -> int:
    """Return the last access of the first thread with the same wait, since it is luck which of these threads goes on."""
    events = accesses_to_cell(trace, wait.last)
    events = np.sort(events[(trace.site[events] == trace.site[wait.last]) & (events <= wait.last)])
    same_accesses = events[(trace.words[events] == trace.words[wait.last]).all(axis=1)]
    threads, iterations = np.unique(trace.thread[same_accesses], return_counts=True)
    waiting = threads[iterations > 2]
    first = waiting[0] if len(waiting) else trace.thread[wait.last]
    return int(same_accesses[trace.thread[same_accesses] == first].max())


def _is_cut_off(trace: Trace, context: Context, wait: Wait) -> bool:
    """Return whether a wait was cut off that could still have ended, or whose cell another workgroup could still have changed.

    A wait with a limit would have ended by itself. A thread that only loads waits for any thread that changes the cell
    afterwards. A thread that tries to take a lock waits for its holder. Workgroups that need not have begun do not count, nor do
    threads that are waiting themselves.
    """
    last, overrun = wait.last, wait.overrun
    if context.sources.is_limited(trace.sites[trace.site[overrun]]):
        return True
    if not trace.info.all_groups or trace.sites[trace.site[last]].space == "shared":
        return False
    group, sources = trace.group_and_lane[0], context.sources
    if len(np.unique(group)) < math.prod(trace.info.groups) and last_change(trace, last, sources) is None:
        return True  # a workgroup that was not recorded may change it
    takes_lock = trace.sites[trace.site[last]].kind == "atomic" and not keep_value(trace, np.array([last]), sources)[0]
    if takes_lock:
        change = last_change(trace, last, sources)
        changes = [] if change is None else [change]
    elif _changed_by_a_later_group(trace, wait) is not None and not may_know(trace, group, last, sources):
        return False
    else:
        events = accesses_to_cell(trace, last)
        events = events[trace.slot[events] > trace.slot[overrun]]
        changes = events[changes_value(trace, events, sources)]
    changes = np.array(changes, np.int64)
    threads = np.unique(trace.thread[changes[group[changes] != group[overrun]]]).tolist()
    return any(_could_go_on(trace, thread, overrun, sources) for thread in threads)


def _could_go_on(trace: Trace, thread: int, overrun: int, sources: Sources) -> bool:
    """Return whether a thread had neither finished nor was waiting for an unchanged cell when another thread's loop was ended.

    A thread without events counts if its group had begun or would have: groups with lower numbers begin first, and any group
    begins while there is room for it.
    """
    begin, end = np.searchsorted(trace.thread, (thread, thread + 1)).tolist()
    own_events = np.arange(begin, end)
    slotted = own_events[trace.slot[own_events] != NO_SLOT]
    before, after = (
        slotted[mask] for mask in (trace.slot[slotted] < trace.slot[overrun], trace.slot[slotted] > trace.slot[overrun])
    )
    if len(after) == 0:
        return False
    if len(before) == 0:
        group = trace.group_and_lane[0]
        own_group, slots = group[begin], trace.slot[group == group[begin]]
        return bool(own_group < group[overrun] or (slots < trace.slot[overrun]).any()) or not _is_full(trace, overrun)
    turns = own_events[trace.at(lambda site: site.kind == "loop")[begin:end] & (own_events <= before[-1])]
    wait = wait_before(trace, int(before[-1]) + 1, int(turns[-1])) if len(turns) else None
    if wait is None:
        return True
    events = accesses_to_cell(trace, wait.last)
    between = events[(trace.slot[events] > trace.slot[wait.last]) & (trace.slot[events] < trace.slot[overrun])]
    return bool(changes_value(trace, between[trace.thread[between] != thread], sources).any())


def _is_full(trace: Trace, event: int) -> bool:
    """Return whether the most workgroups ever seen side by side were running at an event, so that no other need have begun."""
    has_slot = trace.slot != NO_SLOT
    groups, group_index = np.unique(trace.group_and_lane[0][has_slot], return_inverse=True)
    first, last = np.full(len(groups), NO_SLOT, np.uint32), np.zeros(len(groups), np.uint32)
    np.minimum.at(first, group_index, trace.slot[has_slot])
    np.maximum.at(last, group_index, trace.slot[has_slot])
    first.sort()
    last.sort()
    moments = np.r_[first, trace.slot[event]]
    running = np.searchsorted(first, moments, "right") - np.searchsorted(last, moments, "left")
    return bool(running[-1] == running.max())


def _explain_no_change(trace: Trace, last: int, holder: int, stopped: dict[int, int]) -> str:
    """Return why a thread does not change a cell again, if that is known: ", and waits itself on line 9"."""
    waiting = int(trace.thread[last])
    if holder == waiting:
        return " itself"
    if holder in stopped:
        return f", and waits itself in the loop on line {stopped[holder]}"
    events = accesses_to_cell(trace, last)
    later = events[(trace.thread[events] == holder) & (trace.slot[events] > trace.slot[last]) & (trace.kinds_of(events) != "read")]
    if len(later) == 0:
        return ", and does not change it again"
    lanes, width = trace.info.threads_per_group, max(1, trace.info.wave_size)
    if holder // lanes == waiting // lanes and holder % lanes // width == waiting % lanes // width:
        return ", and is in the same wave, which goes on only when all its lanes have left the loop"
    return ""
