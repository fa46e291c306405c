"""Child processes: their results, and how they end."""

import os
import signal
import subprocess
import sys
import time

import pytest

from splatscope.processes import ChildCrashed, ChildError, ChildTimeout, processor_seconds, run_command, start_module

GUARD = 60.0  # seconds; ends a test that would otherwise hang
FOREVER = 10 * GUARD


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


def test_the_time_that_a_process_has_had_a_processor_grows_as_it_works():
    if sys.platform != "linux":
        pytest.skip("only Linux says so")
    before = processor_seconds(os.getpid())
    while time.process_time() < before + 0.1:
        pass
    assert before < processor_seconds(os.getpid()) <= time.process_time() + 0.02
    assert processor_seconds(2**22 + 1) is None  # no process has such a number
