"""Recordings for pages: made on a worker, packed for the browser, kept for whoever asks for the same."""

import functools
import hashlib
import math
import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import slangpy as spy

from splatscope.gpu.device import adapter_of, open_device
from splatscope.gpu.kernel import CompileError
from splatscope.gpu.reflection import Interface, reflect
from splatscope.recordings.packed import PackedRecording
from splatscope.recordings.recording_file import perfetto, save
from splatscope.recordings.standalone_script import standalone
from splatscope.recordings.untrusted import open_job
from splatscope.recordings.wire import pack
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.checks.sanitize import races_between_groups, sanitize
from splatscope.tracing.cost import Cost, costs
from splatscope.tracing.job import KernelJob
from splatscope.tracing.progress import SEARCHING, progress_to, report_progress
from splatscope.tracing.recording import Recording, record
from splatscope.workers.pool import Pool
from splatscope.workers.sandbox import supervisor as sandbox
from splatscope.workers.sandbox.exposure import open_to_others
from splatscope.workers.sandbox.source_filter import refuse
from splatscope.workers.sandbox.supervisor import Answer
from splatscope.workers.single_flight import SingleFlightCache

RECORD_LIMIT = 60.0  # seconds: a cold driver compiles a long kernel for many
CHECK_LIMIT = 20.0
RECORDS = 400_000  # of a page's recording: 6 MB on the device
MOST_KEPT = 256 * 2**20  # bytes of recordings that the server keeps


@dataclass(frozen=True)
class Diagnostic:
    """What the compiler says of one place. Lines and columns count from 1; `end` is the column after the last."""

    line: int
    column: int
    end: int
    severity: str  # "error" or "warning"
    message: str


@dataclass(frozen=True)
class Checked:
    """What a compilation without a run says: the interface, or the first error on one line; and all diagnostics."""

    interface: Interface | None
    error: str = ""
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @classmethod
    def of(cls, plain: dict[str, Any]) -> "Checked":
        """From what `asdict` and JSON made of it."""
        interface = plain["interface"] and Interface.of(plain["interface"])
        return cls(interface, plain["error"], [Diagnostic(**found) for found in plain["diagnostics"]])


async def record_source(
    pool: Pool, job: KernelJob, adapter: str = "", *, trusted: bool = False, on_progress: Callable[[int], None] | None = None
) -> PackedRecording:
    """Record, sanitize and pack on a worker. The same source and inputs on the same device are recorded once.

    `adapter` is what `open_device` takes; empty for the machine's own choice. A source that is not `trusted`, as the app's own
    are whoever chose the inputs, is worked on in the sandbox. `on_progress` hears what the recording is at, see tracing.stages.

    Raises:
        WorkerError: the worker was lost or ran too long; ValueError: the inputs do not fit.
    """
    if not trusted and (wrong := refuse(job.source)):
        return PackedRecording({"error": wrong, "diagnostics": []})

    async def make() -> PackedRecording:
        meta, parts = await _work(pool, "record", (job, adapter), RECORD_LIMIT, trusted, on_progress)
        return PackedRecording(meta, *parts)

    return await _recordings.once(_key(job, adapter), make)


async def check_source(pool: Pool, source: str, file: str = "kernel.slang", entry: str = "", *, trusted: bool = False) -> Checked:
    """Compile on a worker and read the kernel's interface. What the compiler refuses is in the result, not raised.

    In the sandbox, unless `trusted`. Raises WorkerError like `record_source`.
    """
    if not trusted and (wrong := refuse(source)):
        return Checked(None, wrong)
    return Checked.of((await _work(pool, "check", (source, file, entry), CHECK_LIMIT, trusted))[0])


async def source_costs(pool: Pool, source: str, entry: str = "", *, trusted: bool = False) -> list[Cost]:
    """What it would cost to record each of the kernel's functions; of a source that compiles. Raises WorkerError."""
    answer, _ = await _work(pool, "costs", (source, entry), CHECK_LIMIT, trusted)
    return [Cost(**given) for given in answer["functions"]]


