"""Training runs on real workers: snapshots, a dying worker, dropped runs, and settings that a device refuses."""

import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from splatscope.services import training
from splatscope.services.training import SettingsRefused, TrainingRun
from splatscope.splat.files.images import read_picture
from splatscope.splat.files.state_file import load_state
from splatscope.splat.initialise import start_state
from splatscope.splat.settings import Settings
from splatscope.workers.errors import WorkerLost
from splatscope.workers.pool import Pool


@pytest.fixture(scope="module")
def runner():
    """Runs coroutines on one event loop in a separate thread, since browser tests leave a loop running in this one."""

    class Runner(asyncio.Runner):
        def run(self, coroutine):
            return thread.submit(super().run, coroutine).result()

        def close(self):
            thread.submit(super().close).result()

    with ThreadPoolExecutor(1) as thread, Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def pool(runner):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPLATSCOPE_WORKERS", "2")
        pool = Pool()
        yield pool
        runner.run(pool.close())


@pytest.fixture
def run(runner, pool):
    """`run(async function)` calls it with the pool, on the module's loop."""
    return lambda scenario: runner.run(scenario(pool))


def tiny(**settings) -> Settings:
    return Settings(**{"size": 32, "blobs": 20, "iterations": 100_000} | settings)


def new_run(pool, **settings) -> TrainingRun:
    y, x = np.mgrid[:24, :32]
    target = np.stack([8 * x, 10 * y, 128 + 0 * x], axis=-1).astype(np.uint8)
    return TrainingRun(pool, start_state(tiny(**settings), target, "ramp.png"))


def arrays(state) -> list[np.ndarray]:
    return [state.splats.raw, state.splats.first_moment, state.splats.second_moment]


async def until(condition) -> None:
    """Wait for a condition; the deadline only ends a test that would otherwise hang."""
    end = asyncio.get_running_loop().time() + 120
    while not condition():
        assert asyncio.get_running_loop().time() < end
        await asyncio.sleep(0.01)


async def kill_worker_of(run: TrainingRun) -> None:
    """Kill the worker that holds `run`, as a crash would, even in the middle of a slice."""
    connection = await run.pool._connection()
    # a worker that an earlier test has killed may not have been given up yet, and does not answer
    processes = await connection.client.run(lambda: (os.getpid(), list(training._held)), on_error="ignore")
    os.kill(next(pid for pid, keys in processes.values() if run.key in keys), signal.SIGKILL)


def test_a_run_advances_and_learns(run):
    async def scenario(pool):
        one = new_run(pool)
        first = await one.advance(0)
        assert first.iteration == 0
        later = await one.advance(40, seconds=60)
        assert later.iteration == 40
        assert later.psnr > first.psnr + 1
        assert later.iterations_per_second > 0
        assert {"binnedDerivativesMain", "binnedUpdateMain", "binnedImageMain"} <= set(later.kernel_ms)
        assert (await one.advance(1)).iteration == 41
        assert one.adapter.name
        await one.close()

    run(scenario)


def test_a_slice_ends_after_its_seconds(run):
    async def scenario(pool):
        one = new_run(pool, iterations=1_000_000)
        await one.advance(1)
        report = await one.advance(1_000_000, seconds=0.1)
        assert 1 < report.iteration < 1_000_000
        assert report.seconds >= 0.1
        await one.close()

    run(scenario)


def test_a_run_stops_at_its_end_and_its_end_may_move(run):
    async def scenario(pool):
        one = new_run(pool, iterations=6)
        assert (await one.advance(50, seconds=60)).iteration == 6
        assert (await one.advance(50, seconds=60)).iteration == 6
        assert one.snapshot.step == 6
        assert (await one.advance(50, seconds=60, live={"iterations": 9})).iteration == 9
        await one.close()

    run(scenario)


