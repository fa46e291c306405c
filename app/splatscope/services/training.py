"""A training run on the pool: the page holds a `TrainingRun` and asks it to advance; a worker holds the run's buffers and kernels.

A job raises `RunNotHeld` where its worker does not hold the run (it was replaced, or made room for others), and is sent again with
the last snapshot. So a run survives its worker, and goes back no further than the snapshot.
"""

import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from cachetools import LRUCache

from splatscope.gpu.device import Adapter, adapter_of, open_device
from splatscope.splat.animation import Animation
from splatscope.splat.images import LoadedImage, encode, read_picture, to_bytes
from splatscope.splat.initialise import start_state
from splatscope.splat.ply import to_ply
from splatscope.splat.progress_report import ProgressReport, report_of
from splatscope.splat.settings import LIVE, Settings, refuse
from splatscope.splat.state import TrainingState
from splatscope.splat.state_file import load_state, save_state
from splatscope.splat.trainer import Look, Trainer, UnsupportedDevice
from splatscope.workers.connection import JobTimeout, WorkerError, WorkerLost
from splatscope.workers.pool import Pool

SNAPSHOT_SECONDS = 5.0  # of device time: a lost worker costs no more than this and the slice it was at
SLICE_LIMIT = 30.0  # seconds
COMPILE_LIMIT = 120.0  # seconds for the first slice of a run: a cold driver on a busy machine compiles for long
MAX_RUNS = 8  # that a worker holds; the one idle for longest makes room, and starts again from its snapshot


class SettingsRefused(ValueError):  # noqa: N818
    """The settings ask for more than the device takes; the message says what is allowed."""


class RunNotHeld(Exception):  # noqa: N818
    """The worker does not hold the run, and needs its state."""


@dataclass(frozen=True)
class Slice:
    """The outcome of one job: a report of the run, and a snapshot if one was due."""

    report: ProgressReport
    snapshot: TrainingState | None