async def open_recording(pool: Pool, name: str, data: bytes) -> tuple[PackedRecording, KernelJob, dict[str, Any]]:
    """A file that a browser brought: what to show, the job it was made from, and the page's draft, {} where it holds none.

    Raises:
        ValueError: it is no recording, or one that cannot be shown, in one line. WorkerError.
    """
    answer, (packed, given) = await _work(pool, "open", (name, data), RECORD_LIMIT, trusted=False)
    inputs, at = {}, 0
    for buffer, size in answer["inputs"]:
        inputs[buffer] = np.frombuffer(given[at : at + size], np.uint8)
        at += size
    about = answer["job"]
    job = KernelJob(about["source"], about["file"], about["entry"], tuple(about["groups"]), tuple(about["group"]), inputs)
    return PackedRecording(answer["meta"], packed, data), job, answer["draft"]


async def python_file(pool: Pool, job: KernelJob, interface: Interface, name: str, *, trusted: bool = False) -> str:
    """The text of `standalone.standalone`. Raises WorkerError, ValueError."""
    return (await _work(pool, "standalone", (job, interface, name), CHECK_LIMIT, trusted))[0]["text"]


async def perfetto_file(pool: Pool, file: bytes, *, trusted: bool = False) -> bytes:
    """The Chrome/Perfetto form of a recording's file. Raises WorkerError, ValueError."""
    return (await _work(pool, "perfetto", (file,), RECORD_LIMIT, trusted))[1][0]


async def _work(
    pool: Pool, work: str, arguments: tuple, limit: float, trusted: bool, on_progress: Callable[[int], None] | None = None
) -> Answer:
    if trusted:
        return await pool.run(WORKS[work], *arguments, limit=limit, on_progress=on_progress)
    inside = (work, WORKS[work], arguments, limit, open_to_others())
    return await pool.run(sandbox.work, *inside, limit=limit + sandbox.START_LIMIT, untrusted=True, on_progress=on_progress)


_recordings = SingleFlightCache(
    MOST_KEPT, lambda packed: len(packed.data) + len(packed.file)
)  # thirty learners who open one page cost one run


