"""The pool with real worker processes: which worker runs a job, and the effects of a job that crashes, hangs or fails.

Nothing is judged by the clock: jobs create files when they start, and wait for files before they end. The one deadline,
GUARD, ends a test that would otherwise hang.
"""

import asyncio
import ctypes
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from itertools import pairwise
from pathlib import Path

import psutil
import pytest
import slangpy as spy
from dask.utils import parse_timedelta
from distributed.deploy import spec as dask_cluster

from splatscope.gpu import process_memory
from splatscope.paths import CHECKOUT
from splatscope.workers import pool as pool_module
from splatscope.workers import scheduler as scheduler_module
from splatscope.workers.errors import JobInterrupted, JobTimeout, WorkerError, WorkerLost
from splatscope.workers.pool import SANDBOXES, Pool
from splatscope.workers.sandbox.platform_support import missing_support
from splatscope.workers.sandboxed_job import current_job
from splatscope.workers.scheduler import Turn

GUARD = 150.0  # seconds
FOREVER = 10 * GUARD
confined = pytest.mark.skipif(bool(missing_support()), reason="this system cannot confine a process")


class Refusal(Exception):  # noqa: N818
    def __init__(self, what, why):
        super().__init__(f"{what}: {why}")


def grow():
    """Count as too large from now on."""
    process_memory.MOST_MEMORY = 0
    return os.getpid()


def grow_a_little():
    """Count as too large from now on, but not as far too large."""
    process_memory.MOST_MEMORY = psutil.Process().memory_info().rss / 1.4
    return os.getpid()


def refuse(why):
    raise ValueError(why)


def refuse_oddly(why):
    raise Refusal("a constructor with two arguments does not unpickle", why)


def crash():
    os.abort()


def violate_memory():
    ctypes.string_at(0)


def nap(seconds, started: Path | None = None):
    if started:
        started.touch()
    time.sleep(seconds)
    return os.getpid()


def hold_the_gil(seconds, started: Path | None = None):
    if started:
        started.write_text(str(os.getpid()))
    ctypes.PyDLL(None).sleep(int(seconds))


def wait_until(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + GUARD
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)


async def until(condition: Callable[[], object], what: str) -> None:
    """The same on an event loop."""
    await asyncio.to_thread(wait_until, condition, what)


def meet(folder: Path, name: str, number: int) -> int:
    """Return this process's id once `number` jobs with names of their own run at the same time."""
    (folder / name).touch()
    wait_until(lambda: len(list(folder.iterdir())) >= number, "the other jobs")
    return os.getpid()


def run_between(started: Path, released: Path, ended: Path) -> None:
    """Report that the job has started, wait until it is released, and leave a file at the end."""
    started.touch()
    wait_until(released.exists, "the release")
    ended.touch()


def fail_between(started: Path, released: Path) -> None:
    """Report that the job has started, wait until it is released, and fail."""
    started.touch()
    wait_until(released.exists, "the release")
    raise ValueError("too late")


def compiler_level() -> str:
    return spy.Logger.get().level.name


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def count(state={}):  # noqa: B006 - the state of a worker, as a training run's
    state["n"] = state.get("n", 0) + 1
    return state["n"]


class Stoppable:
    """Stands for a sandboxed process that is at a job."""

    def __init__(self):
        self._stopped = threading.Event()

    def give_way(self) -> None:
        self._stopped.set()

    def wait(self) -> str:
        job = current_job()
        assert job is not None
        job.uses(self)
        return "stopped" if self._stopped.wait(GUARD) else "ran on"


def until_stopped(started: Path, stopped: Path | None = None) -> str:
    started.touch()
    outcome = Stoppable().wait()
    if stopped and outcome == "stopped":
        stopped.touch()
    return outcome


def crash_once(crashed: Path) -> str:
    if not crashed.exists():
        crashed.touch()
        crash()
    return "ran"


async def until_started(started: Path, job: asyncio.Task) -> None:
    """Wait until a job has made this file, or raise what the job raised."""
    await until(lambda: started.exists() or job.done(), "the job")
    assert not job.done(), job.exception()


async def both_workers(pool: Pool) -> None:
    """Wait until the pool has its two workers, one of which the test before may have ended."""
    connection = await pool._connection()
    await until(lambda: len(connection.scheduler.workers) == 2, "two workers")


