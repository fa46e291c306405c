"""What a worker does with a job: run it under a watchdog, and pack what comes of it."""

import asyncio
import faulthandler
import os
import pickle
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from distributed import Worker

from splatscope.tracing.progress import progress_to

# One thread: a device meets one job at a time, always from the thread that made it.
_thread = ThreadPoolExecutor(1, thread_name_prefix="job")
_nowhere = open(os.devnull, "w")  # noqa: SIM115 - the watchdog writes there as the process ends


def ready() -> None:
    """Answers that this worker is alive."""


async def attempt(
    limit: float,
    function: Callable[..., Any],
    args: tuple,
    kwargs: dict[str, Any],
    channel: tuple[str, int] | None,
    dask_worker: Worker | None = None,
) -> bytes:
    """Call `function`; the pickled pair (result, None) or (None, exception). Past `limit` seconds the process ends.

    `channel` is the topic and the number under which somebody waits to report_later what the job is at.
    """
    loop = asyncio.get_running_loop()

    def on_progress(stage: int) -> None:
        loop.call_soon_threadsafe(dask_worker.log_event, channel[0], (channel[1], stage))

    return await loop.run_in_executor(_thread, _guarded, limit, function, args, kwargs, channel and on_progress)


def _guarded(
    limit: float, function: Callable[..., Any], args: tuple, kwargs: dict[str, Any], on_progress: Callable[[int], None] | None
) -> bytes:
    # A thread of the C runtime: it fires even while a driver call holds the GIL, and even when the server is gone.
    faulthandler.dump_traceback_later(limit, exit=True, file=_nowhere)
    try:
        with progress_to(on_progress):
            return pickle.dumps((function(*args, **kwargs), None))
    except BaseException as error:
        error.add_note("On the worker:\n" + traceback.format_exc())
        return _packed(error)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _packed(error: BaseException) -> bytes:
    """Of an exception that does not survive pickling, or that would end the page's process, the words remain."""
    try:
        packed = pickle.dumps((None, error))
        pickle.loads(packed)
        if isinstance(error, Exception):
            return packed
    except Exception:
        pass
    return pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")))
