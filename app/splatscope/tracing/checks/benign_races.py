"""A race that changes nothing, whichever access comes first: see `race_detection`."""

from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.trace import Trace


@check("benign-race", label="Harmless race on", severity="note", gone="the harmless race", order=50, needs_barriers=True)
def benign_races(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each variable and pair of lines, where no true race is on one of these lines."""
    return [finding for finding in context.races if finding.kind == "benign-race"]