@pytest.fixture(scope="module")
def runner():
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def pool(runner):
    """A pool of two workers; a lost one is replaced before a key moves to another, however long that takes here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPLATSCOPE_WORKERS", "2")
        patch.setattr(scheduler_module, "REPLACEMENT_WAIT", GUARD)
        pool = Pool()
        yield pool
        pool.stop()


@pytest.fixture
def run(runner, pool):
    """`run(async function)` calls it with the pool, on the module's loop."""
    return lambda scenario: runner.run(scenario(pool))


def test_a_key_keeps_its_worker_and_keys_spread(run):
    async def scenario(pool):
        await both_workers(pool)
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


def test_jobs_without_a_key_go_to_any_idle_worker(run, tmp_path):
    async def scenario(pool):
        await both_workers(pool)
        pids = await asyncio.gather(*(pool.run(meet, tmp_path, name, 2, limit=FOREVER) for name in "ab"))
        assert len(set(pids)) == 2

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
        with pytest.raises(WorkerLost):  # long before the job's limit
            await asyncio.wait_for(pool.run(job, key="c", limit=FOREVER), GUARD)
        assert await pool.run(os.getpid, key="c") != pid
        await until(lambda: not psutil.pid_exists(pid), "the end of the process")
        pool.forget("c")

    run(scenario)


def test_a_worker_that_has_grown_too_large_is_replaced_once_no_key_needs_it(run, tmp_path):
    async def scenario(pool):
        await both_workers(pool)
        large = await pool.run(grow, key="l")
        before = [await pool.run(count, key="l") for _ in range(2)]
        assert before[1] == before[0] + 1, "its state would be lost"
        pool.forget("l")
        connection = await pool._connection()
        pids = await asyncio.gather(*(pool.run(meet, tmp_path, name, 2, limit=FOREVER) for name in "ab"))
        assert large in pids
        await until(lambda: not psutil.pid_exists(large), "the end of the process")
        await until(lambda: connection._replacing is None, "the fresh process")
        await both_workers(pool)
        later = [pool.run(meet, tmp_path, name, 4, limit=FOREVER) for name in "cd"]
        fresh = await asyncio.gather(*later)
        assert large not in fresh
        assert set(fresh) & set(pids), "the other worker is not replaced"

    run(scenario)


def test_a_worker_that_is_a_little_too_large_is_replaced_while_nobody_waits(run, tmp_path):
    started, released, ended = (tmp_path / name for name in ("started", "released", "ended"))

    async def scenario(pool):
        await both_workers(pool)
        other = asyncio.create_task(pool.run(run_between, started, released, ended, limit=FOREVER))
        await until(started.exists, "the job of the other worker")
        large = await pool.run(grow_a_little)
        assert await pool.run(os.getpid) == large, "it is needed"
        released.touch()
        await other
        for lengths in 6 * [(0.1, 0.5), (0.5, 0.1)]:  # until its job is the last to end
            jobs = [asyncio.create_task(pool.run(nap, seconds, key=f"nap {seconds}", limit=FOREVER)) for seconds in lengths]
            await asyncio.sleep(0.05)
            for seconds in lengths:
                pool.forget(f"nap {seconds}")
            if large not in await asyncio.gather(*jobs):
                break
        await until(lambda: not psutil.pid_exists(large), "the end of the process")
        await both_workers(pool)

    run(scenario)


def test_a_worker_that_is_lost_over_a_file_says_so_and_blames_no_kernel(run):
    async def scenario(pool):
        work = {"key": "f", "file_work": "reading the picture cat.png"}
        with pytest.raises(WorkerLost, match=r"^The process was lost while it was reading the picture cat\.png: "):
            await asyncio.wait_for(pool.run(crash, limit=FOREVER, **work), GUARD)
        with pytest.raises(
            JobTimeout, match=r"^The process was stopped after 0\.5 s, while it was reading the picture cat\.png\. "
        ):
            await asyncio.wait_for(pool.run(nap, FOREVER, limit=0.5, **work), GUARD)
        pool.forget("f")

    run(scenario)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_worker_that_a_signal_stopped_is_replaced_long_before_its_job_s_limit(run, tmp_path):
    async def scenario(pool):
        pid = await pool.run(os.getpid, key="s")
        job = asyncio.create_task(pool.run(nap, FOREVER, tmp_path / "started", key="s", limit=FOREVER))
        await until_started(tmp_path / "started", job)
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(WorkerLost):
            await asyncio.wait_for(job, GUARD)
        assert await pool.run(os.getpid, key="s") != pid
        pool.forget("s")

    run(scenario)


