"""Loops that were ended because their thread's budget of iterations was used up."""

import numpy as np

from splatscope.tracing.checks.analysis.phrases import in_sentence, thread_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.livelock import wait_before
from splatscope.tracing.checks.registry import check
from splatscope.tracing.trace import Trace


@check("timeout", label="A loop that does not end", severity="error", gone="the endless loop", order=10, names_memory=False)
def timeouts(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding per loop. Only each thread's first such loop counts: afterwards its budget is used up.

    Loops in which a thread waits for another are excluded: they are livelocks, or follow from one.
    """
    by_cause: dict[tuple, Finding] = {}
    ended_threads: set[int] = set()
    waits = {(finding.file, finding.lines[-1]) for finding in context.findings("livelock")}
    for event in np.flatnonzero(trace.at(lambda site: site.kind == "overrun")):
        site, thread = trace.sites[trace.site[event]], int(trace.thread[event])
        if thread in ended_threads:
            continue
        ended_threads.add(thread)
        cause = (site.file, site.line)
        if cause in waits:
            continue
        if cause in by_cause:
            by_cause[cause].count += 1
            continue
        if wait_before(trace, int(event)) is not None:
            continue
        who = in_sentence(thread_of(trace, int(event)))
        budget = trace.info.loop_budget
        message = f"The loop on line {site.line} was ended in {who} after {budget:,} iterations."
        by_cause[cause] = Finding("timeout", site.function, message, [site.line], [thread], 0, [int(event)], file=site.file)
    return list(by_cause.values())
