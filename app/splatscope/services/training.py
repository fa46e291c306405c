"""A training run on the pool: the page holds a `TrainingRun` and asks it to advance; a worker holds the device's side of it.

A job that finds its worker without the run (it was replaced, or made room for others) says so, and gets the last snapshot sent.
So a run survives its worker, and goes back no further than the snapshot.
"""

import uuid
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from splatscope.gpu.device import Adapter, adapter_of, open_device
from splatscope.splat.animation import Animation
from splatscope.splat.images import LoadedImage, encode, read_picture, to_bytes
from splatscope.splat.ply import to_ply
from splatscope.splat.progress_report import ProgressReport, report_of
from splatscope.splat.settings import LIVE, Settings, refuse
from splatscope.splat.state import TrainingState, load_state, save_state, start_state
from splatscope.splat.trainer import Look, Trainer, UnsupportedDevice
from splatscope.workers.connection import JobTimeout, WorkerError, WorkerLost
from splatscope.workers.pool import Pool

SNAPSHOT_SECONDS = 5.0  # of device time: what a lost worker costs at most, besides the slice it was at
SLICE_LIMIT = 30.0
COMPILE_LIMIT = 120.0  # the first slice of a run: a cold driver on a busy machine compiles for many seconds

__all__ = ["JobTimeout", "SettingsRefused", "TrainingRun", "WorkerError", "WorkerLost", "decode_picture", "decode_state", "warm"]


class SettingsRefused(ValueError):  # noqa: N818
    """The settings ask for more than the device takes; the message says what is allowed."""


@dataclass(frozen=True)
class Slice:
    """What one job brought: a report of the run, and the state to go on from if one was due."""

    report: ProgressReport
    snapshot: TrainingState | None


class TrainingRun:
    """A run as its page sees it: `snapshot` is a state to go on from, `adapter` what it runs on once the first job is back."""

    def __init__(self, pool: Pool, state: TrainingState):
        self.pool = pool
        self.key = f"run-{uuid.uuid4().hex}"
        self.snapshot = state
        self.adapter: Adapter | None = None
        self._placed = False  # whether a worker may hold something of the run
        self._known = False  # whether it was given the run already

    async def advance(self, iterations: int, seconds: float = 0.15, live: dict[str, float] | None = None) -> ProgressReport:
        """Train up to `iterations` more for about `seconds`, with new values of what may change (`settings.LIVE`); 0 only looks.

        Raises:
            SettingsRefused: the device does not take these settings.
            WorkerLost, JobTimeout: the worker is gone; the next call goes on from `snapshot`.
        """
        slice_ = await self._job(_advance, iterations, seconds, live or {})
        if slice_.snapshot is not None:
            self.snapshot = slice_.snapshot
        return slice_.report

    async def fetch(self, live: dict[str, float] | None = None) -> TrainingState:
        """The run as it is now, with new values of what may change (`settings.LIVE`); it is the snapshot from here on."""
        self.snapshot = await self._job(_fetch, live or {})
        return self.snapshot

    async def save(self, live: dict[str, float] | None = None) -> bytes:
        """The state file of `fetch`."""
        return await self.pool.run(save_state, await self.fetch(live))

    async def picture(self) -> bytes:
        """The picture as it is now, as a PNG."""
        return await self._job(_draw)

    async def ply(self) -> bytes:
        """The Gaussians as they are now, as a .ply file (see `splat.ply`)."""
        return await self._job(_ply)

    async def film(self) -> bytes:
        """The training so far, as an animated GIF, as far back as its worker saw it."""
        return await self._job(_film)

    async def close(self) -> None:
        """Free the worker's memory. The run can still be advanced, from its snapshot."""
        if not self._placed:  # a run whose first job was refused, or left by its page, is placed too
            return
        self._placed = self._known = False
        with suppress(WorkerError):  # a lost worker has dropped it already
            await self.pool.run(_drop, self.key, key=self.key)
        self.pool.forget(self.key)

    async def _job(self, function, *args) -> Any:
        self._placed = True
        while True:
            state = None if self._known else self.snapshot
            limit = SLICE_LIMIT if self._known else COMPILE_LIMIT
            try:
                result = await self.pool.run(_with_run, self.key, state, function, args, key=self.key, limit=limit)
            except (WorkerLost, JobTimeout):
                self._known = False
                raise
            if result is None:
                self._known = False
                continue
            self._known = True
            self.adapter, value = result
            return value


async def decode_picture(pool: Pool, data: bytes, name: str, longest_side: int) -> LoadedImage:
    """Read a user's picture on a worker: decoders meet untrusted bytes, and a crash there costs no page."""
    return await pool.run(read_picture, data, name, longest_side)


async def decode_state(pool: Pool, data: bytes) -> TrainingState:
    """Read a user's state file on a worker."""
    return await pool.run(load_state, data)


async def warm(pool: Pool) -> None:
    """Have a worker compile what the first run will need, so that pressing start shows a picture at once."""
    await pool.run(_warm, limit=COMPILE_LIMIT)


# What follows runs on a worker.

_MOST_RUNS = 8  # a worker keeps the devices' side of so many runs; whoever was idle longest starts again from its snapshot
_runs: OrderedDict[str, "_DeviceRun"] = OrderedDict()


@dataclass
class _DeviceRun:
    trainer: Trainer
    saved_at: float  # device seconds of the latest snapshot
    film: Animation = field(default_factory=Animation)

    def look(self) -> Look:
        """A look, which is also the film's next frame if one is due."""
        look = self.trainer.look()
        self.film.take(look.iteration, look.picture)
        return look


def _with_run(key: str, state: TrainingState | None, function, args):
    """(adapter, function(run, *args)), or None if this worker has not got the run and none was sent."""
    device = open_device()
    if state is not None:
        problem = refuse(state.settings, adapter_of(device).is_software)
        if problem:
            raise SettingsRefused(problem)
        _runs.pop(key, None)
        while len(_runs) >= _MOST_RUNS:
            _runs.popitem(last=False)
        try:
            _runs[key] = _DeviceRun(Trainer(device, state), state.seconds)
        except UnsupportedDevice as error:
            raise SettingsRefused(str(error)) from None
    if key not in _runs:
        return None
    _runs.move_to_end(key)
    return adapter_of(device), function(_runs[key], *args)


def _advance(run: _DeviceRun, iterations: int, seconds: float, live: dict[str, float]) -> Slice:
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


def _fetch(run: _DeviceRun, live: dict[str, float]) -> TrainingState:
    _set_live(run.trainer.state, live)
    return run.trainer.save()


def _set_live(state: TrainingState, live: dict[str, float]) -> None:
    state.settings.param.update(**{name: value for name, value in live.items() if name in LIVE})


def _draw(run: _DeviceRun) -> bytes:
    return encode(to_bytes(run.look().picture), "PNG")


def _ply(run: _DeviceRun) -> bytes:
    look = run.look()
    height, width, _ = look.picture.shape
    return to_ply(look.ellipses, width, height)


def _film(run: _DeviceRun) -> bytes:
    look = run.trainer.look()
    run.film.take(look.iteration, look.picture, is_last=True)
    return run.film.save("gif")


def _drop(key: str) -> None:
    _runs.pop(key, None)


def _warm() -> None:
    settings = Settings(blobs=64, size=32, iterations=1)
    trainer = Trainer(open_device(), start_state(settings, np.zeros((32, 32, 3), np.uint8), ""))
    trainer.advance(1)
    trainer.look()
