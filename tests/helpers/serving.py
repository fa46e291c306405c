"""Serve the app in a separate process, as a user does."""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
STARTS = 300.0  # seconds within which a server answers, or its process ends
QUIET = {"SPLATSCOPE_RECORD_AHEAD": "0"}  # two cores are busy enough without it


@contextmanager
def served(log: Path, root: Path = ROOT, **environment: str) -> Iterator[str]:
    """Serve the project in `root` with additional environment variables, its output in `log`. Yield the address."""
    process, address = _start(log, environment, root)
    try:
        yield address
    finally:
        _end(psutil.Process(process.pid))
        process.wait()


@contextmanager
def serving(command: list[str], log: Path, cwd: Path, env: Mapping[str, str], port: int = 0) -> Iterator[str]:
    """Run a command that takes `--port`, by default a free one, with exactly this environment. Yield the address."""
    process, address = _launch(command, log, cwd, env, port)
    try:
        yield address
    finally:
        _end(psutil.Process(process.pid))
        process.wait()


class RestartedServer:
    """A command that serves at one address, by one process after the other.

    Attributes:
        address: Where it serves.
        process: The current process.
        log: What all of them have printed.
    """

    def __init__(self, command: list[str], log: Path, env: Mapping[str, str]):
        """Start it, with this environment, and wait until it answers."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address, self.log, self._command, self._env = f"http://localhost:{self.port}", log, command, env
        log.touch()
        self.start()

    def start(self) -> None:
        """Start another process, and wait until it answers."""
        with self.log.open("a") as out:
            command = [*self._command, "--port", str(self.port)]
            self.process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, env=self._env)
        _wait(self.address, self.process, self.log)

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the process, and wait for that."""
        self.process.send_signal(number)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def served_to_all(folder: Path) -> Iterator[str]:
    """Yield the address of a server that all test processes with this folder share. The first starts it, the last ends it."""
    state = folder / "server.json"
    with _locked(folder):
        known = json.loads(state.read_text()) if state.exists() else None
        if known is None:
            process, address = _start(folder / "server.log", {})
            known = {"address": address, "pid": process.pid, "users": []}
        state.write_text(json.dumps(known | {"users": [*known["users"], os.getpid()]}))
    try:
        yield known["address"]
    finally:
        with _locked(folder):
            known = json.loads(state.read_text())
            users = [pid for pid in known["users"] if pid != os.getpid() and psutil.pid_exists(pid)]
            if users:
                state.write_text(json.dumps(known | {"users": users}))
            else:
                state.unlink()
                with suppress(psutil.NoSuchProcess):
                    _end(psutil.Process(known["pid"]))


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / "server.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _start(log: Path, environment: dict[str, str], root: Path = ROOT) -> tuple[subprocess.Popen, str]:
    command = [sys.executable, "-m", "panel", "serve", "app", str(HERE / "parts.py")]
    return _launch(command, log, root, os.environ | QUIET | environment)


def _launch(command: list[str], log: Path, cwd: Path, env: Mapping[str, str], port: int = 0) -> tuple[subprocess.Popen, str]:
    if not port:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
    with log.open("w") as out:
        process = subprocess.Popen([*command, "--port", str(port)], cwd=cwd, stdout=out, stderr=subprocess.STDOUT, env=env)
    address = f"http://localhost:{port}"
    try:
        _wait(address, process, log)
    except BaseException:
        process.kill()
        raise
    return process, address


def _end(process: psutil.Process) -> None:
    """End a server. It may be the child of another test process that has not waited for it yet."""
    process.terminate()
    for _ in range(100):
        if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
            return
        time.sleep(0.1)
    process.kill()


def _wait(address: str, process: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + STARTS
    while process.poll() is None and time.monotonic() < end:
        try:
            with urlopen(f"{address}/app", timeout=30) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.25)
    pytest.fail(f"The app did not come up:\n{log.read_text()[-4000:]}")