def test_snapshots_come_after_their_interval_only(run):
    async def scenario(pool):
        one = new_run(pool)
        began = one.snapshot
        await one.advance(2, seconds=60)
        assert one.snapshot is began
        seconds = 0.0
        while seconds < training.SNAPSHOT_SECONDS:
            assert one.snapshot is began
            report = await one.advance(1_000_000, seconds=1.0)
            seconds = report.seconds
        assert one.snapshot.step == report.iteration
        assert one.snapshot.seconds == report.seconds
        taken = one.snapshot
        await one.advance(2, seconds=60)
        assert one.snapshot is taken
        await one.close()

    run(scenario)


def test_the_saved_state_is_the_devices_bit_for_bit(run):
    async def scenario(pool):
        one = new_run(pool, seed=7)
        await one.advance(12, seconds=60)
        saved = load_state(await one.save())
        assert saved.step == 12
        other = TrainingRun(pool, load_state(await one.save()))
        assert (await other.advance(0)).iteration == 12
        again = load_state(await other.save())
        for before, after in zip(arrays(saved), arrays(again), strict=True):
            assert np.array_equal(before, after)
        assert saved.generator.bit_generator.state == again.generator.bit_generator.state
        assert saved.settings.param.values() | {"name": ""} == again.settings.param.values() | {"name": ""}
        assert np.any(saved.splats.raw != one_start(7))
        await one.close()
        await other.close()

    def one_start(seed):
        return new_run(None, seed=seed).snapshot.splats.raw

    run(scenario)


def test_the_picture_is_what_the_report_measured(run):
    async def scenario(pool):
        one = new_run(pool)
        report = await one.advance(30, seconds=60)
        drawn = read_picture(await one.picture(), "", 4096).pixels
        assert drawn.shape == one.snapshot.target.shape
        error = np.mean((drawn / 255.0 - one.snapshot.target / 255.0) ** 2)
        assert -10 * np.log10(error) == pytest.approx(report.psnr, abs=0.1)
        await one.close()

    run(scenario)


def test_a_lost_worker_costs_what_came_after_the_snapshot(run):
    async def scenario(pool):
        one = new_run(pool, seed=3, rate_colour=0.05)
        await one.advance(10, seconds=60)
        await one.save()  # takes a snapshot
        assert one.snapshot.step == 10
        kept = [array.copy() for array in arrays(one.snapshot)]
        assert (await one.advance(5, seconds=60)).iteration == 15
        slice_ = asyncio.create_task(one.advance(1_000_000, seconds=20))
        connection = await pool._connection()
        await until(lambda: connection.scheduler.affinity[one.key].busy)
        await kill_worker_of(one)
        with pytest.raises(WorkerLost):
            await slice_
        assert (await one.advance(0)).iteration == 10
        back = load_state(await one.save())
        for before, after in zip(kept, arrays(back), strict=True):
            assert np.array_equal(before, after)
        assert back.settings.rate_colour == 0.05
        assert back.settings.seed == 3
        assert (await one.advance(5, seconds=60)).iteration == 15
        await one.close()

    run(scenario)


def test_a_worker_that_died_between_two_slices_costs_what_came_after_the_snapshot(run):
    async def scenario(pool):
        one = new_run(pool)
        await one.advance(4, seconds=60)
        await one.save()
        await kill_worker_of(one)
        connection = await pool._connection()
        await until(lambda: one.key not in connection.scheduler.affinity)
        assert not one.went_back
        assert (await one.advance(2, seconds=60)).iteration == 6
        assert one.went_back
        await one.close()

    run(scenario)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"blobs": 1_000_000, "kernels": "simple"}, "1,000,000 Gaussians are too many"),
        ({"size": 4096}, "16 to 1,024 are allowed"),
    ],
)
def test_what_the_device_does_not_take_is_refused_and_costs_no_worker(run, settings, words):
    async def scenario(pool):
        one = new_run(pool)
        before = await one.advance(3, seconds=60)
        asked = new_run(pool)
        asked.snapshot.settings.param.update(**settings)
        with pytest.raises(SettingsRefused, match=words) as refused:
            await asked.advance(0)
        assert "allowed" in str(refused.value)
        assert "\n" not in str(refused.value)
        assert (await one.advance(1)).iteration == before.iteration + 1
        await one.close()
        await asked.close()

    run(scenario)


