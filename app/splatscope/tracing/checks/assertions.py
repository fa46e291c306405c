"""Failed asserts: conditions that a kernel asserts (`assert(count <= 64);`) but that are false in some thread."""

from splatscope.tracing.checks.analysis.phrases import thread_of
from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.faults import faults_of
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


@check("assertion", label="A false assertion", severity="error", gone="the false assertion", order=25, names_memory=False)
def assertions(trace: Trace, context: Context) -> list[Finding]:
    """Return one finding for each assert that fails."""

    def message(site: Site, event: int) -> str:
        return f"{thread_of(trace, event)} finds on line {site.line} that {site.name} is false, which is asserted."

    return faults_of(trace, context, "assertion", message)
