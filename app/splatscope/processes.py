"""Child processes for work that may crash, hang or take too long: start them, limit them, end them, and report how they ended.

`run_command` runs a program and returns its output. `start_module` starts a module of this package in the background. Only the
standard library is used.
"""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1


class ChildError(RuntimeError):
    """A child process ended without a result; the message is one line."""


class ChildTimeout(ChildError):  # noqa: N818
    """The child ran longer than its limit and was killed.

    `was_starved` is True if the child got little processor time meanwhile, and False if that is not known.
    """

    was_starved = False


class ChildStalled(ChildTimeout):
    """The child stopped reading its input or writing its output, and was killed."""


class ChildCrashed(ChildError):  # noqa: N818
    """The signal `number` ended the child; the message is the signal's name."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(signal.Signals(number).name)


def processor_seconds(pid: int) -> float | None:
    """Return the processor time that the threads of a process have used; None if the system does not report it."""
    try:
        # The program's name, in parentheses, may contain anything.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return None


def run_command(command: Sequence[str], limit: float) -> str:
    """Return what a program prints.

    Args:
        command: The program and its arguments.
        limit: Seconds after which it is killed.

    Raises:
        ChildTimeout: It did not end in time.
        ChildCrashed: A signal ended it.
        ChildError: It failed or printed nothing; the message is the last line it wrote to standard error.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        raise ChildTimeout(f"no answer within {limit:g} s") from None
    if done.returncode == 0 and done.stdout:
        return done.stdout
    raise error_of(done.returncode, done.stderr)


def start_module(name: str, *arguments: str, **options: Any) -> subprocess.Popen:
    """Start `python -m name` in the background, without input or output unless `options`, which go to Popen, change that."""
    silent: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    return subprocess.Popen([sys.executable, "-P", "-m", name, *arguments], **(silent | options))


def die_with_parent() -> None:
    """Ask Linux to kill this process when the thread that started it ends; do nothing on other systems.

    Raises:
        OSError: The system refuses.
    """
    if sys.platform == "linux" and ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def error_of(exit_code: int, errors: str = "") -> ChildError:
    """Return the error for a child that ended with this exit code, negative for a signal."""
    if exit_code < 0:
        return ChildCrashed(-exit_code)
    lines = [line for line in errors.splitlines() if line.strip()]
    return ChildError(lines[-1] if lines else f"ended with status {exit_code}")
