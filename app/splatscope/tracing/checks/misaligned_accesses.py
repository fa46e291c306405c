"""Misaligned accesses to byte-address buffers: the address is not a multiple of the size of the largest accessed scalar.

HLSL requires this alignment: 4 for `Load2`, 2 for `Load<half3>`, 8 for a struct with a double.
"""

from splatscope.tracing.checks.analysis.phrases import thread_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.faults import faults_of
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


@check("misaligned-access", label="A misaligned access to", severity="error", gone="the misaligned access", order=35)
def misaligned_accesses(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each misaligned address in the source."""

    def message(site: Site, event: int) -> str:
        values = trace.value(event)
        assert values is not None  # the site of a fault has a type
        (address,) = values
        place = f"{site.name} at byte {address:,} on line {site.line}"
        return f"{thread_of(trace, event)} {site.access}s {place}, which is not a multiple of {site.alignment}."

    return faults_of(trace, context, "misaligned-access", message)
