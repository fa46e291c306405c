"""A thread that waits in a loop for a value which does not come, until its budget of iterations is used up.

A thread waits if its last iterations accessed the same memory with the same outcome, and if others may change that: the access is
atomic, or some thread writes there. Who changed the cell last, and what keeps that thread from changing it again, is the cause:

    thread 0                     thread 1
    takes the lock (line 12)
                                 finds it taken (line 12), again and again
    waits for its wave, which goes on only when all its lanes have left the loop

A loop that used up its budget otherwise is a timeout.
"""

from dataclasses import dataclass

import numpy as np

from splatscope.tracing.checks.cell_history import ACCESSES, accesses_to_cell, last_change, says_value
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding, standing_at
from splatscope.tracing.checks.registry import check
from splatscope.tracing.checks.words import in_sentence, lines_of, thread_of
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


@dataclass(frozen=True)
class _Wait:
    """A thread that waits: `overrun` is where its loop was ended, `last` its last access to the cell, both events."""

    overrun: int
    last: int


@check("livelock", label="Waits for ever for", severity="error", gone="the endless wait", order=9)
def livelocks(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each loop and memory, told for the first thread that waits there."""
    found: dict[tuple, Finding] = {}
    overruns = np.flatnonzero(trace.at(lambda site: site.kind == "overrun"))
    _, first = np.unique(trace.thread[overruns], return_index=True)
    stopped = {int(trace.thread[event]): trace.sites[trace.site[event]].line for event in overruns[first].tolist()}
    for overrun in overruns[first].tolist():
        wait = _wait(trace, overrun)
        if wait is None:
            continue
        loop, cell = trace.sites[trace.site[overrun]], trace.sites[trace.site[wait.last]]
        cause = (loop.file, loop.line, cell.name)
        if cause in found:
            found[cause].count += 1
        else:
            found[cause] = _finding(trace, context, wait, loop, cell, stopped)
    return list(found.values())


def _wait(trace: Trace, overrun: int) -> _Wait | None:
    """Return what a thread waits for whose loop was ended; None if it does not wait."""
    thread, loop = trace.thread[overrun], trace.sites[trace.site[overrun]]
    begin = int(np.searchsorted(trace.thread, thread))
    turns = trace.at(lambda s: s.kind == "loop" and (s.file, s.line, s.column) == (loop.file, loop.line, loop.column))
    starts = begin + np.flatnonzero(turns[begin:overrun])
    if len(starts) < 3:
        return None
    iterations = [_accesses(trace, *span) for span in zip(starts[-3:-1].tolist(), starts[-2:].tolist(), strict=True)]
    before, after = ([(trace.site[e], trace.index[e], *trace.words[e].tolist()) for e in events] for events in iterations)
    if before != after:
        return None
    shown = [event for event in iterations[1] if says_value(trace.sites[trace.site[event]])]
    chosen = [e for e in shown if trace.sites[trace.site[e]].kind == "atomic"] or [e for e in shown if _has_writer(trace, e)]
    return _Wait(overrun, chosen[-1]) if chosen else None


def _accesses(trace: Trace, start: int, end: int) -> list[int]:
    kinds = [trace.sites[site].kind for site in trace.site[start:end].tolist()]
    return [event for event, kind in zip(range(start, end), kinds, strict=True) if kind in ACCESSES]


def _has_writer(trace: Trace, event: int) -> bool:
    return bool((trace.kinds[accesses_to_cell(trace, event)] != "read").any())


def _finding(trace: Trace, context: Context, wait: _Wait, loop: Site, cell: Site, stopped: dict[int, int]) -> Finding:
    thread, index = int(trace.thread[wait.last]), int(trace.index[wait.last])
    name = context.sources.cell(cell, index)
    value = trace.value(wait.last)
    stays = f", which stays {value[0] if len(value) == 1 else value}" if value else ""
    change = last_change(trace, wait.last, context.sources)
    sites, threads, events = [loop], [thread], [wait.last]
    if change is None and (late := _changed_by_a_later_group(trace, wait)) is not None:
        who, line = in_sentence(thread_of(trace, late)), trace.sites[trace.site[late]].line
        end = f"{who} changes it on line {line}, but a device may begin that group only when this one has ended."
    elif change is None:
        whose = "" if cell.space == "shared" or trace.header.get("all_groups") else " of this workgroup"
        end = f"no thread{whose} changes it."
    else:
        holder = int(trace.thread[change])
        sites, threads, events = [trace.sites[trace.site[change]], loop], [holder, thread], [change, wait.last]
        who = "it" if holder == thread else in_sentence(thread_of(trace, change))
        end = f"{who} changed it on {lines_of(*sites)[0]}{_what_keeps(trace, wait.last, holder, stopped)}."
    message = f"{thread_of(trace, wait.overrun)} waits in the loop on {lines_of(*sites)[-1]} for {name}{stays}: {end}"
    return Finding("livelock", cell.name, message, threads=threads, index=index, events=events, **standing_at(*sites))


def _changed_by_a_later_group(trace: Trace, wait: _Wait) -> int | None:
    """Return how a thread of a later workgroup changes what is waited for, once the wait was ended; None if none does."""
    events = accesses_to_cell(trace, wait.last)
    events = events[(trace.slot[events] > trace.slot[wait.overrun]) & (trace.kinds[events] != "read")]
    group = trace.group_and_lane[0]
    later = (event for event in events.tolist() if group[event] > group[wait.overrun])
    return next((event for event in later if trace.sites[trace.site[event]].access != "load"), None)


def _what_keeps(trace: Trace, last: int, holder: int, stopped: dict[int, int]) -> str:
    """Return why a thread does not change a cell again, as far as it is known: ", and waits itself on line 9"."""
    waiting = int(trace.thread[last])
    if holder == waiting:
        return " itself"
    if holder in stopped:
        return f", and waits itself in the loop on line {stopped[holder]}"
    events = accesses_to_cell(trace, last)
    later = events[(trace.thread[events] == holder) & (trace.slot[events] > trace.slot[last]) & (trace.kinds[events] != "read")]
    if len(later) == 0:
        return ", and does not change it again"
    lanes, width = trace.header["lanes"], max(1, trace.header.get("wave_size", 1))
    if holder // lanes == waiting // lanes and holder % lanes // width == waiting % lanes // width:
        return ", and is in the same wave, which goes on only when all its lanes have left the loop"
    return ""
