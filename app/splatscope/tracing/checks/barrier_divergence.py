"""Barrier divergence: some threads of a workgroup never reach a barrier, or wait at another one. See `barrier_arrivals`."""

import numpy as np

from splatscope.tracing.checks.analysis.barrier_arrivals import Divergence
from splatscope.tracing.checks.analysis.call_paths import call_sites
from splatscope.tracing.checks.analysis.phrases import lines_of, thread_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding, standing_at
from splatscope.tracing.checks.registry import check
from splatscope.tracing.trace import Trace


@check(
    "barrier-divergence",
    label="Threads diverge at a barrier",
    severity="error",
    gone="the divergent barrier",
    order=20,
    names_memory=False,
)
def barrier_divergence(trace: Trace, context: Context) -> list[Finding]:
    """Return the first barrier that not all threads meet."""
    return [_finding(trace, context.divergence)] if context.divergence else []


def _finding(trace: Trace, divergence: Divergence) -> Finding:
    first, elsewhere, absent = int(divergence.together[0]), divergence.elsewhere, divergence.absent
    site, thread = trace.sites[trace.site[first]], int(trace.thread[first])
    begin = f"{thread_of(trace, first)} waits at the barrier on"
    lanes = trace.info.threads_per_group if trace.info.all_groups else trace.info.threads
    count = f"of {lanes} threads"
    if len(elsewhere) == 0:
        message = f"{begin} line {site.line}, thread {absent[0] % lanes} ends without it ({len(absent)} {count} do)."
        threads = [thread, int(absent[0])]
        return Finding("barrier-divergence", site.name, message, [site.line], threads, 0, [first], len(absent), site.file)
    other = int(elsewhere[0])
    other_site, other_thread = trace.sites[trace.site[other]], int(trace.thread[other])
    other_lane = other_thread % lanes
    rest = f"({len(elsewhere)} {count} wait elsewhere)."
    line, other_line = lines_of(site, other_site)
    message = f"{begin} {line}, thread {other_lane} at the one on {other_line} {rest}"
    sites, threads, events = [site, other_site], [thread, other_thread], [first, other]
    if trace.site[first] == trace.site[other]:  # the same barrier, called from two places
        paths = call_sites(trace, np.array(events))
        pairs = zip(paths[first], paths[other], strict=False)
        sites = next(([trace.sites[a], trace.sites[b]] for a, b in pairs if a != b and min(a, b) >= 0), sites)
        barrier_line, call_line, other_call_line = lines_of(site, *sites)
        message = f"{begin} {barrier_line} by the call on {call_line}, thread {other_lane} by the one on {other_call_line} {rest}"
    return Finding(
        "barrier-divergence", site.name, message, threads=threads, events=events, count=len(elsewhere), **standing_at(*sites)
    )
