"""Recordings for pages: made on a worker, packed for the browser, kept for whoever asks for the same."""

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
from splatscope.workers.sandbox.exposure import open_to_others
from splatscope.workers.sandbox.source_filter import refuse
from splatscope.workers.sandbox.supervisor import Answer
from splatscope.workers.single_flight import SingleFlightCache

RECORD_LIMIT = 60.0  # seconds: a cold driver compiles a long kernel for many
CHECK_LIMIT = 20.0
RECORDS = 400_000  # of a page's recording: 6 MB on the device
MOST_KEPT = 256 * 2**20  # bytes of recordings that the server keeps


async def record_source(
    pool: Pool, job: KernelJob, adapter: str = "", *, trusted: bool = False, on_progress: Callable[[int], None] | None = None
) -> PackedRecording:
    """Record, sanitize and pack on a worker. The same source and inputs on the same device are recorded once.

    `adapter` is what `open_device` takes; empty for the machine's own choice. A source that is not `trusted`, as the app's own
    are whoever chose the inputs, is worked on in the sandbox. `on_progress` is given each stage of `tracing.progress`.

    Raises:
        WorkerError: the worker was lost or ran too long; ValueError: the inputs do not fit.
    """
    if not trusted and (wrong := refuse(job.source)):
        return refused_recording(wrong, [])

    async def make() -> PackedRecording:
        meta, parts = await _work(pool, "record", (job, adapter), RECORD_LIMIT, trusted, on_progress)
        return PackedRecording(meta, *parts)

    return await _recordings.get(recording_key(job, adapter), make)


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
    pool: Pool, name: str, arguments: tuple, limit: float, trusted: bool, on_progress: Callable[[int], None] | None = None
) -> Answer:
    if trusted:
        return await pool.run(sandbox_jobs.JOBS[name], *arguments, limit=limit, on_progress=on_progress)
    asked = (sandbox_jobs.__name__, name, arguments, limit, open_to_others())
    return await pool.run(sandbox.run_job, *asked, limit=limit + sandbox.START_LIMIT, untrusted=True, on_progress=on_progress)


_recordings = SingleFlightCache(
    MOST_KEPT, lambda packed: len(packed.data) + len(packed.file)
)  # thirty learners who open one page cost one run