def test_a_rate_reaches_the_worker_while_the_run_goes_on(run):
    async def scenario(pool):
        one = new_run(pool)
        await one.advance(5, seconds=60)
        moving = load_state(await one.save()).splats.raw
        await one.advance(5, seconds=60, live=dict.fromkeys(["rate_position", "rate_shape", "rate_colour", "rate_opacity"], 0.0))
        still = load_state(await one.save())
        assert still.step == 10
        assert np.array_equal(still.splats.raw, moving)
        assert still.settings.rate_position == 0
        await one.advance(5, seconds=60, live={"rate_colour": 0.1})
        moved = load_state(await one.save()).splats.raw
        assert np.any(moved[5:8] != moving[5:8])
        assert np.array_equal(moved[:5], moving[:5])
        await one.close()

    run(scenario)


def test_what_may_not_change_does_not(run):
    async def scenario(pool):
        one = new_run(pool)
        await one.advance(1, live={"blobs": 7, "seed": 9})
        state = load_state(await one.save())
        assert (state.settings.blobs, state.settings.seed) == (20, 0)
        await one.close()

    run(scenario)


def test_of_more_runs_than_the_device_has_room_for_none_loses_an_iteration(run):
    async def scenario(pool):
        runs = [new_run(pool, seed=seed) for seed in range(2 * training.MAX_RUNS[True] + 4)]
        alone = new_run(pool)
        for one in runs:
            await one.advance(3, seconds=60)
        reports = [await one.advance(2, seconds=60) for one in runs]
        assert [report.iteration for report in reports] == [5] * len(runs)
        await alone.advance(5, seconds=60)
        assert all(map(np.array_equal, arrays(await runs[0].fetch()), arrays(await alone.fetch())))
        await alone.close()
        kept = [await pool.run(held) for _ in range(2)]
        assert max(kept) <= training.MAX_RUNS[True]
        for one in runs:
            await one.close()
        assert [await pool.run(held, key=one.key) for one in runs[:2]] == [0, 0]
        for one in runs:
            pool.forget(one.key)

    run(scenario)


def test_a_closed_run_leaves_its_worker_and_can_still_go_on(run):
    async def scenario(pool):
        one = new_run(pool)
        await one.advance(3, seconds=60)
        await one.save()
        assert await pool.run(holds, one.key, key=one.key)
        await one.close()
        await one.close()
        assert not await everywhere(pool, one.key)
        assert (await one.advance(0)).iteration == 3
        await one.close()

    run(scenario)


def test_a_run_that_is_refused_or_left_while_it_begins_leaves_nothing(run):
    async def scenario(pool):
        refused = new_run(pool)
        refused.snapshot.settings.size = 4096
        with pytest.raises(SettingsRefused):
            await refused.advance(0)
        await refused.close()
        left = new_run(pool)
        beginning = asyncio.create_task(left.advance(0))
        connection = await pool._connection()
        await until(lambda: left.key in connection.scheduler.affinity)  # it has a worker, and goes on without its caller
        beginning.cancel()
        await asyncio.wait({beginning})
        await left.close()
        assert not await everywhere(pool, left.key)
        assert {refused.key, left.key}.isdisjoint(connection.scheduler.affinity)

    run(scenario)


def held() -> int:
    return len(training._held)


def holds(key: str) -> bool:
    return key in training._held


async def everywhere(pool, key: str) -> bool:
    """Whether any worker holds the run, asked past the queue of jobs."""
    connection = await pool._connection()
    return any((await connection.client.run(holds, key)).values())