def end_of_a_stopped_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    process.send_signal(signal.SIGSTOP)
    return process.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_what_a_worker_has_started_ends_too_if_a_signal_stops_it(run):
    assert run(lambda pool: pool.run(end_of_a_stopped_process, limit=GUARD)) == -signal.SIGKILL


@pytest.mark.parametrize("job", [nap, hold_the_gil])
def test_a_hang_ends_at_its_limit_while_others_go_on(run, job, tmp_path):
    async def scenario(pool):
        await both_workers(pool)
        hung, other = await pool.run(os.getpid, key="h"), await pool.run(os.getpid, key="o")
        assert hung != other
        began, started = time.monotonic(), tmp_path / "started"
        hang = asyncio.create_task(pool.run(job, FOREVER, started, key="h", limit=4))
        queued = asyncio.create_task(pool.run(os.getpid, key="h", limit=3))
        await until_started(started, hang)
        assert await pool.run(os.getpid, key="o") == other
        assert not hang.done(), "the other worker's job ran meanwhile"
        with pytest.raises(JobTimeout, match="longer than 4 s"):
            await asyncio.wait_for(hang, GUARD)
        assert time.monotonic() - began >= 4
        assert await queued not in (hung, other), "what was queued behind it runs on the fresh worker"
        await until(lambda: not psutil.pid_exists(hung), "the end of the process")
        pool.forget("h")
        pool.forget("o")

    run(scenario)


def test_two_keys_on_one_worker_take_turns(run):
    async def scenario(pool):
        await both_workers(pool)
        keys, order = [f"turn {n}" for n in range(4)], []

        async def train(key):
            for _ in range(5):
                order.append((await pool.run(nap, 0.02, key=key), key))

        workers = [await pool.run(os.getpid, key=key) for key in keys]
        assert sorted(map(workers.count, workers)) == [2, 2, 2, 2]
        await asyncio.gather(*map(train, keys))
        for worker in set(workers):
            ran = [key for pid, key in order if pid == worker]
            assert len(ran) == 10
            assert all(before != after for before, after in pairwise(ran)), "neither runs twice while the other waits"
        for key in keys:
            pool.forget(key)

    run(scenario)


@confined
def test_a_session_s_long_untrusted_job_is_stopped_once_another_session_has_waited(run, monkeypatch, tmp_path):
    monkeypatch.setattr(pool_module, "PATIENCE", 0.3)

    async def scenario(pool):
        turn: ContextVar[Turn] = ContextVar("turn")
        turn.set(Turn("one"))
        monkeypatch.setattr(pool, "whose_turn", turn.get)
        slots = SANDBOXES * 2 // 2
        long = [asyncio.create_task(pool.run(until_stopped, tmp_path / str(n), limit=GUARD, untrusted=True)) for n in range(slots)]
        for n, job in enumerate(long):
            await until_started(tmp_path / str(n), job)
        own = asyncio.create_task(pool.run(os.getpid, untrusted=True))
        turn.set(Turn("another"))
        assert await pool.run(os.getpid, untrusted=True), "another address has slots of its own"
        others = [
            asyncio.create_task(pool.run(until_stopped, tmp_path / f"other {n}", limit=GUARD, untrusted=True)) for n in range(slots)
        ]
        for n, job in enumerate(others):
            await until_started(tmp_path / f"other {n}", job)
        assert not any(job.done() for job in long), "an address's own next job lets them run"
        turn.set(Turn("third"))
        assert await pool.run(os.getpid, untrusted=True)
        ended = [job.result() for job in (*long, *others) if job.done()]
        for job in (*others, *long, own):
            job.cancel()
        await asyncio.wait((*others, *long, own))
        return ended

    assert run(scenario)[:1] == ["stopped"]


@confined
def test_a_sandboxed_job_is_stopped_when_its_caller_leaves(run, tmp_path):
    async def scenario(pool):
        job = asyncio.create_task(pool.run(until_stopped, tmp_path / "started", tmp_path / "stopped", limit=GUARD, untrusted=True))
        await until_started(tmp_path / "started", job)
        job.cancel()
        await until((tmp_path / "stopped").exists, "the end of the job")

    run(scenario)


def test_the_app_s_own_kernels_run_again_if_their_worker_is_lost(run, tmp_path):
    async def scenario(pool):
        await both_workers(pool)
        assert await pool.run(crash_once, tmp_path / "crashed", shipped=True) == "ran"
        with pytest.raises(JobInterrupted, match=r"lost twice: it was stopped from outside, or the driver crashed\. Try again"):
            await pool.run(crash, shipped=True)

    run(scenario)


