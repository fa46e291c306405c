"""The training of one page: one run at a time, which advances slice by slice on the pool."""

import asyncio
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import param

from splatscope.services.training import SettingsRefused, TrainingRun, decode_picture, decode_state
from splatscope.splat.files.images import ImageError, encode
from splatscope.splat.files.state_file import StateError, save_state
from splatscope.splat.initialise import start_state
from splatscope.splat.progress_report import ProgressReport
from splatscope.splat.settings import LIVE, Settings
from splatscope.splat.state import HISTORY, TrainingState
from splatscope.web.durable_files import DurableFiles
from splatscope.web.training.left_runs import LeftRuns
from splatscope.web.widgets.upload import Upload
from splatscope.workers.errors import JobTimeout, WorkerError
from splatscope.workers.pool import Pool

log = logging.getLogger(__name__)

MOST_PENDING = 4  # pieces of work under way or waiting, beyond which steps are not taken
MOST_STORED, MOST_STORED_BYTES = 128, 256 * 2**20  # runs that outlive the server
TRIES = 3  # to take up a stored run while the server's workers are starting

Deliver = Callable[[bytes, str], None]  # file, name


class Observer(Protocol):
    """Receives what a session reports. All methods are called on the event loop."""

    @property
    def watched(self) -> bool:
        """Whether the reports are seen. If not, training waits."""

    def changed(self) -> None:
        """Handle a change of the session's attributes."""

    def began(self, state: TrainingState) -> None:
        """Handle the start of another run, from this state."""

    def reported(self, report: ProgressReport) -> None:
        """Handle a report on the run."""


@dataclass(frozen=True)
class Earlier:
    """A run that the reader can go back to."""

    run: TrainingRun
    report: ProgressReport
    history: np.ndarray
    file: Upload
    note: str
    running: bool


@dataclass(frozen=True)
class _Stored:
    """What of a run outlives the server: its last snapshot, whether it was running, and settings that have changed since."""

    state: TrainingState
    running: bool
    live: dict[str, float]

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same snapshot, with the same settings."""
        return isinstance(other, _Stored) and self.state is other.state and (self.running, self.live) == (other.running, other.live)

    def encode(self) -> bytes:
        """Return a line of JSON, followed by the run's state file."""
        return json.dumps({"running": self.running}).encode() + b"\n" + save_state(self.state)


