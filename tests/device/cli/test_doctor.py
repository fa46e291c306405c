"""The command line in general, the doctor, and serving at /app, from a checkout and from a wheel."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from pathlib import Path
from urllib.error import URLError

import pytest

from splatscope.cli import main as cli
from splatscope.paths import CHECKOUT, PACKAGE

ROOT = CHECKOUT
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


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def fetch_app(port: int, server: subprocess.Popen) -> str:
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/app", timeout=30) as answer:
                return answer.read().decode()
        except (URLError, ConnectionError):
            assert server.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.2)


def serve_and_fetch(folder: Path, **environment: str) -> str:
    port = free_port()
    command = [sys.executable, "-m", "splatscope.cli.main", "serve", "--port", str(port)]
    server = subprocess.Popen(
        command, cwd=folder, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    )
    try:
        return fetch_app(port, server)
    finally:
        server.terminate()
        server.wait(30)


def test_serve_from_the_checkout(tmp_path):
    assert "<html" in serve_and_fetch(tmp_path)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel built from a copy of the checkout, because the build leaves folders behind."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    hide = shutil.ignore_patterns("__pycache__", "dist")
    for folder in ("app", "shaders", "lessons", "assets", "tools", "node_modules"):
        shutil.copytree(ROOT / folder, source / folder, ignore=hide if folder != "node_modules" else None)
    for name in (
        "pyproject.toml",
        "setup.py",
        "MANIFEST.in",
        "package.json",
        "package-lock.json",
        ".npmrc",
        "README.md",
        "LICENSE",
    ):
        shutil.copy2(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", str(out), str(source)]
    done = subprocess.run(pip, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = out.glob("*.whl")
    return path


def test_the_wheel_carries_all_that_runs(wheel):
    with zipfile.ZipFile(wheel) as archive:
        packed = {name.removeprefix("splatscope/") for name in archive.namelist()}
        bundle = archive.read("splatscope/web/dist/splatscope.js")
    outside = (
        "shaders/*/*.slang",
        "lessons/*/*.py",
        "lessons/*/*.md",
        "lessons/*/*.css",
        "lessons/*/*.npz",
        "assets/*.*",
        "app/*.py",
    )
    needed = {str(path.relative_to(ROOT)) for pattern in outside for path in ROOT.glob(pattern)}
    inside = ("**/*.py", "tracing/instrument/*.slang", "web/*/*.css", "web/*/*.html", "web/*/*.md", "web/*/*.slang")
    needed |= {str(path.relative_to(PACKAGE)) for pattern in inside for path in PACKAGE.glob(pattern)}
    assert needed - packed == set()
    assert len(bundle) > 1000


def test_serve_from_the_wheel(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    assert "<html" in serve_and_fetch(tmp_path, PYTHONPATH=str(tmp_path))
