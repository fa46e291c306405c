"""The worker's side of the sandbox: start sandboxed processes, send them jobs, and kill those that hang.

`child` is the other side: the program of the sandboxed process, which confines itself with `landlock`, `seccomp` and `limits`
before it reads a source. A worker never unpickles an answer. A process that has run a kernel is never reused, and one that has
compiled only for the same session, so a source that corrupts its process harms only its author. The next process is started in the
meantime.
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
from collections.abc import Generator, Hashable
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from splatscope.gpu.device import DeviceError
from splatscope.processes import start_module
from splatscope.tracing.progress import STAGES, report_progress
from splatscope.workers.errors import JobTimeout, WorkerError, WorkerLost
from splatscope.workers.sandbox.failure_messages import (
    FILE_WORK,
    NO_ANSWER,
    answer_too_large_message,
    died_message,
    gave_way_message,
    timed_out_message,
)
from splatscope.workers.sandbox.platform_support import missing_support
from splatscope.workers.sandboxed_job import current_job

JobAnswer = tuple[dict[str, Any], list[bytes]]
"""The result of a job: a JSON object and a list of bytes."""

MAX_ADAPTER_NAME = 100  # bytes
START_LIMIT = 60.0  # seconds within which a process has to open its device and load all code
UNCONFINED = "SPLATSCOPE_UNCONFINED"  # an environment variable: sources are compiled and run even where nothing confines them
FILE_JOBS = ("open", "array", "perfetto")  # the jobs that neither compile nor run a source
RUNS = ("record", "outcomes", "fix")  # the jobs that run a kernel
MAX_CHECKS = 50  # jobs of one session that only compile, in one process
MAX_HEAD = 2**24  # bytes of an answer's JSON
MAX_PART = 2**28  # bytes in one part of an answer
MAX_PARTS = 4
MAX_RECORDINGS = 100  # recordings in one job, each of which reports its stages

_VARIABLES = ("PATH", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "XDG_DATA_DIRS", "PYTHONPATH", "CUDA_PATH")
_OURS = ("SPLATSCOPE_DEVICE", "SPLATSCOPE_WORKER")
_VARIABLE_FAMILIES = ("LC_", "VK_", "MESA_", "LP_", "GALLIVM_", "NVIDIA_", "CUDA_VISIBLE_", "__GLX_", "__EGL_")
_NO_START = "The sandbox for sources from pages does not start: `splatscope doctor` may say why."


def run_sandboxed(jobs: str, name: str, arguments: tuple[Any, ...], limit: float) -> JobAnswer:
    """Run a job on an untrusted source or file in a sandboxed process.

    If the system supports no sandbox, files are read in this process, and sources only with `UNCONFINED`.

    Args:
        jobs: The name of a module with `JOBS` and `warm_up`, see `child`.
        name: The job's key in `JOBS`. Those of `RUNS` run kernels; their second argument names an adapter, see `child.chosen`.
        arguments: The job's arguments, which must be picklable.
        limit: Seconds that the job may take.

    Raises:
        WorkerLost: The sandboxed process crashed, or its answer is malformed.
        JobTimeout: The process was killed after `limit` seconds.
        ValueError: The job raised it.
        DeviceError: The job raised it.
        WorkerError: The job raised another error, or there is no sandbox.
    """
    why = missing_support()
    if not why:
        return _sandbox(jobs).run(name, arguments, limit)
    if name not in FILE_JOBS and not os.environ.get(UNCONFINED):
        raise WorkerError(
            f"Edited kernels do not run here: {why}. Serve from Linux; shipped kernels run. "
            "If nobody else uses this server, and you trust what you open: splatscope serve --allow-unconfined"
        )
    return importlib.import_module(jobs).JOBS[name](*arguments)


def prepare(jobs: str) -> None:
    """Start a sandboxed process before the first source arrives."""
    if not missing_support():
        _sandbox(jobs).prepare("")


@functools.cache
def _sandbox(jobs: str) -> "Sandbox":
    return Sandbox(jobs)


class Sandbox:
    """The sandboxed processes for the jobs of a module. Several threads may run a job each, in a process of its own."""

    def __init__(self, jobs: str) -> None:
        self._jobs = jobs
        self._lock = threading.RLock()  # on what follows
        self._fork_server: socket.socket | None = None
        self._ready: dict[str, SandboxedProcess] = {}  # that have done no job, by adapter
        self._kept: SandboxedProcess | None = None  # that may do another job of its owner, on the default adapter

    def prepare(self, adapter: str) -> None:
        """Start a process for this adapter, unless there is one; "" stands for the default adapter."""
        with self._lock:
            if adapter in self._ready and self._ready[adapter].has_ended:
                self._ready.pop(adapter).end()
            if adapter not in self._ready:
                self._ready[adapter] = self._fork(adapter)

    def run(self, name: str, arguments: tuple[Any, ...], limit: float) -> JobAnswer:
        """Run a job in a sandboxed process. Raises the errors of `run_sandboxed`."""
        process = self._started(arguments[1] if name in RUNS else "")
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
                with self._lock:
                    process, self._kept = self._kept, process
            if process:
                process.end()
            self.prepare("")

    def _started(self, adapter: str) -> "SandboxedProcess":
        """Return a process that is ready. If one dies before that, try once more: its fork server may have died."""
        tries = 0
        while True:
            with self._lock:
                if not adapter and self._kept and self._kept.owner == _owner() and not self._kept.has_ended:
                    process, self._kept = self._kept, None
                    return process
                self.prepare(adapter)
                process = self._ready.pop(adapter)
            try:
                process.wait_until_ready()
                return process
            except (WorkerError, DeviceError) as error:
                process.end()
                tries += 1
                if tries == 2 or isinstance(error, DeviceError):
                    raise

    def _fork(self, adapter: str) -> "SandboxedProcess":
        if len(adapter.encode()) > MAX_ADAPTER_NAME:
            raise DeviceError(f"No device is called {adapter[:40]} …")
        for _ in range(2):  # the fork server may have died
            self._fork_server = self._fork_server or _start_fork_server(self._jobs)
            ours, theirs = socket.socketpair()
            fault, writes_fault = os.pipe()
            with ours, theirs:
                try:
                    socket.send_fds(self._fork_server, [(adapter or " ").encode()], [theirs.fileno(), writes_fault])
                    (process,) = socket.recv_fds(self._fork_server, 16, 1)[1]
                    return SandboxedProcess(process, Connection(ours.detach()), fault)
                except (OSError, ValueError):  # without a process there is nothing to unpack
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
        self.owner: Hashable = None  # of its jobs
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
            with self._killed_after(START_LIMIT):
                self._receive()
        except (EOFError, OSError) as error:
            raise WorkerError(_NO_START) from error
        self._ready = True

    def request(self, name: str, arguments: tuple[Any, ...], limit: float) -> JobAnswer:
        """Send a job to the process and return its answer; kill it after `limit` seconds. Raises the errors of `run_sandboxed`."""
        self.jobs_done += 1
        self.owner = _owner()
        self._stage = None
        started = time.monotonic()
        job = current_job()
        try:
            if job:
                job.uses(self)
            with self._killed_after(limit):
                self._connection.send_bytes(pickle.dumps((name, arguments)))
                return self._receive()
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
            if job:
                job.uses(None)

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

    @contextmanager
    def _killed_after(self, limit: float) -> Generator[None]:
        """Kill the process if the block takes longer than `limit` seconds. A process may stop reading as well as answering."""
        watchdog = threading.Timer(limit, self._kill)
        watchdog.start()
        try:
            yield
        finally:
            watchdog.cancel()
            watchdog.join()

    def _receive(self) -> JobAnswer:
        """Return the answer, or raise the error that it reports.

        Raises:
            EOFError, OSError: The process died. It is a `_BreachError` if the process violated the protocol.
        """
        head = self._receive_head()
        match head:
            case {"answer": dict(answer), "parts": int(count)} if 0 <= count <= MAX_PARTS:
                return answer, [self._receive_bytes(MAX_PART) for _ in range(count)]
            case {"raised": str(kind), "message": str(message)}:
                error_types = {
                    "ValueError": ValueError,
                    "InputError": ValueError,
                    "ArchiveError": ValueError,
                    "DeviceError": DeviceError,
                }
                raise error_types.get(kind, WorkerError)(message[:500])
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


def _owner() -> Hashable:
    """Return who the current job is for, None for this process's own."""
    job = current_job()
    return job.owner if job else None


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
