"""The jobs that process sources and files from pages. Those that are not trusted run inside the sandbox.

They filter untrusted sources before anything else reads these. The sandboxed process imports this module by name. A job returns a
JSON object and a list of bytes, the only data that leaves the sandbox.
"""

import io
import json
import pickle
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypedDict

import numpy as np

from splatscope.gpu.device import adapter_of, open_device
from splatscope.gpu.diagnostics import Diagnostic
from splatscope.gpu.kernel import CompileError
from splatscope.gpu.reflection import Interface
from splatscope.recordings.packed import packed_recording, refused_recording
from splatscope.recordings.recording_file import save
from splatscope.recordings.standalone_script import standalone
from splatscope.recordings.untrusted import cannot_be_opened, open_file
from splatscope.services.case_outcomes import outcomes_job
from splatscope.services.drafts.array_files import ArrayFile
from splatscope.services.drafts.draft import DraftJob, PublicInterface, entry_of, public
from splatscope.services.drafts.inputs import InputError, refuse_interface
from splatscope.services.drafts.playground import read
from splatscope.services.record_and_pack import record_and_pack
from splatscope.services.refused_source import why_refused
from splatscope.splat.files.images import FORMATS, encode
from splatscope.tracing.cost import Cost, costs
from splatscope.tracing.fixes import suggest
from splatscope.tracing.interface import read_interface
from splatscope.tracing.job import KernelJob
from splatscope.tracing.perfetto import perfetto
from splatscope.tracing.project import unpacked
from splatscope.tracing.record_and_check import record_and_check
from splatscope.tracing.recording import Recording
from splatscope.tracing.trace import Trace
from splatscope.workers.sandbox.source_filter import refuse_job
from splatscope.workers.sandbox.supervisor import JobAnswer

_WARM_UP_KERNEL = """
import workgroup;
groupshared uint cells[8];
RWStructuredBuffer<uint> numbers;
RWTexture2D<float4> drawn;
[shader("compute")]
[numthreads(8, 1, 1)]
void warming(uint lane : SV_GroupIndex)
{
    cells[lane] = numbers[lane];
    numbers[lane] = cells[7 - lane];
    drawn[uint2(lane, 0)] = 1;
    if (lane < 4)
        InterlockedAdd(numbers[9], lane);
}
"""


class Open(TypedDict):
    """What a source leaves open for the compiler to be given.

    Attributes:
        constants: The types of its link-time constants by name.
        missing: Those of them that have no value.
        generic: The generic parameters of its entry point as they are written, "" for none.
    """

    constants: dict[str, str]
    missing: list[str]
    generic: str


NOTHING_OPEN: Open = {"constants": {}, "missing": [], "generic": ""}


@dataclass(frozen=True)
class Checked:
    """The result of compiling a source.

    Attributes:
        interface: The interface; None if it does not compile.
        error: The first error on one line.
        diagnostics: All diagnostics.
        open: What the source leaves open.
        public: What a page shows of a draft whose source compiles, see `draft.public`.
    """

    interface: Interface | None
    error: str = ""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    open: Open = field(default_factory=NOTHING_OPEN.copy)
    public: PublicInterface | None = None

    @classmethod
    def of(cls, plain: dict[str, Any]) -> "Checked":
        """Return the object that `asdict` and JSON turned into `plain`."""
        interface = plain["interface"] and Interface.of(plain["interface"])
        diagnostics = [Diagnostic(**diagnostic) for diagnostic in plain["diagnostics"]]
        return cls(interface, plain["error"], diagnostics, plain["open"], plain["public"])


def record_job(asked: KernelJob | DraftJob, adapter: str = "", untrusted: bool = False) -> JobAnswer:
    """Record, check and pack a job, after filtering its source if it is `untrusted`. Return the parts of a `PackedRecording`.

    Raises:
        ValueError: The inputs do not fit the kernel.
    """
    try:
        if wrong := _refuse(asked, untrusted):
            return refused_recording(wrong, []).meta, []
        job = asked.job() if isinstance(asked, DraftJob) else asked
    except InputError as error:
        return refused_recording(str(error), []).meta, []
    device = open_device(adapter or None)
    recording, findings, packed = record_and_pack(device, job, between_groups=True, with_uniforms=True)
    if recording is None:
        return packed.meta, []
    return packed.meta, [packed.data, save(recording, job, recording.layouts, findings)]


def fix_job(asked: KernelJob | DraftJob, adapter: str = "", untrusted: bool = False) -> JobAnswer:
    """Return a job's source with a change that takes findings away, "" if none is found. It is filtered if it is `untrusted`.

    Raises:
        ValueError: The inputs do not fit the kernel.
    """
    if _refuse(asked, untrusted):
        return {"source": ""}, []
    job, device = asked.job() if isinstance(asked, DraftJob) else asked, open_device(adapter or None)

    def record(changed: KernelJob) -> Recording:
        with unpacked(changed) as job:
            return record_and_check(device, job, between_groups=True)

    fix = suggest(job, record(job), record)
    return {"source": fix.source if fix else ""}, []


def check_job(asked: KernelJob | DraftJob, untrusted: bool = False) -> JobAnswer:
    """Compile a source, after filtering it if it is `untrusted`, and read the kernel's interface. Return a `Checked` as a dict.

    Constants without a value are compiled as 1.
    """
    if wrong := _refuse(asked, untrusted):
        return asdict(Checked(None, wrong)), []
    if isinstance(asked, KernelJob):
        return asdict(_checked(asked)), []
    kernel = asked.kernel()
    checked = _checked(kernel)
    if checked.interface is None and kernel.entry and not checked.diagnostics:
        checked = _checked(replace(kernel, entry=""))  # the entry point may have been renamed: take the first
    if checked.interface is None:
        return asdict(checked), []
    if wrong := refuse_interface(checked.interface):
        return asdict(Checked(None, wrong)), []
    kernel = replace(kernel, entry=entry_of(asked.draft, checked.interface))
    shown = public(checked.interface, kernel.source, asked.draft, _estimate_costs(kernel), asked.files)
    return asdict(replace(checked, public=shown)), []