def test_a_cancelled_wait_leaves_the_queue_and_a_cancelled_job_keeps_its_worker(run, tmp_path):
    started, released, ended = (tmp_path / name for name in ("started", "released", "ended"))

    async def scenario(pool):
        pid = await pool.run(os.getpid, key="x")
        running = asyncio.create_task(pool.run(run_between, started, released, ended, key="x", limit=FOREVER))
        await until_started(started, running)
        waiting = asyncio.create_task(pool.run(crash, key="x"))
        await asyncio.sleep(0)
        running.cancel()
        waiting.cancel()
        await asyncio.wait({running, waiting})
        assert running.cancelled()
        assert waiting.cancelled()
        last = asyncio.gather(pool.run(ended.exists, key="x"), pool.run(os.getpid, key="x"))
        await asyncio.sleep(0.1)
        assert not last.done(), "the cancelled job still runs"
        released.touch()
        assert await last == [True, pid], "they ran after it, and what would have crashed the worker did not run"
        pool.forget("x")

    run(scenario)


def test_what_a_job_raises_after_its_caller_has_gone_is_not_logged_as_forgotten(run, tmp_path, caplog):
    started, released = tmp_path / "started", tmp_path / "released"

    async def scenario(pool):
        running = asyncio.create_task(pool.run(fail_between, started, released, key="x", limit=FOREVER))
        await until_started(started, running)
        running.cancel()
        await asyncio.wait({running})
        released.touch()
        assert await pool.run(os.getpid, key="x"), "it ran after the job that failed"
        pool.forget("x")

    run(scenario)
    gc.collect()
    assert "never retrieved" not in caplog.text


def test_a_worker_prints_none_of_the_compilers_warnings_about_recorded_forms(run):
    async def scenario(pool):
        return await pool.run(compiler_level)

    assert run(scenario) == "fatal"


def test_a_pool_that_is_closed_while_it_replaces_a_worker_lets_that_come_to_its_end(runner, monkeypatch):
    monkeypatch.setenv("SPLATSCOPE_WORKERS", "1")

    async def scenario(pool):
        connection = await pool._connection()
        await until(lambda: connection.scheduler.workers, "a worker")
        connection._replace(next(iter(connection.scheduler.workers.values())))
        replacing = connection._replacing
        await pool.close()
        return replacing.done() and not replacing.cancelled()

    assert runner.run(scenario(Pool()))


def test_dask_keeps_no_history_of_the_load(run):
    async def scenario(pool):
        await both_workers(pool)
        monitors = [one.monitor for one in (pool._cluster.scheduler, *pool._cluster.workers.values())]
        for monitor in monitors:
            monitor.update()
            monitor.update()
        return [len(values) for monitor in monitors for values in monitor.quantities.values()]

    kept = run(scenario)
    assert len(kept) > 3 * 3  # of the scheduler and two nannies: processor time, memory and others
    assert set(kept) == {1}


def test_another_event_loop_uses_the_same_workers(pool, run, tmp_path):
    def pids_in(folder):
        async def pids(pool):
            folder.mkdir()
            await both_workers(pool)
            return set(await asyncio.gather(*[pool.run(meet, folder, name, 2, limit=FOREVER) for name in "ab"]))

        return pids

    expected, found = run(pids_in(tmp_path / "here")), []
    thread = threading.Thread(target=lambda: found.append(asyncio.run(pids_in(tmp_path / "there")(pool))))
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


def test_a_lost_worker_is_replaced_however_long_that_takes(runner, monkeypatch):
    """To dask, a second is as long as a hundred here: by its own limit it gives up a worker that has not come back within 15 s."""
    monkeypatch.setenv("SPLATSCOPE_WORKERS", "1")
    monkeypatch.setattr(dask_cluster, "parse_timedelta", lambda text: parse_timedelta(text) / 100)

    async def scenario(pool):
        first = await pool.run(os.getpid)
        with pytest.raises(WorkerLost):
            await pool.run(crash)
        assert await pool.run(nap, 2) != first  # given up, the new one would be ended under this job
        await pool.close()

    runner.run(scenario(Pool()))


