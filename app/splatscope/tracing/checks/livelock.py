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

from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.checks.words import in_sentence, thread_of
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

_ACCESSES = ("read", "write", "atomic")


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
    shown = [event for event in iterations[1] if _says_value(trace.sites[trace.site[event]])]
    chosen = [e for e in shown if trace.sites[trace.site[e]].kind == "atomic"] or [e for e in shown if _has_writer(trace, e)]
    return _Wait(overrun, chosen[-1]) if chosen else None


def _accesses(trace: Trace, start: int, end: int) -> list[int]:
    kinds = [trace.sites[site].kind for site in trace.site[start:end].tolist()]
    return [event for event, kind in zip(range(start, end), kinds, strict=True) if kind in _ACCESSES]


def _says_value(site: Site) -> bool:
    return site.kind == "read" or (site.kind == "atomic" and site.access not in ("=", "store"))


def _to_same_cell(trace: Trace, event: int) -> np.ndarray:
    """Return the accesses to the cell of an event that had a slot, in the device's order."""
    name, space = trace.sites[trace.site[event]].name, trace.sites[trace.site[event]].space
    same = trace.at(lambda s: s.kind in _ACCESSES and (s.name, s.space) == (name, space)) & (trace.index == trace.index[event])
    if space == "shared":
        group = trace.group_and_lane[0]
        same &= group == group[event]
    events = np.flatnonzero(same)
    return events[np.argsort(trace.slot[events], kind="stable")]


def _has_writer(trace: Trace, event: int) -> bool:
    return bool((trace.kinds[_to_same_cell(trace, event)] != "read").any())


def _last_change(trace: Trace, last: int) -> int | None:
    """Return the event that gave the cell the value which the last access saw; None if none is recorded."""
    events = _to_same_cell(trace, last)
    value = trace.words[last].tolist()
    for event in events[trace.slot[events] < trace.slot[last]][::-1].tolist():
        site = trace.sites[trace.site[event]]
        if site.kind == "write" or (not _says_value(site) and site.kind == "atomic"):
            return event
        if site.kind == "atomic" and trace.words[event].tolist() != value:
            return event
    return None


def _finding(trace: Trace, context: Context, wait: _Wait, loop: Site, cell: Site, stopped: dict[int, int]) -> Finding:
    thread, index = int(trace.thread[wait.last]), int(trace.index[wait.last])
    name = context.sources.cell(cell, index)
    value = trace.value(wait.last)
    stays = f", which stays {value[0] if len(value) == 1 else value}" if value else ""
    begin = f"{thread_of(trace, wait.overrun)} waits in the loop on line {loop.line} for {name}{stays}: "
    change = _last_change(trace, wait.last)
    lines, threads, events = [loop.line], [thread], [wait.last]
    if change is None:
        whose = "" if cell.space == "shared" or trace.header.get("all_groups") else " of this workgroup"
        end = f"no thread{whose} changes it."
    else:
        site, holder = trace.sites[trace.site[change]], int(trace.thread[change])
        lines, threads, events = [site.line, *lines], [holder, *threads], [change, *events]
        who = "it" if holder == thread else in_sentence(thread_of(trace, change))
        end = f"{who} changed it on line {site.line}{_what_keeps(trace, wait.last, holder, stopped)}."
    return Finding("livelock", cell.name, begin + end, lines, threads, index, events, file=loop.file)


def _what_keeps(trace: Trace, last: int, holder: int, stopped: dict[int, int]) -> str:
    """Return why a thread does not change a cell again, as far as it is known: ", and waits itself on line 9"."""
    waiting = int(trace.thread[last])
    if holder == waiting:
        return " itself"
    if holder in stopped:
        return f", and waits itself in the loop on line {stopped[holder]}"
    events = _to_same_cell(trace, last)
    later = events[(trace.thread[events] == holder) & (trace.slot[events] > trace.slot[last]) & (trace.kinds[events] != "read")]
    if len(later) == 0:
        return ", and does not change it again"
    lanes, width = trace.header["lanes"], max(1, trace.header.get("wave_size", 1))
    if holder // lanes == waiting // lanes and holder % lanes // width == waiting % lanes // width:
        return ", and is in the same wave, which goes on only when all its lanes have left the loop"
    return ""