class TrainingRun:
    """A run as its page sees it.

    Attributes:
        snapshot: A state from which the run can go on.
        adapter: The device it runs on; None before the first job has returned.
        key: The run's key in the pool.
    """

    def __init__(self, pool: Pool, state: TrainingState) -> None:
        self.pool = pool
        self.key = f"run-{uuid.uuid4().hex}"
        self.snapshot = state
        self.adapter: Adapter | None = None
        self._bound = False  # whether a worker may hold something of the run
        self._sent = False  # whether a worker has been given the state

    async def advance(self, iterations: int, seconds: float = 0.15, live: dict[str, float] | None = None) -> ProgressReport:
        """Train for up to `iterations` more, or about `seconds` of device time; 0 iterations only report.

        Args:
            iterations: The most to train.
            seconds: The time after which to stop.
            live: New values of the settings that may change while a run goes on (`settings.LIVE`).

        Raises:
            SettingsRefused: The device does not take these settings.
            WorkerLost: The worker died; the next call goes on from `snapshot`.
            JobTimeout: The worker hung and was ended; likewise.
        """
        slice_ = await self._run_job(_advance, iterations, seconds, live or {})
        if slice_.snapshot is not None:
            self.snapshot = slice_.snapshot
        return slice_.report

    async def fetch(self, live: dict[str, float] | None = None) -> TrainingState:
        """Set the settings in `live`, and return the run's state, which becomes its snapshot. Raises as `advance`."""
        self.snapshot = await self._run_job(_fetch, live or {})
        return self.snapshot

    async def save(self, live: dict[str, float] | None = None) -> bytes:
        """Return what `fetch` returns as a state file. Raises as `advance`."""
        return await self.pool.run(save_state, await self.fetch(live))

    async def picture(self) -> bytes:
        """Return the current picture as a PNG. Raises as `advance`."""
        return await self._run_job(_draw)

    async def ply(self) -> bytes:
        """Return the current Gaussians as a .ply file, see `splat.ply`. Raises as `advance`."""
        return await self._run_job(_ply)

    async def animation(self) -> bytes:
        """Return the training so far as an animated GIF, from where its present worker took over. Raises as `advance`."""
        return await self._run_job(_animation)

    async def close(self) -> None:
        """Free the worker's memory. The run can still be advanced, from its snapshot."""
        if not self._bound:  # a run whose first job was refused, or left by its page, is bound too
            return
        self._bound = self._sent = False
        with suppress(WorkerError):  # a lost worker has dropped it already
            await self.pool.run(_drop, self.key, key=self.key)
        self.pool.forget(self.key)

    async def _run_job(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return `function(run, *args)`, called on the worker that holds the run."""
        self._bound = True
        while True:
            state = None if self._sent else self.snapshot
            limit = SLICE_LIMIT if self._sent else COMPILE_LIMIT
            try:
                self.adapter, result = await self.pool.run(_with_run, self.key, state, function, args, key=self.key, limit=limit)
            except RunNotHeld:
                self._sent = False
            except (WorkerLost, JobTimeout):
                self._sent = False
                raise
            else:
                self._sent = True
                return result


async def decode_picture(pool: Pool, data: bytes, name: str, longest_side: int) -> LoadedImage:
    """Read a user's picture on a worker, since a decoder that crashes on it must cost no page.

    Args:
        pool: Where to read it.
        data: The file.
        name: Its name.
        longest_side: Pixels to which a larger picture is scaled down.

    Raises:
        ImageError: It is not a picture that can be read.
        WorkerError: The decoder crashed or hung.
    """
    return await pool.run(read_picture, data, name, longest_side)


async def decode_state(pool: Pool, data: bytes) -> TrainingState:
    """Read a user's state file on a worker. Raises StateError, WorkerError."""
    return await pool.run(load_state, data)


async def warm(pool: Pool) -> None:
    """Have a worker compile what a first run needs, so that a picture appears as soon as training starts. Raises WorkerError."""
    await pool.run(_warm, limit=COMPILE_LIMIT)


# What follows runs on a worker.


@dataclass
class _HeldRun:
    """A run as its worker holds it; `saved_at` are the device seconds of the latest snapshot."""

    trainer: Trainer
    saved_at: float
    animation: Animation = field(default_factory=Animation)

    def look(self) -> Look:
        """Return a look, and take it as the animation's next frame if one is due."""
        look = self.trainer.look()
        self.animation.take(look.iteration, look.picture)
        return look


_held: LRUCache[str, _HeldRun] = LRUCache(MAX_RUNS)


def _with_run(key: str, state: TrainingState | None, function: Callable[..., Any], args: tuple) -> tuple[Adapter, Any]:
    """Return the adapter and `function(run, *args)`, for the run that is held or made from `state`.

    Raises:
        RunNotHeld: It is not held, and no state was sent.
        SettingsRefused: The device does not take its settings.
    """
    device = open_device()
    if state is not None:
        problem = refuse(state.settings, adapter_of(device).is_software)
        if problem:
            raise SettingsRefused(problem)
        _drop(key)
        if len(_held) == MAX_RUNS:  # before a new one takes more of the device's memory
            _held.popitem()
        try:
            _held[key] = _HeldRun(Trainer(device, state), state.seconds)
        except UnsupportedDevice as error:
            raise SettingsRefused(str(error)) from None
    if key not in _held:
        raise RunNotHeld
    return adapter_of(device), function(_held[key], *args)


def _advance(run: _HeldRun, iterations: int, seconds: float, live: dict[str, float]) -> Slice:
    trainer, state = run.trainer, run.trainer.state
    _set_live(state, live)
    before = state.seconds
    done = trainer.advance(iterations, seconds)
    speed = done / (state.seconds - before) if done else 0.0
    report = report_of(run.look(), speed)
    due = state.seconds - run.saved_at >= SNAPSHOT_SECONDS or state.step >= state.settings.iterations or done == iterations == 1
    if due:
        run.saved_at = state.seconds
    return Slice(report, trainer.save() if due else None)


def _fetch(run: _HeldRun, live: dict[str, float]) -> TrainingState:
    _set_live(run.trainer.state, live)
    return run.trainer.save()


def _set_live(state: TrainingState, live: dict[str, float]) -> None:
    state.settings.param.update(**{name: value for name, value in live.items() if name in LIVE})


def _draw(run: _HeldRun) -> bytes:
    return encode(to_bytes(run.look().picture), "PNG")


def _ply(run: _HeldRun) -> bytes:
    look = run.look()
    height, width, _ = look.picture.shape
    return to_ply(look.ellipses, width, height)


def _animation(run: _HeldRun) -> bytes:
    look = run.trainer.look()
    run.animation.take(look.iteration, look.picture, is_last=True)
    return run.animation.save("gif")


def _drop(key: str) -> None:
    _held.pop(key, None)


def _warm() -> None:
    settings = Settings(blobs=64, size=32, iterations=1)
    trainer = Trainer(open_device(), start_state(settings, np.zeros((32, 32, 3), np.uint8), ""))
    trainer.advance(1)
    trainer.look()
