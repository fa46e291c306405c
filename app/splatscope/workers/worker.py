"""The code in a worker process: run a job under a watchdog and pickle its result or error."""

import asyncio
import faulthandler
import os
import pickle
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from distributed import Worker

from splatscope.gpu import device
from splatscope.gpu.process_memory import is_too_large
from splatscope.tracing.progress import progress_to

# One thread: a device runs one job at a time, always from the thread that opened it.
_thread = ThreadPoolExecutor(1, thread_name_prefix="job", initializer=device.silence_compiler)
_devnull = open(os.devnull, "w")  # noqa: SIM115 - the watchdog writes to it as the process ends


def ping() -> None:
    """Do nothing; the answer shows that this worker is alive."""


async def available() -> device.Available:
    """Return the devices that this worker can open, and its default device."""
    return await asyncio.get_running_loop().run_in_executor(_thread, device.available)


def stop_sandboxed() -> None:
    """Stop this worker's sandboxed job, because others are waiting."""
    if supervisor := sys.modules.get("splatscope.workers.sandbox.supervisor"):
        supervisor.stop_running()


async def run_job(
    limit: float,
    function: Callable[..., Any],
    args: tuple,
    kwargs: dict[str, Any],
    channel: tuple[str, int] | None,
    dask_worker: Worker | None = None,
) -> tuple[bytes, bool]:
    """Call `function`. Return the pickled pair (result, None) or (None, error), and whether this process has grown too large.

    Args:
        limit: Seconds after which the watchdog ends this process.
        function: The function to call.
        args: Its positional arguments.
        kwargs: Its keyword arguments.
        channel: The topic and the job's number for progress reports; None for no reports.
        dask_worker: Filled in by dask.
    """
    loop = asyncio.get_running_loop()

    def on_progress(stage: int) -> None:
        loop.call_soon_threadsafe(dask_worker.log_event, channel[0], (channel[1], stage))

    outcome = await loop.run_in_executor(_thread, _run_guarded, limit, function, args, kwargs, channel and on_progress)
    return outcome, is_too_large()


def _run_guarded(
    limit: float, function: Callable[..., Any], args: tuple, kwargs: dict[str, Any], on_progress: Callable[[int], None] | None
) -> bytes:
    # The watchdog is a native thread. It fires even while a driver call holds the GIL, and even if the server has ended.
    faulthandler.dump_traceback_later(limit, exit=True, file=_devnull)
    try:
        with progress_to(on_progress):
            return pickle.dumps((function(*args, **kwargs), None))
    except BaseException as error:
        error.add_note("On the worker:\n" + traceback.format_exc())
        return _pickle_error(error)
    finally:
        faulthandler.cancel_dump_traceback_later()


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
