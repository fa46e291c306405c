"""What is wrong with a recorded kernel: races, barriers not met by all, accesses outside, what nobody wrote, NaN, endless loops.

One cause makes one finding. So nothing is judged that only follows from another finding: what comes after the end of an endless
loop, and what threads do past a barrier that not all of them met. Nor is what the recording does not show in full: no races
where a barrier is not recorded, no reads of shared memory that something unrecorded may have written.
"""

import numpy as np

from splatscope.tracing.checks.accesses import OUTSIDE_FLAG, accesses
from splatscope.tracing.checks.call_paths import call_sites
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.nonfinite import not_finite
from splatscope.tracing.checks.races import races, uninitialised_reads
from splatscope.tracing.checks.sources import Sources
from splatscope.tracing.trace import Trace

_MOST_ASKED = 4096  # reads of what nobody wrote, whether one is not finite

__all__ = ["Finding", "barrier_divergence", "races_between_groups", "sanitize"]


def sanitize(trace: Trace) -> list[Finding]:
    """All findings, one a cause, in the order of their first moment."""
    endless = endless_loops(trace)
    trusted = _before_overrun(trace) if endless else np.ones(len(trace), bool)
    diverged, arrivals = _divergence(trace)
    known = Sources.of(trace)
    hidden = known.unrecorded(trace.sites)
    ordered = trusted & arrivals
    found = [*endless, *diverged, *out_of_bounds(trace, trusted)]
    unwritten: list[Finding] = []
    if "barriers" not in hidden:
        shared = accesses(trace, "shared", ordered, known)
        unwritten = [f for f in uninitialised_reads(trace, shared, _complete_before(trace)) if f.name not in hidden]
        found += [*races(trace, shared), *races(trace, accesses(trace, "device", ordered, known)), *unwritten]
    if not any(_is_not_finite(trace, finding) for finding in unwritten):
        found += not_finite(trace, trusted)
    place = np.empty(len(trace), np.int64)
    place[trace.order] = np.arange(len(trace))
    return sorted(found, key=lambda finding: place[finding.events[0]] if finding.events else -1)


def races_between_groups(trace: Trace) -> list[Finding]:
    """Races on buffers between workgroups, from a recording of them all: no barrier orders these, a hand-over by an atomic does."""
    trusted = _before_overrun(trace) if (trace.kinds == "overrun").any() else np.ones(len(trace), bool)
    return races(trace, accesses(trace, "device", trusted, Sources.of(trace), across_groups=True), between_groups=True)


def _before_overrun(trace: Trace) -> np.ndarray:
    """What happened before the first endless loop was ended: afterwards the kernel is no longer the one that was written."""
    kinds, order = trace.at(lambda site: site.kind == "overrun"), trace.order
    before = np.ones(len(trace), bool)
    before[order[np.argmax(kinds[order]) :]] = False
    return before


def _complete_before(trace: Trace) -> int:
    """The first epoch of shared memory of which a part may be missing, as a thread's record was full."""
    cut = np.isin(trace.thread, trace.header.get("cut_threads", []))
    if not cut.any():
        return 2**32
    threads, where = np.unique(trace.thread[cut][::-1], return_index=True)
    return int(trace.shared_epoch[cut][::-1][where].min()) if len(threads) else 2**32


def _is_not_finite(trace: Trace, finding: Finding) -> bool:
    site = trace.sites[trace.site[finding.events[0]]]
    same = trace.at(lambda s: (s.kind, s.file, s.line, s.name) == (site.kind, site.file, site.line, site.name))
    return not all(
        np.isfinite(np.array(trace.value(event) or [0.0], float)).all() for event in np.flatnonzero(same)[:_MOST_ASKED].tolist()
    )


def barrier_divergence(trace: Trace) -> list[Finding]:
    """A barrier that some threads of the workgroup never reach, or reach at another place."""
    return _divergence(trace)[0]


def _divergence(trace: Trace) -> tuple[list[Finding], np.ndarray]:
    """The first barrier that not all threads meet, and which events come before it or belong to those that wait there."""
    everything = np.ones(len(trace), bool)
    arrives = trace.at(lambda site: site.kind == "arrive")
    turn = trace.count(arrives).astype(np.int64)
    events = np.flatnonzero(arrives)
    if len(events) == 0:
        return [], everything
    threads = trace.header["threads"]
    out = np.zeros(threads, bool)  # ended by force: where they would have waited nobody knows
    out[trace.thread[trace.kinds == "overrun"]] = True
    cut = np.zeros(threads, bool)
    cut[trace.header.get("cut_threads", [])] = True
    events = events[~out[trace.thread[events]]]
    events = events[np.lexsort((trace.slot[events], turn[events]))]
    met = np.bincount(trace.thread[events], minlength=threads)
    turns, starts = np.unique(turn[events], return_index=True)
    where = _places(trace, events)
    low, high = (pick.reduceat(where, starts) if len(starts) else starts for pick in (np.minimum, np.maximum))
    may_end = np.sort(met[cut & ~out])
    expected = (~out).sum() - np.searchsorted(may_end, turns)  # who was cut before is not missed
    wrong = np.flatnonzero((low != high) | (np.diff(np.r_[starts, len(events)]) != expected))
    if len(wrong) == 0:
        return [], everything
    k, start = int(turns[wrong[0]]), starts[wrong[0]]
    at = slice(start, np.r_[starts, len(events)][wrong[0] + 1])
    here, elsewhere = events[at], events[at][where[at] != where[start]]
    waits = out | (cut & (met < k))
    waits[trace.thread[np.setdiff1d(here, elsewhere)]] = True
    absent = np.flatnonzero(~out & ~cut & (met < k))
    return [_diverges(trace, int(here[0]), elsewhere, absent)], turn < np.where(waits[trace.thread], k, k - 1)


