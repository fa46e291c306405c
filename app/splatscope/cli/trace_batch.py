"""`splatscope trace --batch`: record many kernels, one per line of JSON."""

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np

from splatscope.api.recording import Recording
from splatscope.cli.errors import CallError
from splatscope.gpu.device import open_device, prepare_for_recording
from splatscope.slang.program import Program
from splatscope.tracing.cost import endless_loops
from splatscope.tracing.job import CRASHED, KernelJob
from splatscope.tracing.record_and_check import record_and_check
from splatscope.tracing.retries import Attempt
from splatscope.tracing.time_limit import JOB_SECONDS


def batch(file: Path) -> None:
    """Read one job per line, and print one result per line in the same order.

    Jobs run on workers, so a crash affects only its own job.

    Raises:
        CallError: The file cannot be read.
    """
    from splatscope.workers.pool import Pool

    try:
        lines = [line for line in file.read_text().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise CallError(f"{file} cannot be read: {getattr(error, 'strerror', None) or 'it is not a text file'}.") from None
    prepare_for_recording()

    async def run_all() -> None:
        pool = Pool()
        pool.start()
        try:
            tasks = [asyncio.create_task(_run_line(pool, line)) for line in lines]
            for task in tasks:
                print(json.dumps(await task, allow_nan=False), flush=True)
        finally:
            await pool.close()

    asyncio.run(run_all())


async def _run_line(pool: Any, line: str) -> dict[str, Any]:
    try:
        job = json.loads(line)
        if not isinstance(job, dict) or not isinstance(job.get("file"), str):
            raise ValueError('A job is an object with at least {"file": PATH}.')
        job["file"] = str(Path(job["file"]).resolve())  # a worker may have another working directory
        job["include"] = [str(Path(folder).resolve()) for folder in job.get("include", ())]
        return await _recorded(pool, job)
    except Exception as error:  # the error of a failed job goes into its own line
        message = (str(error).splitlines() or [""])[0]
        message = message or type(error).__name__
        return {"ok": False, "error": message, "buffers": {}, "plain": {}, "events": 0, "complete": False, "missed": [message],
                "functions": [], "stepped_over": [], "findings": []}  # fmt: skip


async def _recorded(pool: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Record a whole job, or as much of it as the compiler and the driver survive."""
    from splatscope.workers.connection import JobTimeout, WorkerLost

    attempt = Attempt(JOB_SECONDS)
    while True:
        try:
            return await pool.run(run_batch_job, job, attempt.scope, attempt.reason, limit=attempt.limit)
        except (WorkerLost, JobTimeout) as error:
            is_late = isinstance(error, JobTimeout)
            if (following := attempt.after(is_late=is_late, may_end=is_late and not _has_unbounded_loop(job))) is None:
                raise
            attempt = following


def _has_unbounded_loop(job: dict[str, Any]) -> bool:
    """Return whether a job's kernel has a loop that only the time limit ends."""
    file = Path(job["file"])
    return bool(endless_loops(Program.read(file.read_text(), file.name, (*map(Path, job.get("include", ())), file.parent))))


def run_batch_job(job: dict[str, Any], scope: str = "all", reason: str = CRASHED) -> dict[str, Any]:
    """Record one job of `--batch`. Runs on a worker.

    Args:
        job: `file`, and optionally `entry`, `groups`, `include` (folders) and `buffers` (by name {stride, words}, where words are
            32-bit patterns).
        scope: How much of it to record, one of INSTRUMENT_SCOPES.
        reason: Why the rest is not recorded.
    """
    prepare_for_recording()
    file = Path(job["file"])
    x, y, z = (int(n) for n in (*job.get("groups", (1, 1, 1)), 1, 1)[:3])
    words = {name: np.array(buffer["words"], np.uint64).astype(np.uint32) for name, buffer in job.get("buffers", {}).items()}
    inputs = {name: array.view("V4") for name, array in words.items()}  # bits, whatever the parameter's type
    include = (*map(Path, job.get("include", ())), file.resolve().parent)
    kernel_job = KernelJob(
        file.read_text(),
        file.name,
        job.get("entry", ""),
        (x, y, z),
        inputs=inputs,
        include=include,
        instrument_scope=scope,
        scope_reason=reason,
    )
    recording = record_and_check(open_device(), kernel_job)
    plain, api_recording = recording.plain or {}, Recording(recording)
    return {
        "ok": True,
        "buffers": {name: words.tolist() for name, words in recording.outputs.items()},
        "plain": {name: words.tolist() for name, words in plain.items()},
        "events": len(recording.trace),
        "complete": api_recording.complete,
        "missed": api_recording.missed,
        "functions": recording.functions,
        "stepped_over": [{"function": name, "reason": why} for name, why in recording.stepped_over.items()],
        "findings": [finding.as_dict() for finding in recording.findings],
        "error": None,
    }
