"""The worker's side of the sandbox: start sandboxed processes, send them jobs, and kill those that hang.

`child` is the other side: the program of the sandboxed process, which confines itself with `landlock`, `seccomp` and `limits`
before it reads a source. A worker never unpickles an answer. A process that has run a kernel is never reused, so a kernel that
corrupts its process harms only its author. The next process is started in the meantime.
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
from splatscope.workers.sandbox.failure_messages import (
    FILE_WORK,
    NO_ANSWER,
    answer_too_large_message,
    died_message,
    gave_way_message,
    timed_out_message,
)
from splatscope.workers.sandbox.platform_support import missing_support

JobAnswer = tuple[dict[str, Any], list[bytes]]
"""The result of a job: a JSON object and a list of bytes."""

START_LIMIT = 60.0  # seconds within which a process has to open its device and load all code
RUNS = ("record", "outcomes")  # the jobs that run a kernel
MAX_CHECKS = 50  # jobs that only compile, in one process
MAX_HEAD = 2**24  # bytes of an answer's JSON
MAX_PART = 2**28  # bytes in one part of an answer
MAX_PARTS = 4
MAX_RECORDINGS = 100  # recordings in one job, each of which reports its stages

_VARIABLES = ("PATH", "LANG", "TZ", "LD_LIBRARY_PATH", "XDG_DATA_DIRS", "PYTHONPATH", "CUDA_PATH")
_OURS = ("SPLATSCOPE_DEVICE", "SPLATSCOPE_WORKER")
_VARIABLE_FAMILIES = ("LC_", "VK_", "MESA_", "LP_", "GALLIVM_", "NVIDIA_", "CUDA_VISIBLE_", "__GLX_", "__EGL_")
_NO_START = "The sandbox for sources from pages does not start: `splatscope doctor` may say why."


def run_sandboxed(jobs: str, name: str, arguments: tuple[Any, ...], limit: float, exposed: bool) -> JobAnswer:
    """Run a job on an untrusted source in a sandboxed process.

    If the system supports no sandbox and no other machine can reach the server, the job runs in this process.

    Args:
        jobs: The name of a module with `JOBS` and `warm_up`, see `child`.
        name: The job's key in `JOBS`. Those of `RUNS` run kernels; their second argument names an adapter, see `child.chosen`.
        arguments: The job's arguments, which must be picklable.
        limit: Seconds that the job may take.
        exposed: Whether other machines can reach the server.

    Raises:
        WorkerLost: The sandboxed process crashed, or its answer is malformed.
        JobTimeout: The process was killed after `limit` seconds.
        ValueError: The job raised it.
        DeviceError: The job raised it.
        WorkerError: The job raised another error, or there is no sandbox and the server is exposed.
    """
    why = missing_support()
    if not why:
        return _sandbox(jobs).run(name, arguments, limit)
    if exposed:
        raise WorkerError(
            "Edited kernels do not run here: others can reach this server, and "
            f"{why}. Serve from Linux, or with --address localhost; shipped kernels run."
        )
    return importlib.import_module(jobs).JOBS[name](*arguments)


def prepare(jobs: str) -> None:
    """Start a sandboxed process before the first source arrives."""
    if not missing_support():
        _sandbox(jobs).prepare("")


def stop_running() -> None:
    """Stop the jobs running in this process's sandboxes, if any, because others are waiting. They fail with `JobTimeout`."""
    for process in list(_running):
        process.give_way()


_running: set["SandboxedProcess"] = set()  # the processes that are running a job


@functools.cache
def _sandbox(jobs: str) -> "Sandbox":
    return Sandbox(jobs)


class Sandbox:
    """The sandboxed processes for the jobs of a module. One job runs at a time."""

    def __init__(self, jobs: str) -> None:
        self._jobs = jobs
        self._fork_server: socket.socket | None = None
        self._ready: dict[str, SandboxedProcess] = {}  # by adapter

    def prepare(self, adapter: str) -> None:
        """Start a process for this adapter, unless there is one; "" stands for the default adapter."""
        if adapter in self._ready and self._ready[adapter].has_ended:
            self._ready.pop(adapter).end()
        if adapter not in self._ready:
            self._ready[adapter] = self._fork(adapter)

    def run(self, name: str, arguments: tuple[Any, ...], limit: float) -> JobAnswer:
        """Run a job in a sandboxed process. Raises the errors of `run_sandboxed`."""
        adapter = arguments[1] if name in RUNS else ""
        process = self._started(adapter)
        answered = False
        try:
            answer = process.request(name, arguments, limit)
            answered = True
            return answer
        except ValueError:  # the job refused its arguments
            answered = True
            raise
        finally:
            if answered and name not in RUNS and process.jobs_done < MAX_CHECKS:
                self._ready[adapter] = process
            else:
                process.end()
                self.prepare("")

    def _started(self, adapter: str) -> "SandboxedProcess":
        """Return a process that is ready. If one dies before that, try once more: its fork server may have died."""
        tries = 0
        while True:
            self.prepare(adapter)
            process = self._ready.pop(adapter)
            try:
                process.wait_until_ready()
                return process
            except WorkerError:
                process.end()
                tries += 1
                if tries == 2:
                    raise

    def _fork(self, adapter: str) -> "SandboxedProcess":
        for _ in range(2):  # the fork server may have died
            self._fork_server = self._fork_server or _start_fork_server(self._jobs)
            ours, theirs = socket.socketpair()
            fault, writes_fault = os.pipe()
            with ours, theirs:
                try:
                    socket.send_fds(self._fork_server, [(adapter or " ").encode()], [theirs.fileno(), writes_fault])
                    process = int.from_bytes(self._fork_server.recv(4), "little")
                    return SandboxedProcess(os.pidfd_open(process), Connection(ours.detach()), fault)
                except OSError:
                    os.close(fault)
                    self._fork_server.close()
                    self._fork_server = None
                finally:
                    os.close(writes_fault)
        raise WorkerError(_NO_START)


