"""Register the kinds "race" and "benign-race". `race_detection` decides which accesses race and which races are benign."""

from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.trace import Trace


@check("race", label="Race on", severity="error", gone="the race", order=40, needs_barriers=True)
def races(trace: Trace, context: Context) -> list[Finding]:
    """Return the true races: those whose unordered accesses may change the result."""
    return [finding for finding in context.races if finding.kind == "race"]


@check("benign-race", label="Harmless race on", severity="note", gone="the harmless race", order=50, needs_barriers=True)
def benign_races(trace: Trace, context: Context) -> list[Finding]:
    """Return the benign races: those that cannot change the result."""
    return [finding for finding in context.races if finding.kind == "benign-race"]