def _key(job: KernelJob, adapter: str = "") -> str:
    """A hash of all that a recording follows from, the device that was asked for included."""
    digest = hashlib.sha256()
    small = (job.file, job.entry, job.groups, job.group, job.include, sorted(job.constants.items()), job.records, job.loop_budget)
    small += (job.functions, adapter)
    for part in (job.source, repr(small), os.environ.get("SPLATSCOPE_DEVICE", ""), os.environ.get("SPLATSCOPE_SCHEDULER", "")):
        digest.update(hashlib.sha256(part.encode()).digest())
    for name, array in sorted(job.inputs.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


# What follows runs on a worker.


def record_job(job: KernelJob, adapter: str = "") -> Answer:
    """`PackedRecording` in plain parts, which is how it leaves the sandbox."""
    device = open_device(adapter or None)
    recording, _, packed = record_and_pack(device, job, between_groups=True)
    if recording is None:
        return packed.meta, []
    return packed.meta, [packed.data, save(recording, job, _interface(device, job.source, job.file, job.entry).buffers)]


def check_job(source: str, file: str, entry: str) -> Answer:
    """`Checked` in plain parts."""
    return asdict(_check(source, file, entry)), []


def costs_job(source: str, entry: str) -> Answer:
    """`Cost` for each function, in plain parts."""
    return {"functions": [asdict(cost) for cost in costs(source, entry=entry)]}, []


def standalone_job(job: KernelJob, interface: Interface, name: str) -> Answer:
    return {"text": standalone(job, interface, adapter_of(open_device()).backend, name)}, []


def perfetto_job(file: bytes) -> Answer:
    return {}, [perfetto(file)]


WORKS = {
    "record": record_job,
    "check": check_job,
    "costs": costs_job,
    "open": open_job,
    "standalone": standalone_job,
    "perfetto": perfetto_job,
}


def record_and_pack(
    device: spy.Device, job: KernelJob, *, between_groups: bool = False
) -> tuple[Recording | None, list[Finding], PackedRecording]:
    """The recording and its findings with the packed form, which alone goes to the browser; None where it does not compile.

    `between_groups` looks for races between workgroups as well, in another run that records the buffers of them all.
    """
    try:
        interface = _interface(device, job.source, job.file, job.entry)
        recording = record(device, job)
    except CompileError as error:
        found = diagnostics_of(error.diagnostics, job.source, job.file)
        return None, [], PackedRecording({"error": _line(error, found, job.file), "diagnostics": [vars(d) for d in found]})
    report_progress(SEARCHING)
    findings = sanitize(recording.trace)
    if between_groups and math.prod(job.groups) > 1:
        wide = _between_groups(device, job)
        findings += wide or []
        recording.trace.header["between_groups"] = wide is not None
    data = pack(recording, findings, job, interface.buffers)
    trace = recording.trace
    digest = hashlib.sha256(_key(job).encode() + data).hexdigest()[:16]
    meta = {
        "recording": digest,
        "adapter": adapter_of(device).short_name,
        "adapter_words": adapter_of(device).name,
        "events": len(trace),
        "threads": trace.header["threads"],
        "truncated": trace.header["truncated"],
        "same_as_plain": recording.same_as_plain,
        "stepped_over": recording.stepped_over,
        "findings": [finding.kind for finding in findings],
    }
    return recording, findings, PackedRecording(meta, data)


def _between_groups(device: spy.Device, job: KernelJob) -> list[Finding] | None:
    """Races between workgroups, which have no moment in the recording of one; None where there are too many threads to look."""
    try:
        with progress_to(None):
            trace = record(device, replace(job, all_groups=True)).trace
    except ValueError:
        return None
    return [replace(finding, events=[]) for finding in races_between_groups(trace)]


_interface = functools.lru_cache(maxsize=64)(reflect)  # the same kernel with other inputs asks for the same


def _check(source: str, file: str, entry: str) -> Checked:
    try:
        return Checked(reflect(open_device(), source, file, entry))
    except CompileError as error:
        found = diagnostics_of(error.diagnostics, source, file)
        return Checked(None, _line(error, found, file), found)


def _line(error: CompileError, found: list[Diagnostic], file: str) -> str:
    first = next((d for d in found if d.severity == "error"), None)
    return f"{file}:{first.line}:{first.column}: {first.message}" if first else str(error)


_HEAD = re.compile(r"^(error|warning)\[\w+\]: (.+)$", re.MULTILINE)
_PLACE = re.compile(r"^\s*--> (\S+?):(\d+):(\d+)\s*$", re.MULTILINE)
_MARK = re.compile(r"^(\d+ )\| ?(.*)\n\s*\| ?\s*(\^+)(?: (.+?)\.?)?$", re.MULTILINE)


def diagnostics_of(words: str, source: str, file: str) -> list[Diagnostic]:
    """Slang's several lines for each, as places in `source`. Those of other files stand at line 1, with the file's name."""
    heads = list(_HEAD.finditer(words))
    lines, found = source.split("\n"), []
    ends = [head.start() for head in heads[1:]] + [len(words)]
    for head, end in zip(heads, ends, strict=False):
        block = words[head.start() : end]
        place, mark = _PLACE.search(block), _MARK.search(block)
        if place is None:
            continue
        name, line, column = place[1].rpartition("/")[2], int(place[2]), int(place[3])
        message = ((mark and mark[4]) or head[2]).strip()
        if name != file:
            found.append(Diagnostic(1, 1, 2, head[1], f"{name}:{line}: {message}"))
            continue
        line = _true_line(line, mark[2] if mark else "", lines)
        found.append(Diagnostic(line, column, column + (len(mark[3]) if mark else 1), head[1], message))
    return found


def _true_line(line: int, shown: str, lines: list[str]) -> int:
    """SlangPy puts a line of its own before a source: the line that Slang quotes tells whether it did."""

    def quotes(number: int) -> bool:
        return 1 <= number <= len(lines) and lines[number - 1].strip() == shown.strip()

    moved = line - 1 if shown and quotes(line - 1) and not quotes(line) else line
    return min(max(1, moved), len(lines))
