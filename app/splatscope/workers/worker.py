"""The code in a worker process: run a job under a watchdog and pickle its result or error."""

import asyncio
import faulthandler
import logging
import os
import pickle
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

from distributed import Worker

from splatscope.gpu import device
from splatscope.gpu.process_memory import is_too_large
from splatscope.tracing.progress import progress_to
from splatscope.workers.sandboxed_job import SandboxedJob
from splatscope.workers.scheduler import Turn

MOST_TIMES = 2.0  # times the memory with which a worker should be replaced, at which it is replaced although others wait

# One thread: a device runs one job at a time, always from the thread that opened it.
_thread = ThreadPoolExecutor(1, thread_name_prefix="job", initializer=device.silence_compiler)
_beside = ThreadPoolExecutor(thread_name_prefix="sandboxed job")  # these threads only wait for sandboxed processes
_sandboxed: dict[str, SandboxedJob] = {}  # by name, while they run
# A scheduler that has ended answers no heartbeat, and the worker ends for that: a traceback says no more.
logging.getLogger("distributed.worker").addFilter(lambda record: "during heartbeat" not in record.getMessage())
_devnull = os.open(os.devnull, os.O_WRONLY)  # the watchdog writes to it as the process ends


def ping() -> None:
    """Do nothing; the answer shows that this worker is alive."""


async def prepare() -> None:
    """Open the default device, so that the first job need not."""
    with suppress(Exception):  # the first job will report it
        await asyncio.get_running_loop().run_in_executor(_thread, device.open_device)


async def available() -> device.Available:
    """Return the devices that this worker can open, and its default device."""
    return await asyncio.get_running_loop().run_in_executor(_thread, device.available)


def stop_sandboxed(name: str) -> None:
    """Stop a sandboxed job of this worker, because others are waiting, or nobody is any more."""
    if name in _sandboxed:
        _sandboxed[name].stop()


async def run_job(
    limit: float,
    function: Callable[..., Any],
    args: tuple,
    kwargs: dict[str, Any],
    channel: tuple[str, int] | None,
    sandboxed: tuple[str, Turn] | None = None,
    *,
    dask_worker: Worker,
) -> tuple[bytes, int]:
    """Call `function`. Return the pickled pair (result, None) or (None, error), and how large this process is.

    That is 0, or 1 if it should be replaced as soon as nobody waits for a worker, or 2 if even earlier.

    Args:
        limit: Seconds after which the watchdog ends this process.
        function: The function to call.
        args: Its positional arguments.
        kwargs: Its keyword arguments.
        channel: The topic and the job's number for progress reports; None for no reports.
        sandboxed: The name and turn of a job that runs in a sandboxed process, beside this worker's others; None for one that runs
            here.
        dask_worker: Filled in by dask.
    """
    loop = asyncio.get_running_loop()

    def log_stage(topic: str, number: int, stage: int) -> None:
        loop.call_soon_threadsafe(dask_worker.log_event, topic, (number, stage))

    report = partial(log_stage, *channel) if channel else None
    if sandboxed:
        outcome = await loop.run_in_executor(_beside, _run_sandboxed, *sandboxed, function, args, kwargs, report)
    else:
        outcome = await loop.run_in_executor(_thread, _run_guarded, limit, function, args, kwargs, report)
    return outcome, sum(is_too_large(times=times) for times in (1, MOST_TIMES))


def _run_guarded(
    limit: float, function: Callable[..., Any], args: tuple, kwargs: dict[str, Any], on_progress: Callable[[int], None] | None
) -> bytes:
    # The watchdog is a native thread. It fires even while a driver call holds the GIL, and even if the server has ended.
    faulthandler.dump_traceback_later(limit, exit=True, file=_devnull)
    try:
        return _outcome(function, args, kwargs, on_progress)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _run_sandboxed(
    name: str,
    turn: Turn,
    function: Callable[..., Any],
    args: tuple,
    kwargs: dict[str, Any],
    on_progress: Callable[[int], None] | None,
) -> bytes:
    """Run a job that only waits for sandboxed processes, which have watchdogs of their own (`supervisor`)."""
    with SandboxedJob(turn) as _sandboxed[name]:
        try:
            return _outcome(function, args, kwargs, on_progress)
        finally:
            del _sandboxed[name]


def _outcome(function: Callable[..., Any], args: tuple, kwargs: dict[str, Any], on_progress: Callable[[int], None] | None) -> bytes:
    try:
        with progress_to(on_progress):
            return pickle.dumps((function(*args, **kwargs), None))
    except BaseException as error:
        error.add_note("On the worker:\n" + traceback.format_exc())
        return _pickle_error(error)


def _pickle_error(error: BaseException) -> bytes:
    """Pickle (None, error). An error that does not unpickle, or would end the client's process, becomes a RuntimeError."""
    try:
        pickled = pickle.dumps((None, error))
        pickle.loads(pickled)
        if isinstance(error, Exception):
            return pickled
    except Exception:
        pass
    return pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")))
