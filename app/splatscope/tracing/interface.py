"""Read the interface of a job's kernel."""

import slangpy as spy

from splatscope.gpu.kernel import CompileError
from splatscope.gpu.reflection import Interface, interface_of
from splatscope.slang.program import entries_of
from splatscope.tracing.dispatch import parameters_in
from splatscope.tracing.instrument.build import build_plain
from splatscope.tracing.job import KernelJob


def read_interface(device: spy.Device, job: KernelJob) -> Interface:
    """Compile a job and return the interface of its entry point, by default the first.

    Raises:
        CompileError: It does not compile, or has no such entry point.
    """
    program = job.program()
    entries = entries_of(program.own.source)
    if job.entry and entries and job.entry not in entries:
        raise CompileError(f"There is no entry point {job.entry}; the source has {', '.join(entries)}.")
    linked = build_plain(device, program, job)
    return interface_of(linked, entries, parameters_in(linked, program))
