"""Integer divisions by zero, which are undefined: a device may return anything, and something else the next time."""

from splatscope.tracing.checks.analysis.phrases import thread_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.faults import faults_of
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


@check(
    "integer-division-by-zero",
    label="An integer divided by zero",
    severity="error",
    gone="the division by zero",
    order=31,
    names_memory=False,
)
def integer_divisions(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each divisor that is 0."""

    def message(site: Site, event: int) -> str:
        return f"{thread_of(trace, event)} divides on line {site.line} by {site.name}, which is 0."

    return faults_of(trace, context, "integer-division-by-zero", message)
