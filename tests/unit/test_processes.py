"""Child processes: their results, and how they end."""

import os
import signal
import subprocess
import sys
import time

import pytest

from splatscope.processes import ChildCrashed, ChildError, ChildTimeout, call_in_fork, run_command, start_module

GUARD = 60.0  # seconds; ends a test that would otherwise hang
FOREVER = 10 * GUARD

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system makes no copies of processes")


@forks
def test_a_fork_returns_the_result():
    here = os.getpid()
    assert call_in_fork(lambda: os.getppid() == here, GUARD)


@forks
def test_a_fork_raises_what_the_function_raises():
    with pytest.raises(ValueError, match="seven"):
        call_in_fork(lambda: int("seven"), GUARD)


@forks
def test_an_error_that_does_not_pickle_still_says_its_words():
    class LocalError(Exception):
        pass

    def work():
        raise LocalError("from here")

    with pytest.raises(RuntimeError, match="from here"):
        call_in_fork(work, GUARD)


@forks
def test_a_crash_of_the_fork_is_an_error_here():
    with pytest.raises(ChildCrashed, match="SIGKILL"):
        call_in_fork(lambda: os.kill(os.getpid(), signal.SIGKILL), GUARD)


@forks
def test_a_fork_that_exits_without_an_answer_is_an_error():
    with pytest.raises(ChildError, match="status 3"):
        call_in_fork(lambda: os._exit(3), GUARD)


@forks
def test_a_fork_is_killed_at_its_limit():
    with pytest.raises(ChildTimeout):
        call_in_fork(lambda: time.sleep(FOREVER), 0.3)


def python(code: str, limit: float = GUARD) -> str:
    return run_command([sys.executable, "-c", code], limit)


def test_a_command_returns_what_it_prints():
    assert python("print('seven')") == "seven\n"


def test_a_command_that_fails_says_its_last_line():
    with pytest.raises(ChildError, match=r"^the library is missing$"):
        python("raise SystemExit('first\\nthe library is missing')")


def test_a_command_that_prints_nothing_is_an_error():
    with pytest.raises(ChildError, match="ended with status 0"):
        python("pass")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_command_that_crashes_names_its_signal():
    with pytest.raises(ChildCrashed, match="SIGABRT") as crash:
        python("import os; os.abort()")
    assert crash.value.number == signal.SIGABRT


def test_a_command_is_killed_at_its_limit():
    with pytest.raises(ChildTimeout, match=r"within 0\.5 s"):
        python(f"import time; time.sleep({FOREVER})", 0.5)


def test_a_module_in_the_background_is_silent_unless_it_is_read():
    assert start_module("this", stdout=subprocess.PIPE, text=True).communicate(timeout=GUARD)[0].startswith("The Zen of Python")
    assert start_module("this").wait(GUARD) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone kills a child with its parent")
def test_a_child_can_be_killed_with_its_parent():
    child = "from splatscope.processes import die_with_parent as d; import time; d(); print('ready', flush=True); time.sleep(600)"
    parent = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {child!r}]).wait()"
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.kill()
        assert process.stdout.read() == ""  # ends once the child, which holds the other end, is gone