def _refuse(job: KernelJob | DraftJob, untrusted: bool) -> str:
    """Return one line that says why a job's sources are refused, "" if they are accepted."""
    kernel = job.kernel() if isinstance(job, DraftJob) else job
    wrong = read(kernel.source).refusal if isinstance(job, DraftJob) else ""
    return wrong or (refuse_job(kernel) if untrusted else "")


def _checked(job: KernelJob) -> Checked:
    open_ = NOTHING_OPEN
    try:
        with unpacked(job) as unpacked_job:
            open_ = _left_open(unpacked_job)
            constants = {name: 1 for name in open_["missing"]} | job.constants
            if open_["generic"] and not job.arguments:
                raise CompileError(f"The entry point is generic ({open_['generic']}): name its types under “Compile with”.")
            return Checked(read_interface(open_device(), replace(unpacked_job, constants=constants)), open=open_)
    except CompileError as error:
        return Checked(None, *why_refused(error, job), open_)


def _left_open(job: KernelJob) -> Open:
    program = job.program()
    return {
        "constants": program.constant_types,
        "missing": program.constants_without_value(job.constants),
        "generic": program.generic_parameters,
    }


def _estimate_costs(job: KernelJob) -> list[Cost]:
    """Return what it would cost to record each function of a source that compiles."""
    with unpacked(job) as unpacked_job:
        return costs(unpacked_job.program())


def open_job(name: str, data: bytes) -> JobAnswer:
    """Open a recording's file, and pack it for `recordings.open_recording`, with the findings that it had, and its inputs' sizes.

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
    job_fields = {name: getattr(job, name) for name in ("file", "entry", "groups", "group", "source", "files")}
    inputs = {name: array.nbytes for name, array in job.inputs.items()}
    return {"meta": packed.meta, "job": job_fields, "draft": opened.draft, "inputs": inputs}, [packed.data]


def array_job(file: ArrayFile, name: str) -> JobAnswer:
    """Describe the array that a file holds for an input. Raises ArchiveError."""
    return {"words": file.words(name)}, []


def standalone_job(asked: DraftJob, name: str, untrusted: bool = False) -> JobAnswer:
    """Return a dispatch as the text of a Python script.

    Raises:
        InputError: The script cannot hold all of it.
    """
    kernel = asked.kernel()
    if kernel.files or kernel.defines or kernel.constants or kernel.arguments or kernel.conformances:
        raise InputError(
            "A Python file can hold only one source, without compile settings: save the recording or the page instead."
        )
    checked = Checked.of(check_job(asked, untrusted)[0])
    if checked.interface is None:
        raise InputError(checked.error)
    interface = checked.interface
    has_texels = (
        interface.textures or interface.samplers or any(layout.shape == "texel_buffer" for layout in interface.buffers.values())
    )
    is_long = any(not re.fullmatch(r"(bool|u?int|float)[234]?", kind) for kind in interface.uniforms.values())
    if has_texels or interface.unfit or is_long:
        raise InputError("A Python file can hold only buffers, numbers and vectors: save the recording or the page instead.")
    job = replace(asked, interface=interface).job()
    return {"text": standalone(job, interface, adapter_of(open_device()).backend, name)}, []


def perfetto_job(file: bytes) -> JobAnswer:
    """Export a recording's file to the Chrome/Perfetto format."""
    return {}, [perfetto(Trace.load(file)).encode()]


JOBS: dict[str, Callable[..., JobAnswer]] = {
    "record": record_job,
    "outcomes": outcomes_job,
    "fix": fix_job,
    "check": check_job,
    "open": open_job,
    "array": array_job,
    "standalone": standalone_job,
    "perfetto": perfetto_job,
}


def warm_up(adapter: str) -> None:
    """Run each kind of job once, so that everything loaded at first use is loaded while files can still be read."""
    inputs = {"numbers": {"fill": "random", "count": 8}, "drawn": {"fill": "random", "size": [8, 8]}}
    draft = pickle.loads(pickle.dumps(DraftJob({"source": _WARM_UP_KERNEL, "inputs": inputs})))
    for source in (_WARM_UP_KERNEL + "wrong", _WARM_UP_KERNEL):
        checked = check_job(replace(draft, draft=draft.draft | {"source": source}), untrusted=True)[0]
        json.dumps(checked, default=_plain)
    interface = Checked.of(checked).interface
    record_job(replace(draft, interface=interface), adapter, untrusted=True)
    outcomes_job([replace(draft, interface=interface).job()], adapter)
    for data in _files():
        ArrayFile("warming", data).words("")


def _files() -> list[bytes]:
    """Return a small array file, and a picture of each kind, of which the readers are loaded when first needed."""
    array, archive = io.BytesIO(), io.BytesIO()
    np.save(array, np.arange(4))
    np.savez_compressed(archive, numbers=np.arange(4))
    return [array.getvalue(), archive.getvalue(), *(encode(np.zeros((8, 8, 3), np.uint8), kind) for kind in FORMATS)]


def _plain(value: Any) -> Any:
    return value.item()  # NumPy's numbers
