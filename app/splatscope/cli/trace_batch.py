"""`splatscope trace --batch`: record many kernels, one per line of JSON."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from splatscope.api.record import record_on_worker
from splatscope.api.recording import Recording
from splatscope.api.workers import run_on_worker
from splatscope.cli.errors import CallError
from splatscope.gpu.device import open_device, prepare_for_recording
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check
from splatscope.tracing.time_limit import JOB_SECONDS

MOST_WORKERS = 8


def batch(file: Path) -> None:
    """Read one job per line, and print one result per line in the same order.

    Jobs run on workers, so a crash affects only its own job.

    Raises:
        CallError: The file cannot be read.
    """
    try:
        lines = [line for line in file.read_text().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise CallError(f"{file} cannot be read: {getattr(error, 'strerror', None) or 'it is not a text file'}.") from None
    with ThreadPoolExecutor(min(MOST_WORKERS, os.cpu_count() or 1)) as threads:
        for result in threads.map(_run_line, lines):
            print(json.dumps(result, allow_nan=False), flush=True)


def _run_line(line: str) -> dict[str, Any]:
    try:
        return record_on_worker(_job_of(json.loads(line)), "", JOB_SECONDS, False, _run_on_worker)
    except Exception as error:  # the error of a failed job goes into its own line
        message = (str(error).splitlines() or [""])[0]
        message = message or type(error).__name__
        return {"ok": False, "error": message, "buffers": {}, "plain": {}, "events": 0, "complete": False, "missed": [message],
                "functions": [], "stepped_over": [], "findings": []}  # fmt: skip


def _job_of(job: Any) -> KernelJob:
    """Return the dispatch that a line describes.

    Args:
        job: `file`, and optionally `entry`, `groups`, `include` (folders) and `buffers` (by name {stride, words}, where words are
            32-bit patterns).
    """
    if not isinstance(job, dict) or not isinstance(job.get("file"), str):
        raise ValueError('A job is an object with at least {"file": PATH}.')
    file = Path(job["file"]).resolve()
    x, y, z = (int(n) for n in (*job.get("groups", (1, 1, 1)), 1, 1)[:3])
    words = {name: np.array(buffer["words"], np.uint64).astype(np.uint32) for name, buffer in job.get("buffers", {}).items()}
    inputs = {name: array.view("V4") for name, array in words.items()}  # bits, whatever the parameter's type
    include = (*(Path(folder).resolve() for folder in job.get("include", ())), file.parent)
    return KernelJob(file.read_text(), file.name, job.get("entry", ""), (x, y, z), inputs=inputs, include=include)


def _run_on_worker(
    _task: object, job: KernelJob, _adapter: str, _between_groups: bool, _seconds: float, **options: Any
) -> dict[str, Any]:
    """Run a job of a batch where `record_on_worker` would record: the job's own line says all that there is to say."""
    return run_on_worker(run_batch_job, job, **options)


def run_batch_job(job: KernelJob) -> dict[str, Any]:
    """Record one job of `--batch`, and return the result that is printed. Runs on a worker."""
    prepare_for_recording()
    recording = record_and_check(open_device(), job)
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
