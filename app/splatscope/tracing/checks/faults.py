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
            tokens = Tokens(site.name)
            pairs = zip(tokens.words, tokens.words[1:], strict=False)
            names = (word for word, following in pairs if word.isidentifier() and following not in ("(", "<"))
            thread = int(trace.thread[event])
            name = next(names, site.function)  # the first variable
            by_cause[cause] = Finding(kind, name, words, [site.line], [thread], 0, [event], file=site.file)
    return list(by_cause.values())
