"""Two accesses that nothing orders, of which one writes, and the result depends on which comes first: see `race_detection`."""

from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.trace import Trace


@check("race", label="Race on", severity="error", gone="the race", order=40, needs_barriers=True)
def races(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each variable and pair of lines."""
    return [finding for finding in context.races if finding.kind == "race"]
