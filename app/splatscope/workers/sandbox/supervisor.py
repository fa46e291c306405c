"""The worker's side of the sandbox: processes that Linux keeps from all but their own folder, for sources that came from a page.

A worker asks, and never unpickles what comes back. A process that ran a kernel is not used again, so that what the kernel may have
done to it harms its author alone; the next is made ready meanwhile. What goes on inside is in `confined`.
"""

import functools
import json
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from splatscope.gpu.device import DeviceError
from splatscope.tracing.progress import STAGES, report_progress
from splatscope.workers.connection import JobTimeout, WorkerError, WorkerLost
from splatscope.workers.sandbox import confinement as confine

Answer = tuple[dict[str, Any], list[bytes]]  # what JSON can say, and bytes beside it

START_LIMIT = 60.0  # seconds until a process has its device open and all loaded
MOST_CHECKS = 50  # compilations in one process, none of which runs anything
MOST_HEAD = 2**24  # bytes of an answer's plain part
MOST_PART = 2**28
MOST_PARTS = 4

_KEPT = ("PATH", "LANG", "TZ", "LD_LIBRARY_PATH", "XDG_DATA_DIRS", "PYTHONPATH", "CUDA_PATH", "SPLATSCOPE_DEVICE")
_KEPT_FAMILIES = ("LC_", "VK_", "MESA_", "LP_", "GALLIVM_", "NVIDIA_", "CUDA_VISIBLE_", "__GLX_", "__EGL_")
_NO_START = "The sandbox for sources from pages does not start: `splatscope doctor` may say why."
_CRASHED = "The compiler crashed on this source: undo what was written last, or nest it less deeply."
_KERNEL_CRASHED = "The kernel crashed the process it ran in. Look for a write out of bounds, or for arrays of great size."
_SLOW = "The compiler took longer than {:g} s and was stopped. Look for macros, generics or constants that grow without end."
_KERNEL_SLOW = "The kernel took longer than {:g} s to compile and run, and was stopped. Give it less to do."


def work(name: str, function: Callable[..., Answer], arguments: tuple[Any, ...], limit: float, exposed: bool) -> Answer:
    """Do one of `sandbox_jobs.JOBS` on a page's source: inside, or here where no process can be confined and nobody else comes.

    Raises:
        WorkerLost: the process crashed; JobTimeout: it was ended after `limit` seconds; ValueError, DeviceError: as the work
        raised them; WorkerError: anything else it raised, or there is no sandbox and the server is `exposed` to others.
    """
    why = confine.why_not()
    if not why:
        return _sandbox().ask(name, arguments, limit)
    if exposed:
        raise WorkerError(
            "Edited kernels do not run here: others can reach this server, and "
            f"{why}. Serve from Linux, or with --address localhost; shipped kernels run."
        )
    return function(*arguments)


def prepare() -> None:
    """Have a process ready before the first source comes."""
    if not confine.why_not():
        _sandbox().prepare("")


@functools.cache
def _sandbox() -> "Sandbox":
    return Sandbox()


class Sandbox:
    """Confined processes, one at work at a time."""

    def __init__(self) -> None:
        self._control: socket.socket | None = None  # to the process that forks the others
        self._cells: dict[str, Cell] = {}  # by adapter

    def prepare(self, adapter: str) -> None:
        if adapter in self._cells and self._cells[adapter].gone:
            self._cells.pop(adapter).end()
        if adapter not in self._cells:
            self._cells[adapter] = self._fork(adapter)

    def ask(self, name: str, arguments: tuple[Any, ...], limit: float) -> Answer:
        adapter = arguments[1] if name == "record" else ""
        self.prepare(adapter)
        cell = self._cells.pop(adapter)
        keep = False
        try:
            cell.wait_until_ready()
            answer = cell.ask(name, arguments, limit)
            keep = name != "record" and cell.checks < MOST_CHECKS
            return answer
        finally:
            if keep:
                self._cells[adapter] = cell
            else:
                cell.end()
                self.prepare("")

    def _fork(self, adapter: str) -> "Cell":
        for _ in range(2):  # the forking process may have gone
            self._control = self._control or _start()
            ours, theirs = socket.socketpair()
            with ours, theirs:
                try:
                    socket.send_fds(self._control, [(adapter or " ").encode()], [theirs.fileno()])
                    process = int.from_bytes(self._control.recv(4), "little")
                    return Cell(os.pidfd_open(process), Connection(ours.detach()))
                except OSError:
                    self._control.close()
                    self._control = None
        raise WorkerError(_NO_START)


class Cell:
    """One confined process as its worker sees it."""

    def __init__(self, process: int, connection: Connection) -> None:
        self._process, self._connection = process, connection
        self._ready = False
        self.checks = 0

    @property
    def gone(self) -> bool:
        return bool(select.select([self._process], [], [], 0)[0])

    def wait_until_ready(self) -> None:
        if self._ready:
            return
        try:
            self._answer(START_LIMIT)
        except (EOFError, OSError, RecursionError) as error:
            raise WorkerError(_NO_START) from error
        self._ready = True

    def ask(self, name: str, arguments: tuple[Any, ...], limit: float) -> Answer:
        self.checks += 1
        began = time.monotonic()
        try:
            self._connection.send_bytes(pickle.dumps((name, arguments)))
            return self._answer(limit)
        except (EOFError, OSError, RecursionError) as lost:
            runs = name == "record"
            if time.monotonic() - began >= limit:
                raise JobTimeout((_KERNEL_SLOW if runs else _SLOW).format(limit)) from lost
            raise WorkerLost(_KERNEL_CRASHED if runs else _CRASHED) from lost

    def _answer(self, limit: float) -> Answer:
        """What it says, or what it says it raised. OSError, EOFError, RecursionError where it says nothing that makes sense."""
        watch = threading.Timer(limit, self._kill)
        watch.start()
        try:
            head = self._head()
            match head:
                case {"answer": dict(answer), "parts": int(count)} if 0 <= count <= MOST_PARTS:
                    return answer, [self._connection.recv_bytes(MOST_PART) for _ in range(count)]
        finally:
            watch.cancel()
            watch.join()
        match head:
            case {"raised": str(kind), "message": str(message)}:
                known = {"ValueError": ValueError, "InputError": ValueError, "DeviceError": DeviceError}
                raise known.get(kind, WorkerError)(message[:500])
        raise EOFError("it does not keep to the protocol")

    def _head(self) -> Any:
        """The plain part of what it says at last; stages it says before go to whoever listens."""
        for _ in STAGES:
            head = _read(self._connection.recv_bytes(MOST_HEAD))
            match head:
                case {"stage": int(stage)} if 0 <= stage < len(STAGES):
                    report_progress(stage)
                case _:
                    return head
        return _read(self._connection.recv_bytes(MOST_HEAD))

    def end(self) -> None:
        self._kill()
        self._connection.close()
        os.close(self._process)

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._process, signal.SIGKILL)


def _read(words: bytes) -> Any:
    try:
        return json.loads(words)
    except ValueError:
        raise EOFError("it does not keep to the protocol") from None


def _start() -> socket.socket:
    """The process that forks the others: it holds nothing of this one but a socket, whose other end this returns."""
    ours, theirs = socket.socketpair()
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_FAMILIES)}
    # One thread, or it could not fork. The driver's optimiser takes most of the time of a recording, and changes no result.
    bare = {"GALLIVM_PERF": "nopt"} | kept | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with theirs:
        subprocess.Popen(
            [sys.executable, "-P", "-m", "splatscope.workers.sandbox.child", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=bare,
            start_new_session=True,
        )
    return ours
