"""The worker processes of a script: a kernel that hangs or crashes costs a worker, not the script.

The script may be a notebook, or may lack `if __name__ == "__main__":`, and the workers of the pages' dask pool would run such a
script again. So these are plain child processes, and calls are sent to them as pickles.
"""

import atexit
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any, TypeVar

from splatscope.gpu.process_memory import is_too_large
from splatscope.processes import ChildStalled, ChildTimeout, die_with_parent, error_of, processor_seconds, start_module
from splatscope.tracing.progress import progress_to

LITTLE = 1 / 4  # of a processor: a worker that got less before its limit was starved by other processes
ENDING = 10.0  # seconds for a worker to end whose call has been given up
_Result = TypeVar("_Result")
_idle: defaultdict[str, list[subprocess.Popen]] = defaultdict(list)  # idle workers, by the kind of their calls
_lock = threading.Lock()
_starter = ThreadPoolExecutor(1, "splatscope-workers")  # starts all workers: Linux ends a worker with the thread that started it
_SIZE = struct.Struct("<Q")


def start_ahead(device: str) -> None:
    """Start a worker that opens a device, unless there is one, while the script prepares its first call of the kind `device`.

    Args:
        device: A name for `open_device`; "" for the default device.
    """
    with _lock:
        if not _idle[device]:
            _idle[device].append(_starter.submit(_start, device).result())


def run_on_worker(
    function: Callable[..., _Result],
    *args: Any,
    limit: float,
    kind: str = "",
    on_progress: Callable[[Any], None] | None = None,
    each: bool = False,
) -> _Result:
    """Call `function(*args)` in a worker process and return its result. Threads may call this concurrently; each gets a worker.

    Args:
        function: A module-level function whose arguments and result can be pickled.
        args: Its arguments.
        limit: Seconds after which the worker is killed. They include sending the arguments and receiving the result.
        kind: Calls of different kinds never share a process.
        on_progress: Called with what the function reports (`tracing.progress`): the number of each stage, by default. If it raises
            an error, the worker is killed.
        each: Whether the limit is that of each part from one report to the next, and not of the whole call.

    Raises:
        ChildTimeout: The call did not return in time. It is a ChildStalled if arguments or result were not transferred in full.
        ChildCrashed: A signal ended the worker.
        ChildError: The worker ended without an answer.
        Exception: Whatever the function raised.
    """
    with _lock:
        worker = _idle[kind].pop() if _idle[kind] else None
    if worker is not None and worker.poll() is not None:
        worker = _end(worker)
    if worker is None:
        worker = _starter.submit(_start).result()
    assert worker.stdin
    assert worker.stdout
    is_late, before, starved = threading.Event(), processor_seconds(worker.pid), threading.Event()

    def end() -> None:
        used = processor_seconds(worker.pid)
        if before is not None and used is not None and used - before < limit * LITTLE:
            starved.set()
        is_late.set()
        worker.kill()

    watchdog = _start_timer(limit, end)  # also unblocks a write or read that waits for the worker
    timeout_error = ChildStalled(f"the worker did not take all that it was sent within {limit:g} s")
    try:
        _send(worker.stdin, (pickle.dumps(function), args))
        tag = "progress"
        while tag == "progress":
            timeout_error = ChildTimeout(f"no answer within {limit:g} s")
            select.select([worker.stdout], [], [])
            if not is_late.is_set():
                timeout_error = ChildStalled(f"the worker sent only a part of its answer within {limit:g} s")
            tag, result = _receive(worker.stdout)
            if tag == "progress" and on_progress is not None:
                if each:
                    watchdog.cancel()
                on_progress(result)
                if each:
                    watchdog = _start_timer(limit, end)
    except (EOFError, BrokenPipeError):
        _end(worker)
        timeout_error.was_starved = starved.is_set()
        raise (timeout_error if is_late.is_set() else error_of(worker.returncode)) from None
    except BaseException:
        worker.terminate()  # a function may end what it has started
        with suppress(subprocess.TimeoutExpired):
            worker.wait(ENDING)
        worker.kill()
        _end(worker)
        raise
    finally:
        watchdog.cancel()
        watchdog.join()
    if is_late.is_set():  # the watchdog fired just after the answer arrived
        _end(worker)
    elif is_too_large(worker.pid):
        worker.kill()
        _end(worker)
    else:
        with _lock:
            _idle[kind].append(worker)
    if tag == "result":
        return result
    raise result


def _end(worker: subprocess.Popen) -> None:
    """Wait for a worker that has ended, or was killed, and close its pipes."""
    with worker:
        pass


def _start_timer(seconds: float, end: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(seconds, end)
    timer.daemon = True  # Ctrl-C may come before the caller has it, and nobody would cancel it
    timer.start()
    return timer


def _start(*device: str) -> subprocess.Popen:
    # Unbuffered, because `select` does not see data that a buffer already holds.
    return start_module(__name__, *device, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None, bufsize=0)


@atexit.register
def stop_workers() -> None:
    """End all idle workers."""
    with _lock:
        for workers in _idle.values():
            while workers:
                worker = workers.pop()
                worker.kill()
                _end(worker)


def _send(stream: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    left = memoryview(_SIZE.pack(len(data)) + data)
    while left:
        left = left[stream.write(left) :]
    stream.flush()


def _receive(stream: IO[bytes]) -> Any:
    """Return the next value.

    Raises:
        EOFError: The other process has ended.
    """
    (size,) = _SIZE.unpack(_read(stream, _SIZE.size))
    return pickle.loads(_read(stream, size))


def _read(stream: IO[bytes], size: int) -> bytearray:
    data = bytearray()
    while len(data) < size:
        part = stream.read(min(size - len(data), 1 << 20))
        if not part:
            raise EOFError
        data += part
    return data


def _open(device: str) -> None:
    """Do what all recordings begin with; what goes wrong is for the first call to report."""
    from splatscope.gpu.device import open_device, prepare_for_recording
    from splatscope.tracing import record_and_check  # noqa: F401

    prepare_for_recording()
    with suppress(Exception):
        open_device(device or None)


def _serve(*devices: str) -> None:
    """Answer calls until the script ends. Libraries print to standard error, since answers go through standard output."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the script, which ends its workers
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for device in devices:
        _open(device)
    while True:
        try:
            function, args = _receive(sys.stdin.buffer)
        except EOFError:
            return
        try:
            with progress_to(lambda stage: _send(answers, ("progress", stage))):
                answer = "result", pickle.loads(function)(*args)  # unpickled here, because its module may not load
        except BaseException as error:
            error.__cause__ = error.__context__ = None  # distributed makes pickle follow them, and a group of errors leads back
            answer = "error", error
        try:
            if answer[0] == "error":
                pickle.loads(pickle.dumps(answer))
            _send(answers, answer)
        except Exception:  # an exception that cannot be pickled
            _send(answers, ("error", RuntimeError(str(answer[1]))))


if __name__ == "__main__":
    _serve(*sys.argv[1:])
