"""Probing kernels in a separate process, and its reports of a crash and a hang."""

import os
import subprocess
import sys

import pytest

from helpers.vulkan_drivers import CHROMIUM, MESA
from splatscope.gpu import device, probe


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


def test_a_name_that_opens_a_device_is_told_from_one_that_does_not():
    assert probe.opens("vulkan")
    assert not probe.opens("a device that nobody has")


def test_a_process_has_one_device_whatever_its_adapter_is_called():
    names = ("", "vulkan", device.adapter_of(device.open_device()).short_name)
    assert {id(device.open_device(name)) for name in names} == {id(device.open_device())}


@pytest.mark.skipif(not CHROMIUM, reason="this machine has one adapter")
def test_a_process_with_a_device_refuses_another_adapter():
    talk = "from splatscope.gpu.device import open_device; open_device('llvmpipe'); open_device('swiftshader')"
    there = {"VK_DRIVER_FILES": f"{MESA[0]}:{CHROMIUM[0]}", "SPLATSCOPE_DEVICE": ""}
    ended = subprocess.run([sys.executable, "-c", talk], env=os.environ | there, capture_output=True, text=True, check=False)
    assert ended.stderr.strip().splitlines()[-1].endswith(": open “swiftshader” in another process.")
