"""Probing kernels in a separate process, and its reports of a crash and a hang."""

import sys

from splatscope.gpu import probe


def test_kernels_run_here():
    trial = probe.first_working()
    assert trial is not None, "the tests need a device: splatscope doctor"
    assert trial.wave_size >= 1
    assert trial.seconds > 0


def test_what_a_driver_prints_is_kept_from_the_answer():
    talk = "import atexit, os, sys; from splatscope.gpu import probe; sys.argv = ['probe']; "
    talk += "atexit.register(lambda: os.write(1, b'a driver says goodbye')); probe.main()"
    adapters, message = probe.ask([sys.executable, "-c", talk])
    assert message == ""
    assert adapters


def test_an_adapter_that_does_not_exist_is_a_message():
    answer, message = probe.ask([sys.executable, "-m", "splatscope.gpu.probe", "vulkan", "99"])
    assert answer is None
    assert message


def test_a_crash_is_told():
    answer, how = probe.ask([sys.executable, "-c", "import os; os.abort()"])
    assert answer is None
    assert "crashed" in how


def test_a_hang_ends():
    answer, how = probe.ask([sys.executable, "-c", "import time; time.sleep(60)"], limit_s=0.5)
    assert answer is None
    assert how == "no answer within 0.5 s"


def test_an_error_is_its_last_line():
    answer, how = probe.ask([sys.executable, "-c", "raise SystemExit('first\\nlibatomic.so.1 is missing')"])
    assert answer is None
    assert how == "libatomic.so.1 is missing"
