"""Register the kind of finding for kernels that leave other values in each run, for no reason that a recording shows."""

from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.trace import Trace

KIND = "nondeterministic"


@check(KIND, label="Other values in each run for", severity="error", gone="the difference between runs", order=101)
def nondeterministic(_trace: Trace, _context: Context) -> list[Finding]:
    """Return nothing: a recording shows one run. `tracing.repeated_runs` compares two of the plain kernel."""
    return []