class TrainingSession:
    """The page's run. Methods return at once, and changes are reported to the observer.

    Attributes:
        settings: The reader's choices. Only those in `LIVE` affect a run that has started.
        running: Whether the run is training.
        busy: What the run is waiting for, apart from training; "" for nothing.
        message: The latest error or remark, in one line.
        run: The run on the pool; None before the first picture.
        report: The latest report; None before the first.
        history: The measurements of all reports, (n,) of HISTORY.
        note: A remark beside the picture's name.
        before: The run that a change has ended, for the reader to go back to; None for none.
        has_taken_up: Whether it goes on with a run that another page has left.
        key: A secret by which the reader's tab finds the run again after a reload, also if the server has restarted meanwhile.
    """

    def __init__(self, pool: Pool, observer: Observer):
        """Start without a run. A picture or a state file starts one."""
        self.pool = pool
        self.observer = observer
        self.settings = Settings()
        self.running = False
        self.busy = ""
        self.message = ""
        self.run: TrainingRun | None = None
        self.report: ProgressReport | None = None
        self.history: np.ndarray = np.zeros(0, HISTORY)
        self.note = ""
        self.before: Earlier | None = None
        self.has_taken_up = False
        self.key = ""
        self._take_key(secrets.token_urlsafe(16))
        self._file = self._first = Upload("", b"")
        self._last_stored: _Stored | None = None
        self._is_chosen = False  # whether the reader has done anything, so that the run is worth storing
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._training: asyncio.Task[None] | None = None

    @property
    def settled(self) -> bool:
        """Whether no slice of a run is under way: a paused run still finishes the one that it is in."""
        return self._training is None or self._training.done()

    @property
    def is_stored(self) -> bool:
        """Whether the run outlives the server."""
        return durable.are_written

    # Requests of the page.

    def begin(self, first: Upload) -> None:
        """Start a run on the picture that the page opens with, unless a run was taken up."""
        self._first = first
        if not self.has_taken_up:
            self._do(self._load_picture(first), then_train=self.running)

    def start(self) -> None:
        """Train, from the beginning if the run is finished. While a picture is being read, train as soon as it is there.

        If the first picture could not be read because its worker was lost, it is read again.
        """
        if self.finished or (self.run is None and self._file.data and not self._lock.locked()):
            self._do(self._renew(), then_train=True)
        else:
            self._train()

    def pause(self) -> None:
        """Pause after the current slice."""
        self.running = False
        self._store()
        self.observer.changed()

    def step(self) -> None:
        """Pause and train one iteration, unless several that were requested have still to come."""
        self.running = False
        if not self.finished and len(self._tasks) < MOST_PENDING:
            self._do(self._advance(1))

    def reset(self) -> None:
        """Pause and restart the run from its beginning."""
        self.running = False
        self._do(self._renew())

    def undo(self) -> None:
        """Pause and go back to the run before the last change that began another."""
        self.running = False
        self._do(self._go_back())

    def use_picture(self, file: Upload) -> None:
        """Start a run on an encoded picture."""
        self._is_chosen = True
        self._do(self._load_picture(file), then_train=self.running)

    def use_state(self, file: Upload) -> None:
        """Resume a run from a state file."""
        self._is_chosen = True
        self._do(self._load_state(file))

    def change(self, name: str, value: Any) -> None:
        """Change a setting. An invalid value is refused with a message that says what is allowed."""
        if self.has_taken_up and self.run is None:  # the run that is being taken up has settings of its own
            self._do(self._change_later(name, value))
            return
        try:
            if name not in self.settings.param or name == "name":
                raise ValueError(f"There is no setting {name}.")
            before = self.settings.param.values()
            self.settings.param.update(**{name: value})
        except (ValueError, TypeError) as error:
            self.tell(_message_for(error, self.settings, name, value))
            return
        self._is_chosen = True
        if before[name] == value or self.run is None:
            return
        if name in LIVE:
            self.run.snapshot.settings.param.update(**{name: value})
            self._store()
            self.observer.changed()
        else:
            self._do(self._renew_or_return(name, before[name]), then_train=self.running)

    async def freeze(self) -> TrainingState:
        """Pause, and return the state after all earlier requests are done. Raises WorkerError."""
        self.pause()
        async with self._lock:
            if self.run is None:
                raise WorkerError("There is no run yet: choose a picture first.")
            return await self.run.fetch(self._live())

    async def still(self) -> bytes:
        """Return the picture, a PNG, after all earlier requests are done. Raises WorkerError."""
        async with self._lock:
            if self.run is None:
                raise WorkerError("There is no run yet: choose a picture first.")
            return await self.run.picture()

    def save_state(self, deliver: Deliver) -> None:
        """Pass the state file to `deliver(data, name)`."""
        self._do(self._deliver(lambda run: run.save(self._live()), deliver, "npz"))

    def save_picture(self, deliver: Deliver) -> None:
        """Pass the picture, a PNG, to `deliver(data, name)`."""
        self._do(self._deliver(lambda run: run.picture(), deliver, "png"))

    def save_gaussians(self, deliver: Deliver) -> None:
        """Pass the Gaussians, a .ply file, to `deliver(data, name)`."""
        self._do(self._deliver(lambda run: run.ply(), deliver, "ply"))

    def save_animation(self, deliver: Deliver) -> None:
        """Pass the animation of the run, a GIF, to `deliver(data, name)`."""
        self._do(self._deliver(lambda run: run.animation(), deliver, "gif"))

    def return_to(self, key: str, reloaded: bool) -> None:
        """Take up the run that the tab with this key has left, and go on with it if it was running.

        A page that is still open gives up its run only to a tab that was `reloaded`: a copy of the tab has the same key.
        """
        holder = _open.get(key)
        earlier = _left.take(key) or (holder.give() if holder is not None and reloaded and holder is not self else None)
        if earlier is not None:
            work = self._take_up(earlier)
        elif key in durable and (holder is None or reloaded):
            work = self._restore(key)
        else:
            return
        if holder is not None:
            holder._take_key(secrets.token_urlsafe(16))
        self._take_key(key)
        self.has_taken_up = self._is_chosen = True
        self._do(work)

    def _take_key(self, key: str) -> None:
        if _open.get(self.key) is self:
            del _open[self.key]
        self.key = key
        _open[key] = self

    def close(self) -> None:
        """Cancel all tasks, release the picture, and leave the run: for a while, the reader's tab may take it up again."""
        left = self.give()
        self._file = Upload("", b"")
        for task in self._tasks:
            task.cancel()
        if self.before is not None:
            _background(self.before.run.close())
        if self.run is not None:
            _background(self.run.close())
        if left is not None:
            _left.leave(self.key, left)

    def give(self) -> "Earlier | None":
        """Return the run for another session to take up, and keep none; None if it has not begun."""
        if _open.get(self.key) is self:
            del _open[self.key]
        running, self.running = self.running, False
        given = self._earlier(running)
        if given is not None:
            self.run = None
        return given

    def _earlier(self, running: bool) -> "Earlier | None":
        """Return the run as it is, for somebody to go back to; None if it has not begun."""
        if self.run is None or self.report is None or not self.report.iteration:
            return None
        return Earlier(self.run, self.report, self.history, self._file, self.note, running)

    @property
    def source_name(self) -> str:
        """The name of the picture being fitted."""
        return self._file.name

    @property
    def finished(self) -> bool:
        """Whether the run has done all its iterations."""
        return self.report is not None and self.report.iteration >= self.settings.iterations

    # Implementation. Jobs on the run take turns, so a click waits for the current slice and no longer.

    def _do(self, work: Coroutine[Any, Any, None], then_train: bool = False) -> None:
        async def guarded() -> None:
            async with self._lock:
                succeeded = await self._guard(work)
            if succeeded and then_train:
                self._train()

        task = asyncio.get_running_loop().create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # the page may be left before the work starts

    def _train(self) -> None:
        self.running, self.message, self._is_chosen = True, "", True
        self._store()
        self.observer.changed()
        if self._training is None or self._training.done():
            self._training = asyncio.get_running_loop().create_task(self._slices())
            self._tasks.add(self._training)
            self._training.add_done_callback(self._tasks.discard)

    async def _slices(self) -> None:
        losses = 0
        while self.running and not self.finished:
            if not self.observer.watched:  # a page that is not seen does not use the device
                await asyncio.sleep(0.2)
                continue
            async with self._lock:
                if not self.running or self.run is None:  # the picture was refused
                    break
                # 1, 2, 4, 8, …: the first slices are short, to show how the picture forms; soon their time limits them.
                done = self.report.iteration if self.report is not None else 0
                succeeded = await self._guard(self._advance(max(1, done)))
            losses = 0 if succeeded else losses + 1
            # A lost worker costs the run a few seconds, so training continues. Repeated losses would never end, so they stop it.
            if losses > 1:
                self.running = False
        self.running = False
        self._store()
        self.observer.changed()

    async def _guard(self, work: Awaitable[None]) -> bool:
        """Await `work` and return whether it succeeded. An error becomes the page's message."""
        try:
            await work
        except (WorkerError, SettingsRefused, ImageError, StateError) as error:
            self.tell(str(error))
            return False
        except Exception as error:
            log.exception("A job of the training page failed")
            self.tell(f"This failed: {error or type(error).__name__}. The server's log has the details.")
            return False
        finally:
            self.busy = ""
        self._store()
        self.observer.changed()
        return True

    def _store(self) -> None:
        """Have the run outlive the server, as it was at its last snapshot."""
        if self.run is None or not (self._is_chosen or self.run.snapshot.step):
            return
        run = _Stored(self.run.snapshot, self.running, self._live())
        if run != self._last_stored:
            self._last_stored = run
            durable.save(self.key, lambda: run)

    async def _advance(self, iterations: int) -> None:
        if self.run is None:
            return
        software = self.run.adapter is None or self.run.adapter.is_software
        resumes_at = self.run.snapshot.step
        try:
            report = await self.run.advance(iterations, 0.5 if software else 0.1, self._live())
        except WorkerError as error:
            self.run.went_back = False
            what = "stopped, because it took too long: choose a smaller picture or fewer Gaussians"
            raise WorkerError(_loss(what if isinstance(error, JobTimeout) else "lost", resumes_at)) from error
        if self.run.went_back:  # the worker was lost between two slices
            self.run.went_back, self.message = False, _loss("lost", resumes_at)
        self._note(report)

    async def _load_picture(self, file: Upload) -> None:
        self._wait_for("Reading the picture")
        if self.run is None:  # if it fails, `start` tries again
            self._file = file
        with _refusing(file.name):
            picture = await decode_picture(self.pool, file.data, file.name, self.settings.size)
        await self._begin(start_state(self.settings_copy(), picture.pixels, file.name), picture.note)
        self._file = file

    async def _load_state(self, file: Upload) -> None:
        self._wait_for("Reading the state file")
        with _refusing(file.name):
            state = await decode_state(self.pool, file.data)
        await self._resume(state, f"resumed at iteration {state.step:,}")
        self.running = False  # only now, because a file that is refused must not affect the run

    async def _resume(self, state: TrainingState, note: str) -> None:
        await self._begin(state, note)
        self._file = Upload(state.target_name, encode(state.target, "PNG"))
        self._take_settings(state.settings)

    async def _restore(self, key: str) -> None:
        """Go on with a run from before the server's restart. If that fails, begin as a page does."""
        head, _, data = (durable.read(key) or b"").partition(b"\n")
        try:
            self.running = self.running or json.loads(head)["running"]
            self._wait_for("Taking up the run")
            for tries_left in reversed(range(TRIES)):
                try:
                    await self._resume(await decode_state(self.pool, data), "")
                    break
                except WorkerError:
                    if not tries_left:
                        raise
        except Exception as error:
            self.running = self._is_chosen = False  # so that what is stored stays
            if self.run is None and self._first.data:
                await self._load_picture(self._first)
            if not isinstance(error, WorkerError):
                raise StateError("The run from before the restart of the server cannot be taken up.") from error
            raise
        if self.running:  # and not paused meanwhile
            self._train()

    async def _change_later(self, name: str, value: Any) -> None:
        if self.run is not None:
            self.change(name, value)

    async def _renew(self) -> None:
        """Start a new run with the same picture and the current settings."""
        await self._load_picture(self._file)

    async def _renew_or_return(self, name: str, before: Any) -> None:
        try:
            await self._renew()
        except Exception:
            self.settings.param.update(**{name: before})
            raise

    async def _begin(self, state: TrainingState, note: str) -> None:
        """Replace the run once the new one has reported. If it is refused, the old run stays."""
        self._wait_for("Compiling the kernels")
        run = TrainingRun(self.pool, state)
        try:
            report = await run.advance(0)
        except BaseException:
            _background(run.close())
            raise
        self._keep()
        self.run, self.note, self.message = run, note, ""
        self.history = state.history
        self.observer.began(state)
        self._note(report)

    def _keep(self) -> None:
        """Keep the run for the reader to go back to, in place of the one that was kept; close it if it has not begun."""
        earlier = self._earlier(running=False)
        unwanted = self.run
        if earlier is not None:
            unwanted, self.before = self.before.run if self.before is not None else None, earlier
        if unwanted is not None:
            _background(unwanted.close())

    async def _go_back(self) -> None:
        if self.before is None:
            return
        earlier, self.before = self.before, None
        await self._show(earlier, "Going back")

    async def _take_up(self, earlier: "Earlier") -> None:
        await self._show(earlier, "Taking up the run")
        if earlier.running:
            self._train()

    async def _show(self, earlier: "Earlier", what: str) -> None:
        self._wait_for(what)
        report = await earlier.run.advance(0)
        if self.run is not None:
            _background(self.run.close())
        self.run, self.history, self._file, self.note = earlier.run, earlier.history, earlier.file, earlier.note
        self._take_settings(earlier.run.snapshot.settings)
        self.message = ""
        self.observer.began(earlier.run.snapshot)
        self._note(report)

    def _take_settings(self, settings: Settings) -> None:
        self.settings.param.update(**{name: value for name, value in settings.param.values().items() if name != "name"})

    def _note(self, report: ProgressReport) -> None:
        """Add a report to the history, and drop measurements of iterations that were lost with a worker."""
        earlier = self.history[self.history["iteration"] < report.iteration]
        row = np.array([(report.iteration, report.seconds, report.psnr, report.loss)], HISTORY)
        self.report, self.history = report, np.concatenate([earlier, row])
        self.observer.reported(report)

    async def _deliver(self, work: Callable[[TrainingRun], Awaitable[bytes]], deliver: Deliver, suffix: str) -> None:
        if self.run is None or self.report is None:
            return
        self._wait_for("Saving")
        data = await work(self.run)
        stem = self._file.name.rpartition(".")[0] or self._file.name or "splats"
        deliver(data, f"{stem}-{self.report.iteration}.{suffix}")

    def _live(self) -> dict[str, float]:
        return {name: getattr(self.settings, name) for name in LIVE}

    def settings_copy(self) -> Settings:
        """Return a copy of the settings."""
        return Settings(**{name: value for name, value in self.settings.param.values().items() if name != "name"})

    def _wait_for(self, what: str) -> None:
        self.busy = what
        self.observer.changed()

    def tell(self, message: str) -> None:
        """Show a message of one line, until training starts or another message replaces it."""
        self.message = message
        self.observer.changed()


