"""A scheduler and workers as several machines run them: each by its command, with a key."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import splatscope
from helpers.patience import PATIENCE
from helpers.vulkan_drivers import CHROMIUM, MESA
from splatscope.processes import run_command
from splatscope.services.adapters import adapters
from splatscope.workers.cluster import KEY
from splatscope.workers.errors import WorkerError
from splatscope.workers.pool import Pool

COMMAND = [sys.executable, "-m", "splatscope"]


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key of the cluster, made as docs/cluster.md says."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed, with which a key is made")
    folder = tmp_path_factory.mktemp("key")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=splatscope", "-keyout", "a", "-out", "b"]
    subprocess.run(made, cwd=folder, check=True, capture_output=True)
    (folder / "cluster.pem").write_text((folder / "a").read_text() + (folder / "b").read_text())
    return folder / "cluster.pem"


@contextmanager
def running(key: Path, *machines: dict[str, str]) -> Iterator[str]:
    """Yield the address of a scheduler that all networks reach, with one worker for each of `machines`, its environment."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    processes = []

    def start(environment: dict[str, str], *arguments: str) -> None:
        known = {**os.environ, KEY: str(key), "PYTHONPATH": str(Path(__file__).parents[2]), **environment}
        process = subprocess.Popen([*COMMAND, *arguments], env=known, stdout=subprocess.PIPE, text=True)
        processes.append(process)
        process.stdout.readline()  # it says that it runs

    try:
        start({}, "scheduler", "--host", "0.0.0.0", "--port", str(port))
        for machine in machines:
            start(machine, "worker", f"127.0.0.1:{port}", "--workers", "1")
        yield f"tls://127.0.0.1:{port}"
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(PATIENCE)
            process.stdout.close()


@pytest.fixture(scope="module")
def cluster(key: Path) -> Iterator[str]:
    """The address of a scheduler with one worker."""
    with running(key, {}) as address:
        yield address


def test_a_server_with_the_key_runs_jobs_there(cluster: str, key: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(KEY, str(key))

    async def number() -> str | None:
        pool = Pool(cluster)
        found = await pool.run(os.getenv, "SPLATSCOPE_WORKER")
        await pool.close()
        return found

    assert asyncio.run(number()) == "0"


def test_pictures_are_fitted_there(cluster: str, key: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(KEY, str(key))
    monkeypatch.setenv("SPLATSCOPE_SCHEDULER", cluster)
    picture = np.full((20, 24), 0.5)
    table = splatscope.fit_many([picture, picture], gaussians=10, iterations=5)
    assert [(row.width, row.error) for row in table.rows] == [(24, ""), (24, "")]
    with pytest.raises(ValueError, match="devices of their own"):
        splatscope.fit_many([picture], device="vulkan")
    monkeypatch.setenv("SPLATSCOPE_SCHEDULER", "tls://127.0.0.1:9")
    with pytest.raises(splatscope.FitError, match=r"No scheduler answers at tls://127\.0\.0\.1:9"):
        splatscope.fit_many([picture])


@pytest.mark.parametrize("protocol", ["tls", "tcp"])
def test_a_server_without_the_key_is_refused(cluster: str, protocol: str):
    async def ask() -> None:
        pool = Pool(cluster.replace("tls", protocol))
        try:
            await pool.run(os.getpid)
        finally:
            await pool.close()

    with pytest.raises(WorkerError, match=f"No scheduler answers at {protocol}"):
        asyncio.run(ask())


def test_other_machines_reach_no_scheduler_without_a_key():
    ended = subprocess.run([*COMMAND, "scheduler", "--host", "0.0.0.0", "--port", "18999"], capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr == (
        "splatscope: Whoever reaches a scheduler runs code on its workers: "
        "make a key and set SPLATSCOPE_CLUSTER_KEY to it (docs/cluster.md).\n"
    )


def opened(adapter: str) -> str:
    """Return the name of the device that a process on a worker's machine opens: a process opens one."""
    talk = "import sys; from splatscope.gpu.device import adapter_of, open_device; "
    talk += "print(adapter_of(open_device(sys.argv[1] or None)).short_name)"
    return run_command([sys.executable, "-c", talk, adapter], 60).splitlines()[-1]


@pytest.mark.skipif(not (MESA and CHROMIUM), reason="needs two software Vulkan drivers")
def test_devices_of_two_machines_stand_side_by_side(key: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(KEY, str(key))

    async def ask(address: str) -> tuple[list[str], list[str]]:
        pool = Pool(address)
        names = await adapters(pool)
        found = [await pool.run(opened, name, adapter=name, limit=60) for name in ("", *names)]
        await pool.close()
        return names, found

    one, other = (
        {"VK_DRIVER_FILES": f"{MESA[0]}"},
        {"VK_DRIVER_FILES": f"{MESA[0]}:{CHROMIUM[0]}", "SPLATSCOPE_DEVICE": "swiftshader"},
    )
    with running(key, one, other) as address:
        names, (default, *found) = asyncio.run(ask(address))
    assert len(names) == 2
    assert found == names  # of which the first machine has but one
    assert default == names[0]


def test_a_key_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(KEY, "nowhere.pem")
    with pytest.raises(WorkerError, match=r"^The cluster's key, nowhere.pem, cannot be read"):
        asyncio.run(Pool("tls://127.0.0.1:1").run(os.getpid))
