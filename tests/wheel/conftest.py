"""The wheel in dist/, installed as a user does it: into an environment of its own, with nothing else on the PATH."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KEPT = ("PIP_", "SSL_", "LANG", "VK_", "LP_", "SPLATSCOPE_DEVICE", "SYSTEMROOT")  # settings of a network, a device, a system


@pytest.fixture(scope="session")
def wheel() -> Path:
    """The wheel that `make wheel` has made."""
    found = sorted((ROOT / "dist").glob("splatscope-*.whl"), key=lambda path: path.stat().st_mtime)
    if not found:
        pytest.fail("dist/ holds no wheel: run make wheel")
    return found[-1]


def installed(requirement: str, folder: Path) -> Path:
    """Install into a fresh environment, and return the folder of its commands. Nothing is compiled: packages come as wheels."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    subprocess.run([str(programs / "python"), "-m", "pip", "install", "--quiet", "--only-binary", ":all:", requirement], check=True)
    return programs


@pytest.fixture(scope="session")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of an environment with the app."""
    return installed(f"{wheel}[app]", tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="session")
def core(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of an environment with the core alone."""
    return installed(str(wheel), tmp_path_factory.mktemp("core"))


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment with a home of its own, without a compiler and without Node: a PATH must be added."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
    return kept | {"HOME": str(tmp_path_factory.mktemp("home")), "COLUMNS": "200"}


def calling(programs: Path, bare: dict[str, str], folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command, environment = [str(programs / "splatscope"), *arguments], bare | {"PATH": str(programs)}
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=400)

    return call


@pytest.fixture
def splatscope(programs: Path, bare: dict[str, str], tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Call the command in an empty folder, the test's `tmp_path`."""
    return calling(programs, bare, tmp_path)


@pytest.fixture
def core_splatscope(core: Path, bare: dict[str, str], tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The same, without the app."""
    return calling(core, bare, tmp_path)
