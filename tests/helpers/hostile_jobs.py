"""Jobs for the sandbox: what a source could do that has taken over its process. Sandboxed processes import them by name.

A job that fills its folder waits when nothing was refused, so that others see what it has made.
"""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue

from splatscope.workers.sandbox.supervisor import JobAnswer

MAX_MEGABYTES = 1000
MAX_FILES = 50_000
DEPTH = 2500
SHOWN = 5.0  # seconds

_paths: SimpleQueue[str] = SimpleQueue()
_readable: SimpleQueue[bool] = SimpleQueue()


def fill() -> JobAnswer:
    """Write files of 100 MiB until Linux refuses, at most `MAX_MEGABYTES`."""
    written = 0
    with suppress(OSError):
        for number in range(MAX_MEGABYTES // 100):
            with open(f"f{number}", "wb", buffering=0) as file:
                for _ in range(100):
                    written += file.write(bytes(2**20)) >> 20
        time.sleep(SHOWN)
    return {"made": written}, []


def fill_unseen() -> JobAnswer:
    """Do the same with open files that have been removed."""
    written, files = 0, []
    with suppress(OSError):
        for number in range(MAX_MEGABYTES // 100):
            files.append(open(f"f{number}", "wb", buffering=0))  # noqa: SIM115
            os.unlink(f"f{number}")
            for _ in range(100):
                written += files[-1].write(bytes(2**20)) >> 20
        time.sleep(SHOWN)
    return {"made": written}, []


def litter() -> JobAnswer:
    """Create files until Linux refuses, at most `MAX_FILES`."""
    made = 0
    with suppress(OSError):
        for number in range(MAX_FILES):
            os.close(os.open(f"i{number}", os.O_CREAT | os.O_WRONLY))
            made += 1
        time.sleep(SHOWN)
    return {"made": made}, []


def nest() -> JobAnswer:
    """Create `DEPTH` folders in one another, and things that are hard to remove."""
    start, made = os.open(".", os.O_RDONLY), 0
    os.mkdir("closed", 0o000)
    os.mkdir("unlistable", 0o300)
    for name in ("0", "1", "unlistable/0"):
        os.mkdir(name)
        os.close(os.open(f"{name}/1", os.O_CREAT | os.O_WRONLY, 0o000))
    os.mkdir(b"\xff\n")
    with suppress(OSError):
        for _ in range(DEPTH):
            os.mkdir("a")
            os.chdir("a")
            made += 1
        os.close(os.open("deep", os.O_CREAT | os.O_WRONLY))
        time.sleep(SHOWN)
    os.chdir(start)
    os.close(start)
    return {"made": made}, []


def read_early(path: str) -> JobAnswer:
    """Return whether a thread can read a file that was started like a driver's, after the device was opened."""
    _paths.put(path)
    return {"read": _readable.get()}, []


def _read_for_others() -> None:
    while True:
        try:
            with open(_paths.get(), "rb") as file:
                file.read(1)
            _readable.put(True)
        except OSError:
            _readable.put(False)


def warm_up(adapter: str) -> None:
    """Start the thread of `read_early`."""
    threading.Thread(target=_read_for_others, daemon=True).start()


JOBS: dict[str, Callable[..., JobAnswer]] = {job.__name__: job for job in (fill, fill_unseen, litter, nest, read_early)}