class _BreachError(EOFError):
    """A process is alive, but its answer is refused; `words` says why."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


class SandboxedProcess:
    """A worker's handle on one sandboxed process.

    Args:
        process: A file descriptor of the process (pidfd).
        connection: Carries requests and answers.
        fault: A file descriptor to read the output of `faulthandler`, which it writes as the process dies.
    """

    def __init__(self, process: int, connection: Connection, fault: int) -> None:
        self._process, self._connection, self._fault = process, connection, fault
        self._ready = False
        self._stage: int | None = None  # the stage of the current job
        self.jobs_done = 0
        self._gave_way = False

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return bool(select.select([self._process], [], [], 0)[0])

    def wait_until_ready(self) -> None:
        """Wait until the process is sandboxed and has loaded all code. Raises WorkerError."""
        if self._ready:
            return
        try:
            self._receive(START_LIMIT)
        except (EOFError, OSError) as error:
            raise WorkerError(_NO_START) from error
        self._ready = True

    def request(self, name: str, arguments: tuple[Any, ...], limit: float) -> JobAnswer:
        """Send a job to the process and return its answer; kill it after `limit` seconds. Raises the errors of `run_sandboxed`."""
        self.jobs_done += 1
        self._stage = None
        started = time.monotonic()
        _running.add(self)
        try:
            self._connection.send_bytes(pickle.dumps((name, arguments)))
            return self._receive(limit)
        except (EOFError, OSError) as lost:
            records = name in RUNS
            error: WorkerError
            seconds = time.monotonic() - started
            if self._gave_way:
                error = JobTimeout(gave_way_message(seconds))
            elif seconds >= limit:
                error = JobTimeout(timed_out_message(records, self._stage, limit, FILE_WORK.get(name, "")))
            elif isinstance(lost, _BreachError):
                error = WorkerLost(lost.words)
            else:
                error = WorkerLost(died_message(records, self._stage, self._last_words(), FILE_WORK.get(name, "")))
            error.stage = self._stage
            raise error from lost
        finally:
            _running.discard(self)

    def give_way(self) -> None:
        """End the process because others are waiting."""
        self._gave_way = True
        self._kill()

    def end(self) -> None:
        """Kill the process and release its handles."""
        self._kill()
        self._connection.close()
        os.close(self._fault)
        os.close(self._process)

    def _last_words(self) -> bytes:
        """Return the start of the process's output as it died, b"" if there is none."""
        return os.read(self._fault, 200) if select.select([self._fault], [], [], 0)[0] else b""

    def _receive(self, limit: float) -> JobAnswer:
        """Return the answer, or raise the error that it reports.

        Raises:
            EOFError, OSError: The process died. It is a `_BreachError` if the process violated the protocol.
        """
        watchdog = threading.Timer(limit, self._kill)
        watchdog.start()
        try:
            head = self._receive_head()
            match head:
                case {"answer": dict(answer), "parts": int(count)} if 0 <= count <= MAX_PARTS:
                    return answer, [self._receive_bytes(MAX_PART) for _ in range(count)]
        finally:
            watchdog.cancel()
            watchdog.join()
        match head:
            case {"raised": str(kind), "message": str(message)}:
                known = {"ValueError": ValueError, "InputError": ValueError, "ArchiveError": ValueError, "DeviceError": DeviceError}
                raise known.get(kind, WorkerError)(message[:500])
        raise _BreachError(NO_ANSWER)

    def _receive_head(self) -> Any:
        """Report the job's stages as they arrive, then return the JSON head of the answer."""
        for _ in range(len(STAGES) * MAX_RECORDINGS):
            head = _parse(self._receive_bytes(MAX_HEAD))
            match head:
                case {"stage": int(stage)} if 0 <= stage < len(STAGES):
                    self._stage = stage
                    report_progress(stage)
                case _:
                    return head
        return _parse(self._receive_bytes(MAX_HEAD))

    def _receive_bytes(self, most: int) -> bytes:
        try:
            return self._connection.recv_bytes(most)
        except OSError as error:
            if str(error) == "bad message length":
                raise _BreachError(answer_too_large_message(most)) from None
            raise

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._process, signal.SIGKILL)


def _parse(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise _BreachError(NO_ANSWER) from None


def _start_fork_server(jobs: str) -> socket.socket:
    """Start the fork server. Return this end of the socket that connects the two processes."""
    ours, theirs = socket.socketpair()
    inherited = {
        name: value for name, value in os.environ.items() if name in _VARIABLES + _OURS or name.startswith(_VARIABLE_FAMILIES)
    }
    # Only a process with a single thread can fork safely. The driver's optimiser is off: it takes most of a recording's time and
    # changes no result.
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
