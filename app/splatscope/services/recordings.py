"""Recordings for pages: made on a worker, packed for the browser, and cached by source, inputs and device."""

from collections.abc import Callable
from typing import Any

import numpy as np

from splatscope.gpu.reflection import Interface
from splatscope.recordings.packed import PackedRecording, refused_recording
from splatscope.services import sandbox_jobs
from splatscope.services.cache_key import recording_key
from splatscope.services.sandbox_jobs import Checked
from splatscope.tracing.cost import Cost
from splatscope.tracing.job import KernelJob
from splatscope.workers.pool import Pool
from splatscope.workers.sandbox import supervisor as sandbox
from splatscope.workers.sandbox.failure_messages import FILE_WORK
from splatscope.workers.sandbox.network_exposure import open_to_others
from splatscope.workers.sandbox.source_filter import refuse_job
from splatscope.workers.sandbox.supervisor import JobAnswer
from splatscope.workers.single_flight import SingleFlightCache

RECORD_LIMIT = 60.0  # seconds: a driver without a warm cache compiles a long kernel slowly
CHECK_LIMIT = 20.0  # seconds
MAX_CACHED = 256 * 2**20  # bytes of recordings in the server's cache


async def record_source(
    pool: Pool, job: KernelJob, adapter: str = "", *, trusted: bool = False, on_progress: Callable[[int], None] | None = None
) -> PackedRecording:
    """Record, check and pack a job on a worker. Equal source and inputs on one device are recorded once.

    Args:
        pool: The workers.
        job: The kernel and its inputs.
        adapter: A name for `open_device`; empty for the default device.
        trusted: Whether the source is the app's own. Other sources run in the sandbox.
        on_progress: Called with each stage of `tracing.progress`.

    Raises:
        WorkerError: The worker was lost or took too long.
        ValueError: The inputs do not fit the kernel.
    """
    if not trusted and (wrong := refuse_job(job)):
        return refused_recording(wrong, [])

    async def make() -> PackedRecording:
        meta, parts = await _work(pool, "record", (job, adapter), RECORD_LIMIT, trusted, on_progress, adapter)
        return PackedRecording(meta, *parts)

    return await _recordings.get(recording_key(job, adapter), make)


async def check_source(pool: Pool, job: KernelJob, *, trusted: bool = False) -> Checked:
    """Compile a job's source on a worker and return the kernel's interface, or what is wrong with the source.

    It is compiled in the sandbox, unless it is `trusted`. Raises WorkerError.
    """
    if not trusted and (wrong := refuse_job(job)):
        return Checked(None, wrong)
    return Checked.of((await _work(pool, "check", (job,), CHECK_LIMIT, trusted))[0])


async def source_costs(pool: Pool, job: KernelJob, *, trusted: bool = False) -> list[Cost]:
    """Return what it would cost to record each function of a source that compiles. Raises WorkerError."""
    answer, _ = await _work(pool, "costs", (job,), CHECK_LIMIT, trusted)
    return [Cost(**given) for given in answer["functions"]]


async def open_recording(pool: Pool, name: str, data: bytes) -> tuple[PackedRecording, KernelJob, dict[str, Any]]:
    """Open an uploaded recording. Return its packed form, the job it was made from, and the page's draft, {} if there is none.

    Raises:
        ValueError: The file is not a recording, or cannot be shown; the message says why in one line.
        WorkerError: The worker was lost or took too long.
    """
    answer, (packed, given) = await _work(pool, "open", (name, data), RECORD_LIMIT, trusted=False)
    inputs, at = {}, 0
    for key, size, dtype, shape in answer["inputs"]:
        inputs[key] = np.frombuffer(given[at : at + size], np.dtype(dtype)).reshape(shape)
        at += size
    about = answer["job"]
    where = tuple(about["groups"]), tuple(about["group"])
    job = KernelJob(about["source"], about["file"], about["entry"], *where, inputs=inputs, files=about["files"])
    return PackedRecording(answer["meta"], packed, data), job, answer["draft"]


async def python_file(pool: Pool, job: KernelJob, interface: Interface, name: str, *, trusted: bool = False) -> str:
    """Return a dispatch as a Python script, see `standalone_script`. Raises WorkerError, ValueError."""
    return (await _work(pool, "standalone", (job, interface, name), CHECK_LIMIT, trusted))[0]["text"]


async def perfetto_file(pool: Pool, file: bytes, *, trusted: bool = False) -> bytes:
    """Export a recording's file to the Chrome/Perfetto format. Raises WorkerError, ValueError."""
    return (await _work(pool, "perfetto", (file,), RECORD_LIMIT, trusted))[1][0]


async def _work(
    pool: Pool,
    name: str,
    arguments: tuple,
    limit: float,
    trusted: bool,
    on_progress: Callable[[int], None] | None = None,
    adapter: str = "",
) -> JobAnswer:
    where = {"adapter": adapter, "on_progress": on_progress, "file_work": FILE_WORK.get(name, "")}
    if trusted and not adapter:  # a worker has one device, and each sandboxed process its own
        return await pool.run(sandbox_jobs.JOBS[name], *arguments, limit=limit, shipped=name == "record", **where)
    asked = (sandbox_jobs.__name__, name, arguments, limit, open_to_others())
    return await pool.run(sandbox.run_sandboxed, *asked, limit=limit + sandbox.START_LIMIT, untrusted=True, **where)


# If thirty learners open the same page, it is recorded once.
_recordings = SingleFlightCache(MAX_CACHED, lambda packed: len(packed.data) + len(packed.file))
