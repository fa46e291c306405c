"""Register the kind of finding for kernels that depend on the width of waves."""

from splatscope.tracing.checks.context import Context
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.registry import check
from splatscope.tracing.trace import Trace

KIND = "wave-width"


@check(KIND, label="Other waves for", severity="error", gone="the dependence on the width of waves")
def wave_width(_trace: Trace, _context: Context) -> list[Finding]:
    """Return nothing: a recording shows one width. `tracing.other_widths` runs the kernel on others."""
    return []
