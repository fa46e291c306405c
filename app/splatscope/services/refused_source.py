"""The messages for a source that the compiler refuses."""

from splatscope.gpu.diagnostics import Diagnostic, diagnostics_of, one_line
from splatscope.gpu.kernel import CompileError
from splatscope.tracing.job import KernelJob


def why_refused(error: CompileError, job: KernelJob) -> tuple[str, list[Diagnostic]]:
    """Return the first error on one line, `kernel.slang:7:14: …`, and all of them as marks for the editor."""
    marks = diagnostics_of(error.diagnostics, job.source, job.file, job.files)
    return one_line(marks, job.file, str(error)), marks
