"""Turn records of faulty operations into findings. Such operations are recorded only if faulty: `instrument/operations.py`."""

from collections.abc import Callable

import numpy as np

from splatscope.slang.tokens import Tokens
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


def faults_of(trace: Trace, context: Context, kind: str, message: Callable[[Site, int], str]) -> list[Finding]:
    """Return one finding for each faulty operation, reported for its first thread.

    Args:
        trace: The trace.
        context: The data that checks share.
        kind: The kind of finding.
        message: Returns the message for the operation's site and the event; "" if the event is not to be reported.
    """
    by_cause: dict[tuple, Finding] = {}
    events = np.flatnonzero(trace.at(lambda site: site.fault == kind) & context.trusted)
    for event in events.tolist():
        site = trace.sites[trace.site[event]]
        cause = (site.file, site.line, site.name)
        if cause in by_cause:
            by_cause[cause].count += 1
        elif words := message(site, event):
            thread = int(trace.thread[event])
            name = first_variable(site.name) or site.function
            by_cause[cause] = Finding(kind, name, words, [site.line], [thread], 0, [event], file=site.file)
    return list(by_cause.values())


def first_variable(code: str) -> str:
    """Return the first variable in a piece of code, "" if there is none: "lane" for `f(lane < 4)`."""
    tokens = Tokens(code)
    for at in tokens.indices:
        has_arguments = tokens.words[at + 1] == "<" and tokens.starts[at + 1] == tokens.end(at)  # `max<int>`, not `lane < 4`
        if tokens.words[at].isidentifier() and tokens.words[at + 1] != "(" and not has_arguments:
            return tokens.words[at]
    return ""