_open: dict[str, TrainingSession] = {}  # by key
durable = DurableFiles("runs", _Stored.encode, MOST_STORED, MOST_STORED_BYTES)
_left: LeftRuns[Earlier] = LeftRuns(lambda earlier: _background(earlier.run.close()))
_closing: set[asyncio.Task[None]] = set()


def _background(coroutine: Coroutine[Any, Any, None]) -> None:
    """Close a run in the background."""

    async def quietly() -> None:
        with suppress(Exception):
            await coroutine

    try:
        task = asyncio.get_running_loop().create_task(quietly())
    except RuntimeError:  # the server is stopping, and its workers with it
        coroutine.close()
        return
    _closing.add(task)
    task.add_done_callback(_closing.discard)


@contextmanager
def _refusing(name: str) -> Generator[None]:
    """Name the file in the error that refuses it: of two files chosen in quick succession, the first may be answered last."""
    try:
        yield
    except (ImageError, StateError) as error:
        raise type(error)(f"{name} was refused. {error}") from None


def _loss(what: str, iteration: int) -> str:
    return f"The worker process of this run was {what}. The run continues from iteration {iteration:,} on a new one."


def _message_for(error: Exception, settings: Settings, name: str, value: Any) -> str:
    parameter = settings.param.objects().get(name)
    if parameter is not None and getattr(parameter, "bounds", None):
        low, high = parameter.bounds
        kind = "whole numbers from " if isinstance(parameter, param.Integer) else ""
        value_text = "empty" if value is None else f"{value!s:.40}"
        return f"{parameter.label} cannot be {value_text}: {kind}{low:,} to {high:,} are allowed."
    return str(error).splitlines()[0][:200]
