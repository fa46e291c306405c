"""Recordings for pages: made on a worker, packed for the browser, and cached by source, inputs and device."""

from collections.abc import Callable
from functools import partial
from typing import Any

from splatscope.recordings.packed import PackedRecording
from splatscope.services import sandbox_jobs
from splatscope.services.cache_key import recording_key
from splatscope.services.drafts.array_files import ArrayFile
from splatscope.services.drafts.draft import DraftJob
from splatscope.services.sandbox_jobs import Checked
from splatscope.tracing.job import KernelJob
from splatscope.workers.pool import Pool
from splatscope.workers.sandbox import supervisor as sandbox
from splatscope.workers.sandbox.failure_messages import FILE_WORK
from splatscope.workers.sandbox.supervisor import JobAnswer
from splatscope.workers.single_flight import SingleFlightCache

RECORD_LIMIT = 60.0  # seconds: a driver without a warm cache compiles a long kernel slowly
CHECK_LIMIT = 20.0  # seconds
MAX_FIXES = 4 * 2**20  # characters of sources with fixes
MAX_CACHED = 256 * 2**20  # bytes of recordings in the server's cache


async def record_source(
    pool: Pool,
    job: KernelJob | DraftJob,
    adapter: str = "",
    *,
    trusted: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> PackedRecording:
    """Record, check and pack a job on a worker. Equal jobs on one device are recorded once.

    Args:
        pool: The workers.
        job: The kernel and its inputs, or the draft that they are made from on the worker.
        adapter: A name for `open_device`; empty for the default device.
        trusted: Whether the source is the app's own. Other sources are filtered and run in the sandbox.
        on_progress: Called with each stage of `tracing.progress`.

    Raises:
        WorkerError: The worker was lost or took too long.
        ValueError: The inputs do not fit the kernel.
    """

    async def make() -> PackedRecording:
        meta, parts = await _work(pool, "record", (job, adapter, not trusted), RECORD_LIMIT, trusted, on_progress, adapter)
        return PackedRecording(meta, *parts)

    key = job.key(adapter) if isinstance(job, DraftJob) else recording_key(job, adapter)
    return await _recordings.get(key, make)


async def fix_source(pool: Pool, job: KernelJob | DraftJob, adapter: str = "", *, trusted: bool = False) -> str:
    """Return a job's source with a change that takes findings away, "" if none is found. Equal jobs are looked at once.

    For the arguments and errors, see `record_source`.
    """

    async def make() -> str:
        return (await _work(pool, "fix", (job, adapter, not trusted), RECORD_LIMIT, trusted, adapter=adapter))[0]["source"]

    return await _fixes.get(job.key(adapter) if isinstance(job, DraftJob) else recording_key(job, adapter), make)


async def check_source(pool: Pool, job: KernelJob | DraftJob, *, trusted: bool = False) -> Checked:
    """Compile a job's source on a worker and return the kernel's interface, or what is wrong with the source.

    It is filtered and compiled in the sandbox, unless it is `trusted`. Raises WorkerError.
    """
    return Checked.of((await _work(pool, "check", (job, not trusted), CHECK_LIMIT, trusted))[0])


async def open_recording(
    pool: Pool, name: str, data: bytes
) -> tuple[PackedRecording, dict[str, Any], dict[str, Any], dict[str, int]]:
    """Open an uploaded recording.

    Returns:
        Its packed form; the source, file, other files, entry point, groups and recorded group of its job by name; the page's
        draft, {} if there is none; and the size of each of its inputs in bytes.

    Raises:
        ValueError: The file is not a recording, or cannot be shown; the message says why in one line.
        WorkerError: The worker was lost or took too long.
    """
    answer, (packed,) = await _work(pool, "open", (name, data), RECORD_LIMIT, trusted=False)
    return PackedRecording(answer["meta"], packed, data), answer["job"], answer["draft"], answer["inputs"]


async def describe_array(pool: Pool, file: ArrayFile, name: str) -> str:
    """Return a description of the array that a file holds for an input. Raises ValueError, WorkerError."""
    return (await _work(pool, "array", (file, name), CHECK_LIMIT, trusted=False))[0]["words"]


async def python_file(pool: Pool, job: DraftJob, name: str, *, trusted: bool = False) -> str:
    """Return a dispatch as a Python script, see `standalone_script`. Raises WorkerError, ValueError."""
    return (await _work(pool, "standalone", (job, name, not trusted), CHECK_LIMIT, trusted))[0]["text"]


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
    run = partial(pool.run, adapter=adapter, on_progress=on_progress, file_work=FILE_WORK.get(name, ""))
    if trusted and not adapter:  # a worker has one device, and each sandboxed process its own
        return await run(sandbox_jobs.JOBS[name], *arguments, limit=limit, shipped=name == "record")
    sandbox_arguments = (sandbox_jobs.__name__, name, arguments, limit)
    return await run(sandbox.run_sandboxed, *sandbox_arguments, limit=limit + sandbox.START_LIMIT, untrusted=True)


# If thirty learners open the same page, it is recorded once.
_recordings = SingleFlightCache(MAX_CACHED, lambda packed: len(packed.data) + len(packed.file))
_fixes = SingleFlightCache(MAX_FIXES, lambda source: max(1, len(source)))
