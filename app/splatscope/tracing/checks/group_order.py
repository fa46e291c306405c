"""A wait for a workgroup that is later in the dispatch and may not have begun.

A device may run workgroups one after another, and then such a wait never ends. In this run it did end:

    thread 0 of group 0          thread 0 of group 1
    finds flag 0 (line 9)
    finds flag 0 (line 9)
                                 raises flag (line 12)
    finds flag 1 (line 9)

A thread waits if two iterations of a loop leave the same records: without a change by another thread it would repeat them forever.
Records of locals, such as a counter, may differ if the loop only looks at a cell and has another exit than its count. If the
count ends such a loop before a later workgroup changes the cell, the thread gave up, and what follows depends on the order, too.
A group that takes its number from an atomic, as in a decoupled look-back scan, knows that the groups before it have begun. So
nothing is reported for a thread whose group has already used the result of an atomic on another cell. Waiting for a lock is no such
wait either: its holder has begun.
"""

import numpy as np

from splatscope.tracing.checks.analysis.cell_history import ACCESSES, accesses_to_cell, changes_value, says_value
from splatscope.tracing.checks.analysis.phrases import in_sentence, lines_of, looked_at, thread_of
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.context import Context, before_overrun
from splatscope.tracing.checks.finding import Finding, standing_at
from splatscope.tracing.checks.registry import check
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

_MOST_LOOKS = 64  # after which a loop that only looks at a cell is taken for a wait, however it is left
_ODD = np.uint64(0x9E3779B97F4A7C15)


