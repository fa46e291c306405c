"""The worker's side of the sandbox: it starts confined processes, asks them for jobs, and ends those that hang.

Linux keeps a confined process from all but its own folder (`landlock`, `seccomp`, `limits`); what goes on inside is in `child`.
A worker never unpickles what comes back. A process that ran a kernel is not used again, so that what the kernel may have done to
it harms its author alone; the next one is started meanwhile.
"""

import functools
import importlib
import json
import os
import pickle
import select
import signal
import socket
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from splatscope.gpu.device import DeviceError
from splatscope.processes import start_module
from splatscope.tracing.progress import STAGES, report_progress
from splatscope.workers.connection import JobTimeout, WorkerError, WorkerLost
from splatscope.workers.sandbox.confinement import missing_support

Answer = tuple[dict[str, Any], list[bytes]]
"""What a job answers: what JSON can say, and bytes beside it."""

START_LIMIT = 60.0  # seconds until a process has its device open and all code loaded
MAX_CHECKS = 50  # compilations in one process, none of which runs anything
MAX_HEAD = 2**24  # bytes of an answer's JSON
MAX_PART = 2**28  # bytes
MAX_PARTS = 4

_VARIABLES = ("PATH", "LANG", "TZ", "LD_LIBRARY_PATH", "XDG_DATA_DIRS", "PYTHONPATH", "CUDA_PATH", "SPLATSCOPE_DEVICE")
_VARIABLE_FAMILIES = ("LC_", "VK_", "MESA_", "LP_", "GALLIVM_", "NVIDIA_", "CUDA_VISIBLE_", "__GLX_", "__EGL_")
_NO_START = "The sandbox for sources from pages does not start: `splatscope doctor` may say why."
_COMPILER_CRASHED = "The compiler crashed on this source: undo what was written last, or nest it less deeply."
_KERNEL_CRASHED = "The kernel crashed the process it ran in. Look for a write out of bounds, or for arrays of great size."
_COMPILER_SLOW = (
    "The compiler took longer than {:g} s and was stopped. Look for macros, generics or constants that grow without end."
)
_KERNEL_SLOW = "The kernel took longer than {:g} s to compile and run, and was stopped. Give it less to do."


def run_job(jobs: str, name: str, arguments: tuple[Any, ...], limit: float, exposed: bool) -> Answer:
    """Do a job on a page's source: confined, or in this process if the system cannot confine one and only its user can ask.

    Args:
        jobs: The name of a module with `JOBS` and `warm_up`, see `child`.
        name: Of `JOBS`. The job "record" runs a kernel; its second argument names an adapter.
        arguments: Its arguments; they pickle.
        limit: Seconds that it may run.
        exposed: Whether other machines can reach the server.

    Raises:
        WorkerLost: The confined process crashed.
        JobTimeout: It was ended after `limit` seconds.
        ValueError: As the job raised it.
        DeviceError: As the job raised it.
        WorkerError: The job raised anything else, or the system cannot confine a process and the server is exposed.
    """
    why = missing_support()
    if not why:
        return _sandbox(jobs).run_job(name, arguments, limit)
    if exposed:
        raise WorkerError(
            "Edited kernels do not run here: others can reach this server, and "
            f"{why}. Serve from Linux, or with --address localhost; shipped kernels run."
        )
    return importlib.import_module(jobs).JOBS[name](*arguments)


def prepare(jobs: str) -> None:
    """Start a confined process before the first source arrives."""
    if not missing_support():
        _sandbox(jobs).prepare("")


@functools.cache
def _sandbox(jobs: str) -> "Sandbox":
    return Sandbox(jobs)


class Sandbox:
    """Confined processes for the jobs of a module; one works at a time."""

    def __init__(self, jobs: str) -> None:
        self._jobs = jobs
        self._fork_server: socket.socket | None = None
        self._ready: dict[str, ConfinedProcess] = {}  # by adapter

    def prepare(self, adapter: str) -> None:
        """Start a process for this adapter unless one is there; "" is the machine's own choice."""
        if adapter in self._ready and self._ready[adapter].has_ended:
            self._ready.pop(adapter).end()
        if adapter not in self._ready:
            self._ready[adapter] = self._fork(adapter)

    def run_job(self, name: str, arguments: tuple[Any, ...], limit: float) -> Answer:
        """Do a job in a confined process. Raises like the function `run_job`."""
        adapter = arguments[1] if name == "record" else ""
        self.prepare(adapter)
        process = self._ready.pop(adapter)
        reusable = False
        try:
            process.wait_until_ready()
            answer = process.run_job(name, arguments, limit)
            reusable = name != "record" and process.jobs_done < MAX_CHECKS
            return answer
        finally:
            if reusable:
                self._ready[adapter] = process
            else:
                process.end()
                self.prepare("")

    def _fork(self, adapter: str) -> "ConfinedProcess":
        for _ in range(2):  # the fork server may have died
            self._fork_server = self._fork_server or _start_fork_server(self._jobs)
            ours, theirs = socket.socketpair()
            with ours, theirs:
                try:
                    socket.send_fds(self._fork_server, [(adapter or " ").encode()], [theirs.fileno()])
                    process = int.from_bytes(self._fork_server.recv(4), "little")
                    return ConfinedProcess(os.pidfd_open(process), Connection(ours.detach()))
                except OSError:
                    self._fork_server.close()
                    self._fork_server = None
        raise WorkerError(_NO_START)


