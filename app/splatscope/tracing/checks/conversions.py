"""Conversions of floats that do not fit the integer type: too large, below 0 for a uint, or NaN."""

import math

from splatscope.tracing.checks.analysis.phrases import thread_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.faults import faults_of
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


@check(
    "conversion-out-of-range",
    label="A float that the integer cannot hold",
    severity="error",
    gone="the conversion out of range",
    order=71,
    names_memory=False,
)
def conversions(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each conversion, except of a NaN or infinity that has its own finding."""

    def message(site: Site, event: int) -> str:
        values = trace.value(event)
        assert values is not None  # the site of a fault has a type
        (value,) = values
        if not math.isfinite(value) and context.findings("nan"):
            return ""
        return f"{thread_of(trace, event)} converts {value:.6g} to {site.converts_to} on line {site.line}, which cannot hold it."

    return faults_of(trace, context, "conversion-out-of-range", message)
