"""The jobs that process sources and files from pages. Those that are not trusted run inside the sandbox.

The sandboxed process imports this module by name. A job returns a JSON object and a list of bytes, the only data that leaves the
sandbox.
"""

import json
import pickle
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from splatscope.gpu.device import adapter_of, open_device
from splatscope.gpu.diagnostics import Diagnostic
from splatscope.gpu.kernel import CompileError
from splatscope.gpu.reflection import Interface
from splatscope.recordings.packed import packed_recording
from splatscope.recordings.recording_file import save
from splatscope.recordings.standalone_script import standalone
from splatscope.recordings.untrusted import cannot_be_opened, open_file
from splatscope.services.case_outcomes import outcomes_job
from splatscope.services.record_and_pack import record_and_pack
from splatscope.services.refused_source import why_refused
from splatscope.slang.modules import constants_without_value, declared_constants, entries_of, generic_parameters, load_modules
from splatscope.tracing.cost import costs
from splatscope.tracing.interface import read_interface
from splatscope.tracing.job import KernelJob
from splatscope.tracing.perfetto import perfetto
from splatscope.tracing.project import unpacked
from splatscope.tracing.trace import Trace
from splatscope.workers.sandbox.supervisor import JobAnswer

_WARM_UP_KERNEL = """
import workgroup;
groupshared uint cells[8];
RWStructuredBuffer<uint> numbers;
[shader("compute")]
[numthreads(8, 1, 1)]
void warming(uint lane : SV_GroupIndex)
{
    cells[lane] = numbers[lane];
    numbers[lane] = cells[7 - lane];
    if (lane < 4)
        InterlockedAdd(numbers[9], lane);
}
"""


@dataclass(frozen=True)
class Open:
    """What a source leaves open for the compiler to be given.

    Attributes:
        constants: The types of its link-time constants by name.
        missing: Those of them that have no value.
        generic: The generic parameters of its entry point as they are written, "" for none.
    """

    constants: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    generic: str = ""


@dataclass(frozen=True)
class Checked:
    """The result of compiling a source: the interface, or the first error on one line; all diagnostics; and what it leaves open."""

    interface: Interface | None
    error: str = ""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    open: Open = field(default_factory=Open)

    @classmethod
    def of(cls, plain: dict[str, Any]) -> "Checked":
        """Return the object that `asdict` and JSON turned into `plain`."""
        interface = plain["interface"] and Interface.of(plain["interface"])
        return cls(interface, plain["error"], [Diagnostic(**found) for found in plain["diagnostics"]], Open(**plain["open"]))


def record_job(job: KernelJob, adapter: str = "") -> JobAnswer:
    """Record, check and pack a job. Return the parts of a `PackedRecording`. Raises ValueError if the inputs do not fit."""
    device = open_device(adapter or None)
    recording, findings, packed = record_and_pack(device, job, between_groups=True, with_uniforms=True)
    if recording is None:
        return packed.meta, []
    return packed.meta, [packed.data, save(recording, job, recording.layouts, findings)]


def check_job(job: KernelJob) -> JobAnswer:
    """Compile a source and read the kernel's interface, its constants without a value as 1. Return a `Checked` as a dict."""
    open_ = Open()
    try:
        with unpacked(job) as there:
            open_ = _left_open(there)
            given = {name: 1 for name in open_.missing} | job.constants
            if open_.generic and not job.arguments:
                raise CompileError(f"The entry point is generic ({open_.generic}): name its types under “Compile with”.")
            checked = Checked(read_interface(open_device(), replace(there, constants=given)), open=open_)
    except CompileError as error:
        checked = Checked(None, *why_refused(error, job), open_)
    return asdict(checked), []


def _left_open(job: KernelJob) -> Open:
    modules = load_modules(job.source, job.file, job.include, job.defines)
    entry = job.entry or "".join(entries_of(modules[-1])[:1])
    generic = generic_parameters(modules[-1], entry) if entry else ""
    return Open(declared_constants(modules), constants_without_value(modules, job.constants), generic)


def costs_job(job: KernelJob) -> JobAnswer:
    """Estimate what it would cost to record each function. Return each `Cost` as a dict."""
    with unpacked(job) as there:
        found = costs(there.source, there.file, there.entry, there.include, there.defines)
    return {"functions": [asdict(cost) for cost in found]}, []


def open_job(name: str, data: bytes) -> JobAnswer:
    """Open a recording's file, and pack it for `recordings.open_recording`, with the findings that it had.

    Raises:
        ArchiveError: The file is not a recording, or cannot be shown.
    """
    opened = open_file(name, data)
    try:
        packed = packed_recording(
            opened.recording, opened.findings(), opened.job, opened.layouts, **opened.device, uniforms=opened.recording.uniforms
        )
    except Exception as error:  # a forged file may raise anything
        raise cannot_be_opened(name, error) from None
    job = opened.job
    about = {name: getattr(job, name) for name in ("file", "entry", "groups", "group", "source", "files")}
    inputs = [(key, array.nbytes, array.dtype.str, array.shape) for key, array in job.inputs.items()]
    answer = {"meta": packed.meta, "job": about, "draft": opened.draft, "inputs": inputs}
    return answer, [packed.data, b"".join(array.tobytes() for array in job.inputs.values())]


def standalone_job(job: KernelJob, interface: Interface, name: str) -> JobAnswer:
    """Return a dispatch as the text of a Python script."""
    with unpacked(job) as there:
        return {"text": standalone(there, interface, adapter_of(open_device()).backend, name)}, []


def perfetto_job(file: bytes) -> JobAnswer:
    """Export a recording's file to the Chrome/Perfetto format."""
    return {}, [perfetto(Trace.load(file)).encode()]


JOBS: dict[str, Callable[..., JobAnswer]] = {
    "record": record_job,
    "outcomes": outcomes_job,
    "check": check_job,
    "costs": costs_job,
    "open": open_job,
    "standalone": standalone_job,
    "perfetto": perfetto_job,
}


def warm_up(adapter: str) -> None:
    """Run each kind of job once, so that everything loaded at first use is loaded while files can still be read."""
    job = pickle.loads(pickle.dumps(KernelJob(_WARM_UP_KERNEL, inputs={"numbers": np.arange(8, dtype=np.uint32)}, records=4000)))
    record_job(job, adapter)
    outcomes_job([job], adapter)
    for source in (_WARM_UP_KERNEL, _WARM_UP_KERNEL + "wrong"):
        json.dumps(check_job(KernelJob(source, "warming.slang"))[0], default=_plain)
    costs_job(KernelJob(_WARM_UP_KERNEL))


def _plain(value: Any) -> Any:
    return value.item()  # NumPy's numbers