class ConfinedProcess:
    """One confined process, as its worker sees it.

    Args:
        process: A file descriptor of the process (pidfd).
        connection: Over which it is asked and answers.
    """

    def __init__(self, process: int, connection: Connection) -> None:
        self._process, self._connection = process, connection
        self._ready = False
        self.jobs_done = 0

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return bool(select.select([self._process], [], [], 0)[0])

    def wait_until_ready(self) -> None:
        """Wait until the process is confined and has loaded all it needs. Raises WorkerError."""
        if self._ready:
            return
        try:
            self._receive(START_LIMIT)
        except (EOFError, OSError, RecursionError) as error:
            raise WorkerError(_NO_START) from error
        self._ready = True

    def run_job(self, name: str, arguments: tuple[Any, ...], limit: float) -> Answer:
        """Have the process do a job, and kill it after `limit` seconds. Raises like the function `run_job`."""
        self.jobs_done += 1
        started = time.monotonic()
        try:
            self._connection.send_bytes(pickle.dumps((name, arguments)))
            return self._receive(limit)
        except (EOFError, OSError, RecursionError) as lost:
            runs_kernel = name == "record"
            if time.monotonic() - started >= limit:
                raise JobTimeout((_KERNEL_SLOW if runs_kernel else _COMPILER_SLOW).format(limit)) from lost
            raise WorkerLost(_KERNEL_CRASHED if runs_kernel else _COMPILER_CRASHED) from lost

    def end(self) -> None:
        """Kill the process and free what it held here."""
        self._kill()
        self._connection.close()
        os.close(self._process)

    def _receive(self, limit: float) -> Answer:
        """Return the answer, or raise what it says the job raised.

        Raises:
            EOFError: The process died or does not keep to the protocol; so do OSError and RecursionError.
        """
        watchdog = threading.Timer(limit, self._kill)
        watchdog.start()
        try:
            head = self._receive_head()
            match head:
                case {"answer": dict(answer), "parts": int(count)} if 0 <= count <= MAX_PARTS:
                    return answer, [self._connection.recv_bytes(MAX_PART) for _ in range(count)]
        finally:
            watchdog.cancel()
            watchdog.join()
        match head:
            case {"raised": str(kind), "message": str(message)}:
                known = {"ValueError": ValueError, "InputError": ValueError, "DeviceError": DeviceError}
                raise known.get(kind, WorkerError)(message[:500])
        raise EOFError("it does not keep to the protocol")

    def _receive_head(self) -> Any:
        """Return the JSON of an answer, and report the stages of the job that come before it."""
        for _ in STAGES:
            head = _parse(self._connection.recv_bytes(MAX_HEAD))
            match head:
                case {"stage": int(stage)} if 0 <= stage < len(STAGES):
                    report_progress(stage)
                case _:
                    return head
        return _parse(self._connection.recv_bytes(MAX_HEAD))

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._process, signal.SIGKILL)


def _parse(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise EOFError("it does not keep to the protocol") from None


def _start_fork_server(jobs: str) -> socket.socket:
    """Start the process that forks the confined ones; it shares nothing with this one but a socket, whose end this returns."""
    ours, theirs = socket.socketpair()
    inherited = {name: value for name, value in os.environ.items() if name in _VARIABLES or name.startswith(_VARIABLE_FAMILIES)}
    # One thread, or it could not fork. The driver's optimiser takes most of the time of a recording, and changes no result.
    environment = {"GALLIVM_PERF": "nopt"} | inherited | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with theirs:
        start_module(
            "splatscope.workers.sandbox.child",
            str(theirs.fileno()),
            jobs,
            pass_fds=[theirs.fileno()],
            cwd="/",
            env=environment,
            start_new_session=True,
        )
    return ours