def _places(trace: Trace, events: np.ndarray) -> np.ndarray:
    """A number for each barrier that is another one: another statement, or the same in a function that another statement called."""
    sites = trace.site[events].astype(np.int64)
    entry = trace.header["entry"]
    if all(trace.sites[site].function == entry for site in np.unique(sites)):
        return sites
    calls = call_sites(trace, events)
    if any(-1 in path for path in calls.values()):  # somebody never came back to tell
        return sites
    ids: dict[tuple, int] = {}
    paths = ((site, *calls.get(event, ())) for event, site in zip(events.tolist(), sites.tolist(), strict=True))
    return np.array([ids.setdefault(path, len(ids)) for path in paths], np.int64)


def _diverges(trace: Trace, first: int, elsewhere: np.ndarray, absent: np.ndarray) -> Finding:
    site, thread = trace.sites[trace.site[first]], int(trace.thread[first])
    begin = f"Thread {thread} waits at the barrier on line {site.line}"
    count = f"of {trace.header['threads']} threads"
    if len(elsewhere):
        other = int(elsewhere[0])
        line, other_thread = trace.sites[trace.site[other]].line, int(trace.thread[other])
        rest = f"({len(elsewhere)} {count} wait elsewhere)."
        message = f"{begin}, thread {other_thread} at the one on line {line} {rest}"
        lines, threads, events = [site.line, line], [thread, other_thread], [first, other]
        if trace.site[first] == trace.site[other]:  # the same one, called from two places
            paths = call_sites(trace, np.array(events))
            pairs = zip(paths[first], paths[other], strict=False)
            lines = next(([trace.sites[a].line, trace.sites[b].line] for a, b in pairs if a != b), lines)
            message = f"{begin} by the call on line {lines[0]}, thread {other_thread} by the one on line {lines[1]} {rest}"
        return Finding("barrier-divergence", site.name, message, lines, threads, 0, events, len(elsewhere), site.file)
    message = f"{begin}, thread {absent[0]} ends without it ({len(absent)} {count} do)."
    threads = [thread, int(absent[0])]
    return Finding("barrier-divergence", site.name, message, [site.line], threads, 0, [first], len(absent), site.file)


def out_of_bounds(trace: Trace, trusted: np.ndarray) -> list[Finding]:
    """Accesses outside of an array or a buffer: stores were not performed, reads took the last element."""
    flagged = (trace.flags & OUTSIDE_FLAG) != 0
    bad = trace.at(lambda site: site.kind == "out-of-bounds")
    found: dict[tuple, Finding] = {}
    for event in np.flatnonzero((flagged | bad) & trusted):
        site = trace.sites[trace.site[event]]
        key = (site.name, site.file, site.line)
        if key in found:
            found[key].count += 1
            continue
        thread, index = int(trace.thread[event]), int(trace.index[event])
        shown = index if index < 2**31 else index - 2**32
        verb = "reads" if site.kind == "read" or site.access == "read" else "writes"
        message = f"Thread {thread} {verb} {site.name}[{shown}] on line {site.line}, which is outside."
        found[key] = Finding("out-of-bounds", site.name, message, [site.line], [thread], shown, [int(event)], file=site.file)
    return list(found.values())


def endless_loops(trace: Trace) -> list[Finding]:
    """Loops that used up their thread's budget of iterations, and were ended. Of each thread the first: its budget is gone."""
    found: dict[tuple, Finding] = {}
    seen: set[int] = set()
    for event in np.flatnonzero(trace.at(lambda site: site.kind == "overrun")):
        site, thread = trace.sites[trace.site[event]], int(trace.thread[event])
        if thread in seen:
            continue
        seen.add(thread)
        key = (site.file, site.line)
        if key in found:
            found[key].count += 1
            continue
        budget = trace.header.get("loop_budget", 0)
        message = f"The loop on line {site.line} was ended in thread {thread} after {budget:,} iterations."
        found[key] = Finding("timeout", site.function, message, [site.line], [thread], 0, [int(event)], file=site.file)
    return list(found.values())
