"""Run a lesson's experiments: run, record, time and compile kernels on the worker's device."""

import time

import numpy as np
import slangpy as spy

from splatscope.gpu.device import Adapter, adapter_of
from splatscope.gpu.kernel import CompileError
from splatscope.gpu.spirv import private_arrays, shared_variables
from splatscope.textbook.query import RecordingQuery, typed
from splatscope.tracing.dispatch import prepare, spirv_of
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check


class Experiment:
    """A device to try kernels on. Compiled kernels are cached."""

    def __init__(self, device: spy.Device):
        self.device = device

    @property
    def adapter(self) -> Adapter:
        """The device's adapter."""
        return adapter_of(self.device)

    def has(self, feature: str) -> bool:
        """Return whether the device has a feature, named as in SlangPy: "atomic_float", "wave_ops"."""
        return self.device.has_feature(getattr(spy.Feature, feature))

    def record(self, job: KernelJob) -> RecordingQuery:
        """Run a kernel instrumented and check its trace. Raises CompileError, ValueError."""
        recording = record_and_check(self.device, job)
        return RecordingQuery(recording, job, recording.findings)

    def run(self, job: KernelJob) -> dict[str, np.ndarray]:
        """Run a kernel plain and return its buffers, each with dtype and shape of its input. Raises CompileError, ValueError."""
        outputs = prepare(self.device, job).dispatch().outputs()
        return {name: typed(job, name, words) for name, words in outputs.items()}

    def seconds(self, job: KernelJob, dispatches: int = 20, repeats: int = 5) -> float:
        """Return the device time of one dispatch in seconds: the minimum of `repeats` submits, each of many dispatches.

        Raises:
            CompileError, ValueError: The kernel does not compile, or its inputs do not fit.
        """
        run = prepare(self.device, job).dispatch()
        best = float("inf")
        for _ in range(repeats):
            began = time.perf_counter()
            run.dispatch(dispatches)
            best = min(best, time.perf_counter() - began)
        return best / dispatches

    def private_arrays(self, job: KernelJob) -> dict[str, int]:
        """Return the bytes of each thread's private arrays in the compiled kernel, by type. Raises CompileError, ValueError."""
        return self._memory(job)[0]

    def shared_variables(self, job: KernelJob) -> dict[str, int]:
        """Return the bytes of a workgroup's shared variables in the compiled kernel, by name. Raises CompileError, ValueError."""
        return self._memory(job)[1]

    def _memory(self, job: KernelJob) -> tuple[dict[str, int], dict[str, int]]:
        key = (self.device, job.source, job.file, job.entry, tuple(sorted(job.constants.items())))
        if key not in _memories:
            assembly = spirv_of(self.device, job)
            _memories[key] = private_arrays(assembly), shared_variables(assembly)
        return _memories[key]

    def compile_errors(self, job: KernelJob) -> str:
        """Return the compiler's diagnostics if it rejects a kernel, "" if it does not."""
        try:
            prepare(self.device, job)
        except CompileError as error:
            return error.diagnostics
        return ""


_memories: dict[tuple, tuple[dict[str, int], dict[str, int]]] = {}  # a few numbers for each kernel that was examined