@pytest.fixture(scope="module")
def scheduler():
    """A running cluster with one worker, which two servers are to share."""
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    dask = [sys.executable, "-m", "dask"]
    command = [*dask, "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"]
    worker = [*dask, "worker", address, "--nworkers", "1", "--nthreads", "2", "--no-dashboard"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": here}
    processes = [subprocess.Popen(command, **quiet), subprocess.Popen(worker, **quiet)]
    wait_until(lambda: answers(int(port)), "the scheduler")
    yield address, processes[0]
    for process in processes:  # killed, the worker does not look for its scheduler first; what it has started ends with it
        process.kill()
        process.wait(GUARD)


def test_servers_share_a_running_cluster(scheduler, runner, monkeypatch, tmp_path):
    monkeypatch.setenv("SPLATSCOPE_SCHEDULER", scheduler[0])

    async def scenario(one, other):
        pid = await one.run(os.getpid, key="s")
        with pytest.raises(ZeroDivisionError):
            await one.run(divmod, 1, 0)
        with pytest.raises(WorkerLost):
            await one.run(crash)
        second = await other.run(os.getpid)
        assert second != pid
        started = tmp_path / "started"
        hang = asyncio.create_task(one.run(hold_the_gil, FOREVER, started, limit=4))
        await until_started(started, hang)
        # Two waits behind another server's job, one of them cut off by its end: neither is running, neither is an error.
        behind = await asyncio.gather(other.run(os.getpid, limit=3), other.run(nap, 0.1, limit=3))
        assert len(set(behind)) == 1
        assert second not in behind
        with pytest.raises(JobTimeout):
            await hang
        await asyncio.gather(one.close(), other.close())

    runner.run(scenario(Pool(), Pool()))


def test_a_lost_scheduler_ends_all_waits(scheduler, runner, monkeypatch, tmp_path):
    async def scenario(pool):
        await pool.run(os.getpid)
        running = asyncio.create_task(pool.run(nap, 60, tmp_path / "started", limit=FOREVER))
        await until_started(tmp_path / "started", running)
        waiting = asyncio.create_task(pool.run(nap, 60, limit=FOREVER))
        await asyncio.sleep(0.1)
        scheduler[1].kill()
        monkeypatch.setattr(pool_module, "CONNECTION_LIMIT", 1.0)
        for job in (running, waiting):
            with pytest.raises(WorkerError, match="connection to the cluster was lost"):
                await asyncio.wait_for(job, GUARD)
        with pytest.raises(WorkerError, match="No scheduler answers"):
            await pool.run(os.getpid)

    runner.run(scenario(Pool(scheduler[0])))


def test_no_scheduler_is_said_in_one_line(runner, monkeypatch):
    monkeypatch.setattr(pool_module, "CONNECTION_LIMIT", 1.0)
    with pytest.raises(WorkerError, match=r"^No scheduler answers at tcp://127.0.0.1:9: [^\n]*$"):
        runner.run(Pool("tcp://127.0.0.1:9").run(os.getpid))


def workers_of(server, log):
    """The worker processes of a server, once there are two."""
    end = time.monotonic() + GUARD
    while time.monotonic() < end:
        workers = [p for p in psutil.Process(server.pid).children(recursive=True) if "spawn_main" in " ".join(p.cmdline())]
        if len(workers) >= 2:
            return workers
        time.sleep(0.1)
    pytest.fail(log.read_text())


def running(processes):
    """Return those that still run; zombies do not count."""
    return [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


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
            server.wait(GUARD)
            wait_until(lambda: not running(workers), "the end of the workers")  # a driver's call is finished first
        finally:
            server.kill()
    assert "Traceback" not in log.read_text()


def test_a_hung_kernel_outlives_its_killed_server_by_its_limit_at_most(tmp_path):
    started = tmp_path / "started"
    source = f"""
import asyncio, pathlib, sys
sys.path.append({str(Path(__file__).parents[2])!r})
if __name__ == "__main__":
    from device.workers.test_pool import FOREVER, hold_the_gil
    from splatscope.workers import worker_pool as pool
    asyncio.run(pool.run(hold_the_gil, FOREVER, pathlib.Path({str(started)!r}), limit=4))
"""
    script, log = tmp_path / "server.py", tmp_path / "log"
    script.write_text(source)
    with log.open("w") as out, subprocess.Popen([sys.executable, script], stdout=out, stderr=out) as server:
        try:
            workers = workers_of(server, log)
            wait_until(lambda: started.exists() and started.read_text(), "the job that hangs")
            assert int(started.read_text()) in [worker.pid for worker in workers]
            server.kill()
            wait_until(lambda: not running(workers), "the end of the workers")  # long before the kernel would end
        finally:
            server.kill()
