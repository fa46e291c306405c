"""Reads of uninitialised memory: shared memory with no write by the thread itself or in an earlier epoch, and locals."""

import numpy as np

from splatscope.tracing.checks.analysis.accesses import NEVER, Accesses
from splatscope.tracing.checks.analysis.phrases import thread_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.faults import faults_of
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


@check(
    "uninitialised-read",
    label="Read before any write:",
    severity="warn",
    gone="the uninitialised read",
    order=60,
    needs_barriers=True,
)
def uninitialised_reads(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for the first such read of each shared variable, and one for each line that reads a local.

    Variables that unrecorded code may have written are skipped.
    """
    table = context.shared
    by_name: dict[str, Finding] = {}
    events_by_name: dict[str, set[int]] = {}
    places_by_name: dict[str, set[tuple[str, int]]] = {}
    for row in _rows(table, _first_incomplete_epoch(trace)).tolist() if len(table) else ():
        event, thread = int(table.event[row]), int(table.thread[row])
        site, index = trace.sites[trace.site[event]], int(trace.index[event])
        if site.name in context.unrecorded or site.by_call:  # a call may read it, or only write it
            continue
        events_by_name.setdefault(site.name, set()).add(event)
        places_by_name.setdefault(site.name, set()).add((site.file, site.line))
        if site.name in by_name:
            by_name[site.name].count = len(events_by_name[site.name])
            continue
        missing = table.part[row] if not site.path else ""
        cell = context.sources.cell(site, index) + (f".{missing}" if missing else "")
        is_earlier_write = table.writes & (table.address == table.address[row]) & (table.slot < table.slot[row])
        why = "another thread may write only later" if is_earlier_write.any() else "no thread has written yet"
        message = f"{thread_of(trace, event)} reads {cell} on line {site.line}, which {why}."
        by_name[site.name] = Finding(
            "uninitialised-read", site.name, message, [site.line], [thread], index, [event], file=site.file
        )
    for name, finding in by_name.items():
        if other_places := sorted(places_by_name[name] - set(finding.places)):
            lines = ", ".join(str(line) if file == finding.file else f"{line} of {file}" for file, line in other_places)
            finding.message += f" So do reads on line{'s' if len(other_places) > 1 else ''} {lines}."
    return list(by_name.values()) + faults_of(
        trace, context, "uninitialised-read", lambda site, event: _local_words(trace, site, event)
    )


def _local_words(trace: Trace, site: Site, event: int) -> str:
    who = thread_of(trace, event)
    if site.operation:  # the wave operation that reads it in one lane
        return f"{who} gets {site.name} on line {site.line} by {site.operation} from a lane that has not written it yet."
    return f"{who} reads {site.name} on line {site.line}, which it has not written yet."


def _rows(table: Accesses, complete_before: int) -> np.ndarray:
    """Return the rows that read possibly unwritten memory, in the device's order.

    A read that races with a write in the same epoch is left to the race check. Only epochs below `complete_before` are examined.
    """
    segment, starts = table.segment, table.segment_starts
    cell = np.r_[0, np.cumsum(np.diff(table.address) != 0)]
    first_write = np.where(table.writes, table.epoch.astype(np.int64), NEVER)
    first_written = np.minimum.reduceat(first_write, np.flatnonzero(np.r_[True, np.diff(cell) != 0]))[cell]
    is_early = table.reads & (table.epoch <= first_written) & (table.epoch < complete_before)

    def written_by_another(marks: np.ndarray) -> np.ndarray:
        thread = table.thread.astype(np.int64)
        lowest = np.minimum.reduceat(np.where(marks, thread, NEVER), starts)[segment]
        highest = np.maximum.reduceat(np.where(marks, thread, -1), starts)[segment]
        return (highest >= 0) & ((lowest != thread) | (highest != thread))

    plain_writes = table.writes & ~table.atomic
    raced = np.where(table.atomic, written_by_another(plain_writes), written_by_another(table.writes))
    _, wrote_before = table.own_earlier_write()
    rows = np.flatnonzero(is_early & ~wrote_before & ~raced)
    return rows[np.argsort(table.slot[rows])]


def _first_incomplete_epoch(trace: Trace) -> int:
    """Return the first epoch of shared memory that may be incomplete because a thread's record was full."""
    cut = np.isin(trace.thread, trace.info.cut_threads)
    if not cut.any():
        return 2**32
    _, last = np.unique(trace.thread[cut][::-1], return_index=True)  # each thread's last event
    return int(trace.shared_epoch[cut][::-1][last].min())
