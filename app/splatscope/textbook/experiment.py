"""What a lesson's methods try out: kernels run plain, recorded, timed and compiled, on the worker's device."""

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
    """One device to try things on. Everything that is compiled is kept by the worker for the next time."""

    def __init__(self, device: spy.Device):
        self.device = device

    @property
    def adapter(self) -> Adapter:
        return adapter_of(self.device)

    def has(self, feature: str) -> bool:
        """Whether the device has what SlangPy calls so: "atomic_float", "wave_ops"."""
        return self.device.has_feature(getattr(spy.Feature, feature))

    def record(self, job: KernelJob) -> RecordingQuery:
        """Runs it instrumented. Raises CompileError, ValueError."""
        checked = record_and_check(self.device, job)
        return RecordingQuery(checked.recording, job, checked.findings)

    def run(self, job: KernelJob) -> dict[str, np.ndarray]:
        """Runs it plain: the buffers afterwards, each with dtype and shape of its input. Raises CompileError, ValueError."""
        outputs = prepare(self.device, job).dispatch().outputs()
        return {name: typed(job, name, words) for name, words in outputs.items()}

    def seconds(self, job: KernelJob, dispatches: int = 20, repeats: int = 5) -> float:
        """Of one dispatch, the device waited for: the least of some repeats, each of many dispatches in one submit."""
        run = prepare(self.device, job).dispatch()
        best = float("inf")
        for _ in range(repeats):
            began = time.perf_counter()
            run.dispatch(dispatches)
            best = min(best, time.perf_counter() - began)
        return best / dispatches

    def private_arrays(self, job: KernelJob) -> dict[str, int]:
        """Bytes of the arrays that a thread of the compiled kernel has for itself, by type. Raises CompileError, ValueError."""
        return self._memory(job)[0]

    def shared_variables(self, job: KernelJob) -> dict[str, int]:
        """Bytes of what a workgroup of the compiled kernel shares, by name. Raises CompileError, ValueError."""
        return self._memory(job)[1]

    def _memory(self, job: KernelJob) -> tuple[dict[str, int], dict[str, int]]:
        key = (self.device, job.source, job.file, job.entry, tuple(sorted(job.constants.items())))
        if key not in _memories:
            assembly = spirv_of(self.device, job)
            _memories[key] = private_arrays(assembly), shared_variables(assembly)
        return _memories[key]

    def refused(self, job: KernelJob) -> str:
        """Why the compiler does not take it, in all its words; "" if it does."""
        try:
            prepare(self.device, job)
        except CompileError as error:
            return error.diagnostics
        return ""


_memories: dict[tuple, tuple[dict[str, int], dict[str, int]]] = {}  # a few numbers for each kernel that was asked about
