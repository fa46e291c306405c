"""The engine with real worker processes: who runs what, and what a job that crashes, hangs or fails costs."""

import asyncio
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from splatscope.paths import CHECKOUT
from splatscope.workers.connection import JobTimeout, WorkerError, WorkerLost
from splatscope.workers.pool import Pool

SOON = 3.0  # seconds past its limit within which a job is ended, on a busy machine


class Refusal(Exception):  # noqa: N818
    def __init__(self, what, why):
        super().__init__(f"{what}: {why}")


def refuse(why):
    raise ValueError(why)


def refuse_oddly(why):
    raise Refusal("a constructor with two arguments does not unpickle", why)


def crash():
    os.abort()


def violate_memory():
    ctypes.string_at(0)


def nap(seconds):
    time.sleep(seconds)
    return os.getpid()


def hold_the_gil(seconds):
    ctypes.PyDLL(None).sleep(seconds)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def count(state={}):  # noqa: B006 - the state of a worker, as a training run's
    state["n"] = state.get("n", 0) + 1
    return state["n"]


@pytest.fixture(scope="module")
def runner():
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def pool(runner):
    os.environ["SPLATSCOPE_WORKERS"] = "2"
    pool = Pool()
    yield pool
    pool.stop()
    del os.environ["SPLATSCOPE_WORKERS"]


@pytest.fixture
def run(runner, pool):
    """`run(async function)` calls it with the pool, on the module's loop."""
    return lambda scenario: runner.run(scenario(pool))


def test_a_key_keeps_its_worker_and_keys_spread(run):
    async def scenario(pool):
        first = [await pool.run(os.getpid, key="a") for _ in range(5)]
        second = [await pool.run(os.getpid, key="b") for _ in range(5)]
        assert len(set(first)) == len(set(second)) == 1
        assert first[0] != second[0]
        assert os.getpid() not in (first[0], second[0])
        counts = [await pool.run(count, key="a") for _ in range(3)]
        assert counts == [1, 2, 3]
        pool.forget("a")
        pool.forget("b")

    run(scenario)


def test_jobs_without_a_key_go_to_any_idle_worker(run):
    async def scenario(pool):
        began = time.monotonic()
        assert len(set(await asyncio.gather(pool.run(nap, 0.5), pool.run(nap, 0.5)))) == 2
        assert time.monotonic() - began < 0.95

    run(scenario)


@pytest.mark.parametrize(
    ("job", "kind", "words"),
    [
        (refuse, ValueError, "too many"),
        (refuse_oddly, RuntimeError, "Refusal.*too many"),
        (sys.exit, RuntimeError, "SystemExit"),
    ],
)
def test_an_exception_comes_back(run, job, kind, words):
    async def scenario(pool):
        pid = await pool.run(os.getpid, key="e")
        with pytest.raises(kind, match=words) as caught:
            await pool.run(job, "too many", key="e")
        assert not isinstance(caught.value, WorkerError)
        assert await pool.run(os.getpid, key="e") == pid, "an exception costs no worker"
        pool.forget("e")

    run(scenario)


def test_what_does_not_pickle_costs_no_worker(run):
    async def scenario(pool):
        pid = await pool.run(os.getpid, key="p")
        with pytest.raises(TypeError, match="pickle"):
            await pool.run(threading.Lock, key="p")
        with pytest.raises(TypeError, match="pickle"):
            await pool.run(len, threading.Lock(), key="p")
        assert await pool.run(os.getpid, key="p") == pid
        pool.forget("p")

    run(scenario)


@pytest.mark.parametrize("job", [crash, violate_memory])
def test_a_crash_costs_a_worker_and_the_next_job_runs(run, job):
    async def scenario(pool):
        pid = await pool.run(os.getpid, key="c")
        began = time.monotonic()
        with pytest.raises(WorkerLost):
            await pool.run(job, key="c")
        assert time.monotonic() - began < 2
        assert await pool.run(os.getpid, key="c") != pid
        assert not psutil.pid_exists(pid)
        pool.forget("c")

    run(scenario)


@pytest.mark.parametrize("job", [nap, hold_the_gil])
def test_a_hang_ends_at_its_limit_while_others_go_on(run, job):
    async def scenario(pool):
        hung, other = await pool.run(os.getpid, key="h"), await pool.run(os.getpid, key="o")
        assert hung != other
        began = time.monotonic()
        hang = asyncio.create_task(pool.run(job, 60, key="h", limit=1))
        queued = asyncio.create_task(pool.run(os.getpid, key="h", limit=0.5))
        while not hang.done():
            assert await pool.run(nap, 0.01, key="o") == other
        with pytest.raises(JobTimeout, match="longer than 1 s"):
            await hang
        assert 1 <= time.monotonic() - began < 1 + SOON
        assert await queued not in (hung, other), "what was queued behind runs on the fresh worker"
        assert not psutil.pid_exists(hung)
        pool.forget("h")
        pool.forget("o")

    run(scenario)


def test_two_keys_on_one_worker_take_turns(run):
    async def scenario(pool):
        keys, order = [f"turn {n}" for n in range(4)], []

        async def train(key):
            for _ in range(5):
                await pool.run(nap, 0.02, key=key)
                order.append(key)

        homes = [await pool.run(os.getpid, key=key) for key in keys]
        assert sorted(map(homes.count, homes)) == [2, 2, 2, 2]
        await asyncio.gather(*map(train, keys))
        for key in keys:
            pool.forget(key)
            assert key in order[:8], "everybody moves from the start"
            assert key in order[-8:], "nobody is far ahead"

    run(scenario)


