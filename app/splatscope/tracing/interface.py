"""Read the interface of a job's kernel."""

import slangpy as spy

from splatscope.gpu.kernel import CompileError
from splatscope.gpu.reflection import Interface, interface_of
from splatscope.slang.modules import entries_of, load_modules
from splatscope.tracing.dispatch import parameters_in
from splatscope.tracing.instrument.build import build_plain
from splatscope.tracing.job import KernelJob


def read_interface(device: spy.Device, job: KernelJob) -> Interface:
    """Compile a job and return the interface of its entry point, by default the first.

    Raises:
        CompileError: It does not compile, or has no such entry point.
    """
    modules = load_modules(job.source, job.file, job.include, job.defines)
    entries = entries_of(modules[-1])
    if job.entry and entries and job.entry not in entries:
        raise CompileError(f"There is no entry point {job.entry}; the source has {', '.join(entries)}.")
    program = build_plain(device, modules, job.entry or "".join(entries[:1]), job)
    return interface_of(program, entries, parameters_in(program, modules))
