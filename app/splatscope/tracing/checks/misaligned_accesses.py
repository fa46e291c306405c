"""Addresses in byte-address buffers that are no multiple of the largest scalar that is read or written there.

That is what HLSL asks for: 4 for `Load2`, 2 for `Load<half3>`, 8 for a struct that holds a double.
"""

from splatscope.tracing.checks.analysis.words import thread_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.faults import faults_of
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


@check("misaligned-access", label="A misaligned access to", severity="error", gone="the misaligned access", order=35)
def misaligned_accesses(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each address."""

    def message(site: Site, event: int) -> str:
        (address,) = trace.value(event)
        access, alignment = site.path.split()
        where = f"{site.name} at byte {address:,} on line {site.line}"
        return f"{thread_of(trace, event)} {access}s {where}, which is no multiple of {alignment}."

    return faults_of(trace, context, "misaligned-access", message)
