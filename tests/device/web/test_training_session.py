"""The training page's run on real workers, as a reader presses its buttons: at once, and before there is a picture."""

import asyncio
import os
import signal
from collections.abc import Callable
from itertools import pairwise

import pytest

from splatscope.api.components import training
from splatscope.api.components.training import Training
from splatscope.paths import ASSETS
from splatscope.services.training import decode_picture
from splatscope.web.training import training_session
from splatscope.web.training.training_session import TrainingSession
from splatscope.web.widgets.upload import Upload
from splatscope.workers.errors import WorkerLost
from splatscope.workers.pool import Pool

PICTURE = (ASSETS / "chelsea.jpg").read_bytes()


class Reader:
    """Observes a session without a page."""

    watched = True

    def __init__(self) -> None:
        self.seen: list[int] = []  # the iterations reported

    def changed(self) -> None: ...

    def began(self, state) -> None: ...

    def reported(self, report) -> None:
        self.seen.append(report.iteration)


def pressing(press: Callable[[TrainingSession], None], until: Callable[[TrainingSession], bool]) -> TrainingSession:
    """A closed session, on which `press` was called and `until` came to hold."""

    async def scenario() -> TrainingSession:
        pool = Pool()
        session = TrainingSession(pool, Reader())
        session.settings.param.update(size=32, blobs=20, iterations=50)
        press(session)
        while not until(session):
            await asyncio.sleep(0.02)
        session.close()
        await pool.close()
        return session

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPLATSCOPE_WORKERS", "1")
        return asyncio.run(scenario())


def test_a_component_that_is_set_running_while_its_picture_is_read_trains_once_it_has_come(monkeypatch):
    async def scenario() -> Training:
        pool = Pool()
        monkeypatch.setattr(training, "worker_pool", pool)
        component = Training(ASSETS / "chelsea.jpg", size=32, gaussians=20, iterations=50)
        await component._start()
        while not component.session.busy:
            await asyncio.sleep(0.001)
        component.running = True
        while component.session.run is None or (component.running and not component.iteration):
            await asyncio.sleep(0.02)
        component.session.close()
        await pool.close()
        return component

    monkeypatch.setenv("SPLATSCOPE_WORKERS", "1")
    assert asyncio.run(scenario()).iteration > 0


def test_start_pressed_before_the_picture_has_come_trains_once_it_has():
    def press(session):
        session.use_picture(Upload("chelsea.jpg", PICTURE))
        session.start()

    session = pressing(press, lambda session: session.finished)
    assert session.report.iteration == 50
    assert session.message == ""


def test_the_first_iterations_are_shown_one_by_one_and_then_ever_more_at_once():
    def press(session):
        session.use_picture(Upload("chelsea.jpg", PICTURE))
        session.start()

    session = pressing(press, lambda session: session.finished)
    seen = session.observer.seen
    assert seen[:4] == [0, 1, 2, 4]
    assert all(after <= 2 * before for before, after in pairwise(seen[1:]))


def test_pause_takes_back_a_start_that_waits_for_the_picture():
    saved = []

    def press(session):
        session.use_picture(Upload("chelsea.jpg", PICTURE))
        session.start()
        session.pause()
        session.save_state(lambda data, name: saved.append(name))

    session = pressing(press, lambda session: bool(saved))
    assert saved == ["chelsea-0.npz"]
    assert not session.running


def test_a_start_that_waits_for_a_picture_that_is_refused_ends_with_its_message():
    def press(session):
        session.use_picture(Upload("torn.jpg", PICTURE[:100]))
        session.start()
        assert session.running

    session = pressing(press, lambda session: bool(session.message) and not session.running)
    assert session.message == "torn.jpg was refused. This is not a picture that can be read: PNG, JPEG and WebP are allowed."
    assert session.run is None


def test_start_reads_the_first_picture_again_if_its_worker_was_lost(monkeypatch):
    lost = iter([True])

    async def decode(*given):
        if next(lost, False):
            raise WorkerLost("The process was lost while it was reading the picture.")
        return await decode_picture(*given)

    monkeypatch.setattr(training_session, "decode_picture", decode)

    def press(session):
        session.use_picture(Upload("chelsea.jpg", PICTURE))

    def until(session):
        if session.run is None and session.message and not session.running:
            session.start()
        return session.finished

    session = pressing(press, until)
    assert session.report.iteration == 50
    assert session.message == ""


@pytest.mark.parametrize("running", [True, False])
def test_a_lost_worker_is_said_whether_it_had_the_run_in_hand_or_not_and_little_is_lost(running, monkeypatch):
    monkeypatch.setenv("SPLATSCOPE_WORKERS", "1")

    async def scenario() -> None:
        pool = Pool()
        session = TrainingSession(pool, Reader())
        session.settings.param.update(size=32, blobs=20, iterations=1_000_000)

        async def until(condition: Callable[[], object]) -> None:
            while not condition():
                assert session._training is None or not session._training.done() or not session.running
                await asyncio.sleep(0.01)

        session.use_picture(Upload("chelsea.jpg", PICTURE))
        session.start()
        await until(lambda: session.run and session.run.snapshot.step > 2)  # past those of the first iterations, taken one by one
        taken = session.run.snapshot.step
        if not running:
            await session.freeze()
            taken = session.run.snapshot.step
        (process,) = (await (await pool._connection()).client.run(os.getpid)).values()
        seconds = session.report.seconds
        assert seconds - session.run.snapshot.seconds < 5
        os.kill(process, signal.SIGKILL)
        if not running:
            connection = await pool._connection()
            await until(lambda: session.run.key not in connection.scheduler.affinity)
            session.step()
        await until(lambda: session.message)
        lost = f"The worker process of this run was lost. The run continues from iteration {taken:,} on a new one."
        assert session.message == lost
        before = session.report.iteration
        session.start()
        await until(lambda: session.report.iteration > before)
        session.close()
        await pool.close()

    asyncio.run(asyncio.wait_for(scenario(), 150))
