"""The command line in general, and the doctor."""

import json
import os
import subprocess
import sys

import pytest

from splatscope.cli import main as cli

NO_DEVICE = {"VK_DRIVER_FILES": os.devnull, "VK_ICD_FILENAMES": os.devnull, "CUDA_VISIBLE_DEVICES": ""}


def splatscope(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "splatscope.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=os.environ | environment)


def test_doctor_runs_a_kernel():
    done = splatscope("doctor", "--json")
    report = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    assert done.returncode == 0
    assert report["ok"]
    working = [adapter for adapter in report["adapters"] if adapter["works"]]
    assert working
    assert all(adapter["wave_size"] >= 1 and adapter["seconds"] > 0 for adapter in working)
    assert {"slangpy", "slang", "panel", "bokeh", "python"} <= report["versions"].keys()
    assert report["checkout"]
    assert report["surroundings"].endswith("from a checkout")


def test_doctor_in_words():
    done = splatscope("doctor", COLUMNS="200")
    assert done.returncode == 0
    assert "vulkan" in done.stdout
    assert done.stdout.splitlines()[-1].strip() == "Kernels run."


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a device cannot be hidden")
def test_doctor_without_a_device_says_what_mends_it():
    done = splatscope("doctor", "--json", **NO_DEVICE)
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert not report["ok"]
    device = report["missing"][0]
    assert device["what"].startswith("a device that runs kernels")
    assert device["mend"]

    done = splatscope("doctor", COLUMNS="300", **NO_DEVICE)
    assert done.returncode == 1
    assert device["mend"] in done.stdout


@pytest.mark.parametrize(
    ("arguments", "word"), [(["docto"], "docto"), (["doctor", "--jon"], "--jon"), (["serve", "--port", "x"], "--port")]
)
def test_a_wrong_call_is_one_line(arguments, word):
    done = splatscope(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("splatscope: ")
    assert done.stderr.count("\n") == 1
    assert word in done.stderr


def test_a_failure_is_one_line_unless_debugged(monkeypatch, capsys):
    def fail():
        raise RuntimeError("the device\nis gone")

    monkeypatch.setattr("splatscope.machine.doctor.examine", fail)
    with pytest.raises(SystemExit) as end:
        cli.main(["doctor"])
    assert end.value.code == 1
    assert capsys.readouterr().err == "splatscope: the device is gone\n"
    with pytest.raises(RuntimeError, match="is gone"):
        cli.main(["doctor", "--debug"])


def test_help_names_the_commands():
    done = splatscope()
    assert done.returncode == 0
    assert all(command in done.stdout for command in ("serve", "doctor", "--debug"))
