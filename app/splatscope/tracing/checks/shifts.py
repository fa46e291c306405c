"""Shifts by a negative distance, or by at least the number's width: devices disagree on the result."""

from splatscope.gpu.slang_types import SCALARS, SlangType
from splatscope.tracing.checks.analysis.phrases import thread_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.faults import faults_of
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


@check(
    "shift-out-of-range",
    label="A shift by the width or more",
    severity="error",
    gone="the shift out of range",
    order=32,
    names_memory=False,
)
def shifts(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each shift by an invalid distance."""

    def message(site: Site, event: int) -> str:
        (amount,) = SlangType(SCALARS["uint" if site.type.startswith("u") else "int"]).values(trace.words[event]).tolist()
        distance = f"{amount} on line {site.line}" if site.name == str(amount) else f"{site.name} = {amount} on line {site.line}"
        return f"{thread_of(trace, event)} shifts by {distance}: a number of {site.bits} bits is shifted by 0 to {site.bits - 1}."

    return faults_of(trace, context, "shift-out-of-range", message)