@check("group-order", label="Counts on a later workgroup for", severity="error", gone="the wait for a later workgroup", order=11)
def waits_for_later_groups(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each loop and memory, reported for the first thread that waits there.

    Loops in which another wait for this memory did not end are skipped, since that is a separate finding.
    """
    if not trace.info.all_groups or trace.info.stepped_over:
        return []
    group, trusted = trace.group_and_lane[0], before_overrun(trace, np.zeros(len(trace), np.int64))
    endless = {(*finding.places[-1], finding.name) for finding in context.findings("livelock")}
    by_cause: dict[tuple, Finding] = {}
    waits = [*_waits(trace, context.sources, False), *_waits(trace, context.sources, True)]
    for turn, before, ended in dict.fromkeys(waits):
        changes = _changes(trace, before, ended)
        if not changes or not trusted[[ended, *changes]].all() or (group[changes] <= group[ended]).any():
            continue
        change = changes[0]
        if may_know(trace, group, ended, context.sources) or _held_lock(trace, change, before):
            continue
        loop, cell = trace.sites[trace.site[turn]], trace.sites[trace.site[ended]]
        cause = (loop.file, loop.line, cell.name)
        if cause in endless:
            continue
        if cause in by_cause:
            by_cause[cause].count += 1
            continue
        line, loop_line = lines_of(trace.sites[trace.site[change]], loop)
        name, index = context.sources.cell(cell, int(trace.index[ended])), int(trace.index[ended])
        who = in_sentence(thread_of(trace, change))
        message = f"{thread_of(trace, ended)} waits in the loop on {loop_line} for {name}{looked_at(cell, loop)}, "
        if before == ended:
            message += (
                f"and gives up before {who} changes it on {line}. What follows depends on which group comes first, and a device "
                "may begin that one only when this one has ended."
            )
        else:
            message += (
                f"which {who} changes on {line}. This run was lucky: a device may begin that group only when this one has ended."
            )
        threads = [int(trace.thread[change]), int(trace.thread[ended])]
        place = standing_at(trace.sites[trace.site[change]], loop)
        by_cause[cause] = Finding("group-order", cell.name, message, threads=threads, index=index, events=[change, ended], **place)
    return list(by_cause.values())


def _waits(trace: Trace, sources: Sources, is_counting: bool) -> list[tuple[int, int, int]]:
    """Return the waits that ended, three events each.

    They are the start of the loop's last iteration in which nothing had changed, the access in that iteration, and the same access
    in the next iteration, which finds another value; the former twice if the thread gave up. If `is_counting`, records of locals
    may differ.
    """
    turns, next_turns, repeats = _turns(trace, is_counting)
    loops = [number for number in np.unique(trace.site[turns]).tolist() if _may_wait(trace.sites[number], sources, is_counting)]
    repeats &= np.isin(trace.site[turns], loops)
    columns = _columns(trace, is_counting)
    is_last = ~np.r_[repeats[1:], False] & repeats
    places = np.arange(len(repeats))
    run = places - np.maximum.accumulate(np.where(repeats, -1, places))  # how many repeats come one after the other up to each
    waits = []
    for turn, after, looks in zip(turns[is_last].tolist(), next_turns[is_last].tolist(), run[is_last].tolist(), strict=True):
        length, thread = after - turn, trace.thread[turn]
        thread_end = int(np.searchsorted(trace.thread, thread, side="right"))
        end = min(after + length, thread_end)
        differs = np.zeros(end - after, bool)
        for column in columns:
            differs |= column[after:end] != column[turn : turn + end - after]
        ended = after + int(np.argmax(differs))
        has_changed = bool(differs.any()) and _reads_same_cell(trace, ended, ended - length)
        if not is_counting:
            if has_changed:
                waits.append((turn, ended - length, ended))
            continue
        looked = _only_look(trace, turn, after, sources)
        is_long = looks >= _MOST_LOOKS
        if looked is None:
            continue
        if has_changed and (is_long or not (trace.site[after + 1 : thread_end] == trace.site[after]).any()):
            waits.append((turn, ended - length, ended))
        elif not has_changed and is_long and not trace.at(lambda s: s.kind == "overrun")[after:thread_end].any():
            waits.append((turn, looked, looked))
    return waits


def _may_wait(loop: Site, sources: Sources, is_counting: bool) -> bool:
    """Return whether a loop may wait: it has another exit than a count and, if it counts, what follows depends on which it took."""
    decides = not is_counting or not sources.is_limited(loop) or sources.decides_what_follows(loop)
    return sources.may_leave_early(loop) and decides


def _only_look(trace: Trace, turn: int, after: int, sources: Sources) -> int | None:
    """Return the last access of an iteration that changes nothing and reads a buffer's cell by an atomic; None otherwise."""
    kinds = trace.kinds_of(np.arange(turn, after))
    accesses = turn + np.flatnonzero(np.isin(kinds, ACCESSES))
    if changes_value(trace, accesses, sources).any():
        return None
    looks = [e for e in accesses.tolist() if trace.sites[trace.site[e]].kind == "atomic" and _reads_same_cell(trace, e, e)]
    return looks[-1] if looks else None


def waiting(trace: Trace) -> np.ndarray:
    """Return a mask of the events in iterations of a wait that repeat the iteration before, (events,) bool."""
    turns, after, repeats = _turns(trace)
    change = np.zeros(len(trace) + 1, np.int64)
    np.add.at(change, turns[repeats], 1)
    np.add.at(change, after[repeats], -1)
    return np.cumsum(change[:-1]) > 0


def _columns(trace: Trace, without_locals: bool = False) -> list[np.ndarray]:
    columns = [trace.site, trace.index, trace.flags, *trace.words.T]
    if not without_locals:
        return columns
    is_local = trace.at(lambda s: s.kind == "value")
    return [columns[0], *(np.where(is_local, 0, column).astype(column.dtype) for column in columns[1:])]


def _turns(trace: Trace, without_locals: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return loop iterations of threads that use atomics on buffers: starts, ends, and whether each repeats the last."""
    is_atomic = trace.at(lambda s: s.kind == "atomic" and s.space == "device" and says_value(s))
    starts = np.flatnonzero(trace.at(lambda s: s.kind == "loop") & np.isin(trace.thread, np.unique(trace.thread[is_atomic])))
    if len(starts) < 3:
        return starts[:0], starts[:0], np.zeros(0, bool)
    key = trace.thread[starts].astype(np.int64) * len(trace.sites) + trace.site[starts]
    starts = starts[np.argsort(key, kind="stable")]
    key = np.sort(key, kind="stable")
    total = np.zeros(len(trace) + 1, np.uint64)  # running sums of hashed records: equal iterations have equal differences
    for number, column in enumerate(_columns(trace, without_locals), 1):
        total[1:] += column * _ODD ** np.uint64(number)
    total[1:] = np.cumsum(total[1:] ** np.uint64(3))
    a, b, c = starts[:-2], starts[1:-1], starts[2:]
    repeats = (key[:-2] == key[2:]) & (b - a == c - b) & (total[b] - total[a] == total[c] - total[b])
    return b, c, repeats


def _changes(trace: Trace, before: int, ended: int) -> list[int]:
    """Return the events that may have changed a cell between two accesses of a waiting thread, the likeliest first.

    An access gets its place in the device's order only after it is done. So an event recorded next to the two may also have come
    between them.
    """
    events = accesses_to_cell(trace, ended)
    events = events[(trace.thread[events] != trace.thread[ended]) & (trace.site[events] != trace.site[ended])]
    changing = np.array([e for e in events.tolist() if trace.sites[trace.site[e]].kind != "read"], np.int64)
    slots, length = trace.slot[changing], ended - before
    if before == ended:
        return changing[slots > trace.slot[ended]][:1].tolist()
    near = (slots > trace.slot[max(before - length, 0)]) & (slots < trace.slot[before])
    between = (slots > trace.slot[before]) & (slots < trace.slot[ended])
    later = changing[slots > trace.slot[ended]][:1]
    return [*changing[between][::-1].tolist(), *later.tolist(), *changing[near][::-1].tolist()]


def _held_lock(trace: Trace, change: int, before: int) -> bool:
    """Return whether the thread that ended a wait also caused it: it held the lock that it then released, so it had begun.

    In that case its previous atomic on the cell found another value than the waiting thread did.
    """
    events = accesses_to_cell(trace, change)
    own_events = events[(trace.thread[events] == trace.thread[change]) & (trace.slot[events] < trace.slot[change])]
    atomics = [
        e for e in own_events.tolist() if trace.sites[trace.site[e]].kind == "atomic" and says_value(trace.sites[trace.site[e]])
    ]
    return bool(atomics) and trace.words[atomics[-1]].tolist() != trace.words[before].tolist()


def _reads_same_cell(trace: Trace, event: int, before: int) -> bool:
    """Return whether an event reads the same cell of a buffer as an earlier event."""
    site = trace.sites[trace.site[event]]
    same = trace.site[event] == trace.site[before] and trace.index[event] == trace.index[before]
    return bool(same) and site.space == "device" and site.kind in ("read", "atomic") and says_value(site)


def may_know(trace: Trace, group: np.ndarray, ended: int, known: Sources) -> bool:
    """Return whether the group of a waiting thread has already used the result of an atomic on another cell of a buffer."""
    finds_old_value = {
        number: site.operation != "load" and says_value(site) and not known.says_new_value(site)
        for number, site in enumerate(trace.sites)
        if site.kind == "atomic" and site.space == "device"
    }
    atomics = np.flatnonzero(np.isin(trace.site, [number for number, finds in finds_old_value.items() if finds]))
    earlier = atomics[(group[atomics] == group[ended]) & (trace.slot[atomics] < trace.slot[ended])]
    is_other_name = np.array(
        [trace.sites[n].name != trace.sites[trace.site[ended]].name for n in trace.site[earlier].tolist()], bool
    )
    return bool((is_other_name | (trace.index[earlier] != trace.index[ended])).any())