def test_a_cancelled_wait_leaves_the_line_and_a_cancelled_job_keeps_its_turn(run):
    async def scenario(pool):
        pid = await pool.run(os.getpid, key="x")
        running = asyncio.create_task(pool.run(nap, 0.6, key="x"))
        await asyncio.sleep(0.2)
        waiting = asyncio.create_task(pool.run(crash, key="x"))
        await asyncio.sleep(0.1)
        began = time.monotonic()
        running.cancel()
        waiting.cancel()
        assert await pool.run(os.getpid, key="x", limit=1) == pid
        assert 0.1 < time.monotonic() - began < 2
        pool.forget("x")

    run(scenario)


def test_another_event_loop_uses_the_same_workers(pool, run):
    async def pids(pool):
        return set(await asyncio.gather(*[pool.run(nap, 0.1) for _ in range(4)]))

    expected, found = run(pids), []
    thread = threading.Thread(target=lambda: found.append(asyncio.run(pids(pool))))
    thread.start()
    thread.join()
    assert found == [expected]


def test_a_closed_pool_starts_again(runner, monkeypatch):
    monkeypatch.setenv("SPLATSCOPE_WORKERS", "1")

    async def scenario(pool):
        first = await pool.run(os.getpid)
        await pool.close()
        assert not psutil.pid_exists(first)
        assert await pool.run(os.getpid) != first
        await pool.close()

    runner.run(scenario(Pool()))


@pytest.fixture(scope="module")
def scheduler():
    """A running cluster with one worker, which two servers are to share."""
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    dask = [sys.executable, "-m", "dask"]
    command = [*dask, "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"]
    worker = [*dask, "worker", address, "--nworkers", "1", "--nthreads", "2", "--no-dashboard"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": here}
    processes = [subprocess.Popen(command, **quiet), subprocess.Popen(worker, **quiet)]
    yield address, processes[0]
    for process in reversed(processes):
        process.terminate()
        process.wait(20)


def test_servers_share_a_running_cluster(scheduler, runner, monkeypatch):
    monkeypatch.setenv("SPLATSCOPE_SCHEDULER", scheduler[0])

    async def scenario(one, other):
        pid = await one.run(os.getpid, key="s")
        with pytest.raises(ZeroDivisionError):
            await one.run(divmod, 1, 0)
        with pytest.raises(WorkerLost):
            await one.run(crash)
        assert await other.run(os.getpid) != pid
        hang = asyncio.create_task(one.run(hold_the_gil, 60, limit=1.5))
        await asyncio.sleep(0.5)
        # Two waits behind somebody else's job, one of them cut off by its end: neither is running, neither is an error.
        behind = await asyncio.gather(other.run(os.getpid, limit=0.5), other.run(nap, 0.1, limit=0.5))
        assert len(set(behind)) == 1
        with pytest.raises(JobTimeout):
            await hang
        await asyncio.gather(one.close(), other.close())

    runner.run(scenario(Pool(), Pool()))


def test_a_lost_scheduler_ends_all_waits(scheduler, runner):
    async def scenario(pool):
        await pool.run(os.getpid)
        jobs = [asyncio.create_task(pool.run(nap, 20)) for _ in range(2)]  # one runs, one waits behind it
        await asyncio.sleep(0.3)
        scheduler[1].kill()
        for job in jobs:
            with pytest.raises(WorkerError, match="connection to the cluster was lost"):
                await asyncio.wait_for(job, 5)
        with pytest.raises(WorkerError, match="No scheduler answers"):
            await pool.run(os.getpid)

    runner.run(scenario(Pool(scheduler[0])))


def test_no_scheduler_is_said_in_one_line(runner):
    with pytest.raises(WorkerError, match=r"^No scheduler answers at tcp://127.0.0.1:9: [^\n]*$"):
        runner.run(Pool("tcp://127.0.0.1:9").run(os.getpid))


def workers_of(server, log):
    """The worker processes of a server, once there are two."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        workers = [p for p in psutil.Process(server.pid).children(recursive=True) if "spawn_main" in " ".join(p.cmdline())]
        if len(workers) >= 2:
            return workers
        time.sleep(0.1)
    pytest.fail(log.read_text())


def running(processes, patience):
    """Those that still run after `patience` seconds; one that nobody has buried yet does not run."""
    end = time.monotonic() + patience
    while alive := [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]:
        if time.monotonic() > end:
            break
        time.sleep(0.05)
    return alive


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("how", ["SIGTERM", "SIGKILL"])
def test_no_process_outlives_the_server(how, tmp_path):
    command = [str(Path(sys.executable).parent / "panel"), "serve", "app", "--port", free_port()]
    log = tmp_path / "log"
    with log.open("w") as out, subprocess.Popen(command, cwd=CHECKOUT, stdout=out, stderr=out) as server:
        try:
            workers = workers_of(server, log)
            time.sleep(1)
            server.send_signal(getattr(signal, how))
            server.wait(40)  # on a busy machine; what matters is that nobody is left
            assert not running(workers, 5)
        finally:
            server.kill()
    assert "Traceback" not in log.read_text()


def test_a_hung_kernel_outlives_its_killed_server_by_its_limit_at_most(tmp_path):
    source = f"""
import asyncio, sys
sys.path.append({str(Path(__file__).parents[2])!r})
if __name__ == "__main__":
    from device.workers.test_pool import hold_the_gil
    from splatscope.workers import worker_pool as pool
    asyncio.run(pool.run(hold_the_gil, 60, limit=4))
"""
    script, log = tmp_path / "server.py", tmp_path / "log"
    script.write_text(source)
    with log.open("w") as out, subprocess.Popen([sys.executable, script], stdout=out, stderr=out) as server:
        try:
            workers = workers_of(server, log)
            time.sleep(2)
            server.kill()
            assert len(running(workers, 0.5)) == 1, "the kernel hangs"
            assert not running(workers, 4 + SOON)
        finally:
            server.kill()
