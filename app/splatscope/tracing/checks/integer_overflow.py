"""Sums and products that overflow an int: they wrap around, and a large number becomes negative.

Slang defines this, and hashes use it. So results that are used as bits or as a uint, or that are multiplied by a large literal, are
not reported: see `instrument/operations.py`. Unsigned numbers usually wrap around on purpose; an index that does so by mistake is
reported as out of bounds.
"""

from splatscope.tracing.checks.analysis.phrases import thread_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.faults import faults_of
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


@check(
    "integer-overflow",
    label="An integer that overflows",
    severity="warn",
    gone="the integer overflow",
    order=72,
    names_memory=False,
)
def integer_overflows(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each sum or product that overflows."""

    def message(site: Site, event: int) -> str:
        values = trace.value(event)
        assert values is not None  # the site of a fault has a type
        left, right, result = values
        numbers = f"-({left:,})" if site.operation == "negative" else f"{left:,} {site.operation} {right:,}"
        computes = f"{thread_of(trace, event)} computes {site.name} on line {site.line}"
        return f"{computes}, which is {numbers}: an int cannot hold that, and wraps around to {result:,}."

    return faults_of(trace, context, "integer-overflow", message)
