"""Train on the pool. A page owns a `TrainingRun` and asks it to advance; a worker holds the run's buffers and kernels.

If the worker was replaced or has dropped the run, the job raises `RunNotHeld`. It is then sent again with the last snapshot. So a
run outlives its worker and loses only the work since the snapshot.

If there are more runs than fit on the device, a worker parks the run that has been idle longest in its own memory, without loss.
"""

import uuid
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import slangpy as spy
from cachetools import LRUCache

from splatscope.gpu.device import Adapter, adapter_of, open_device
from splatscope.splat.files.animation import Animation
from splatscope.splat.files.images import LoadedImage, encode, read_picture, to_bytes
from splatscope.splat.files.ply import to_ply
from splatscope.splat.files.state_file import load_state, save_state
from splatscope.splat.initialise import start_state
from splatscope.splat.progress_report import ProgressReport, report_of
from splatscope.splat.settings import LIVE, Settings, refuse
from splatscope.splat.state import TrainingState
from splatscope.splat.trainer import Look, Trainer, UnsupportedDevice
from splatscope.workers.errors import JobTimeout, WorkerError, WorkerLost
from splatscope.workers.pool import Pool

# Of device time between snapshots: with the slices before and after, and what it takes to store one, a lost worker or server costs
# less than 5.
SNAPSHOT_SECONDS = 3.0
SLICE_LIMIT = 30.0  # seconds
COMPILE_LIMIT = 120.0  # seconds for the first slice of a run: compiling can be slow on a busy machine
MAX_RUNS = {True: 8, False: 16}  # on the device at once, per worker; by `is_software`, since such a device uses the host's memory
MAX_PARKED = 64  # in a worker's own memory; beyond, the run idle longest is dropped, and resumes from the page's snapshot


_Result = TypeVar("_Result")


class SettingsRefused(ValueError):  # noqa: N818
    """The settings ask for more than the device takes; the message says what is allowed."""


class RunNotHeld(Exception):  # noqa: N818
    """The worker does not hold the run and needs its state."""


@dataclass(frozen=True)
class Slice:
    """The result of one job: a report on the run, and a snapshot if one was due."""

    report: ProgressReport
    snapshot: TrainingState | None


class TrainingRun:
    """A training run, from the page's side.

    Attributes:
        snapshot: A state from which the run can resume.
        adapter: The device it runs on; None until the first job has returned.
        key: The run's key in the pool.
        went_back: Whether its worker was lost, and with it the work since `snapshot`. The caller clears it after telling the user.
    """

    def __init__(self, pool: Pool, state: TrainingState) -> None:
        self.pool = pool
        self.key = f"run-{uuid.uuid4().hex}"
        self.snapshot = state
        self.adapter: Adapter | None = None
        self.went_back = False
        self._bound = False  # whether a worker may hold the run
        self._sent = False  # whether a worker has received the state

    async def advance(self, iterations: int, seconds: float = 0.15, live: dict[str, float] | None = None) -> ProgressReport:
        """Train for up to `iterations` more, or about `seconds` of device time, and report.

        Args:
            iterations: The maximum number of iterations; 0 to report only.
            seconds: Device time after which to stop.
            live: New values of settings that may change during a run (`settings.LIVE`).

        Raises:
            SettingsRefused: The device cannot run these settings.
            WorkerLost: The worker died. The next call resumes from `snapshot`.
            JobTimeout: The worker hung and was ended. The next call resumes from `snapshot`.
        """
        slice_ = await self._on_worker(_advance, iterations, seconds, live or {})
        if slice_.snapshot is not None:
            self.snapshot = slice_.snapshot
        return slice_.report

    async def train(self, seconds: float, result_of: Callable[[Trainer], _Result]) -> _Result | None:
        """Train for about `seconds` of device time. Return what `result_of` makes of the run on its worker, if the run has ended.

        Raises the same errors as `advance`.
        """
        result, snapshot = await self._on_worker(_train_to_end, seconds, result_of)
        if snapshot is not None:
            self.snapshot = snapshot
        return result

    async def fetch(self, live: dict[str, float] | None = None) -> TrainingState:
        """Apply the settings in `live`, take a snapshot and return it. Raises the same errors as `advance`."""
        self.snapshot = await self._on_worker(_fetch, live or {})
        return self.snapshot

    async def save(self, live: dict[str, float] | None = None) -> bytes:
        """Return the run's state as a state file, after applying `live`. Raises the same errors as `advance`."""
        return await self.pool.run(save_state, await self.fetch(live), file_work="writing the state file")

    async def picture(self) -> bytes:
        """Return the current picture as a PNG. Raises the same errors as `advance`."""
        return await self._on_worker(_draw)

    async def ply(self) -> bytes:
        """Return the current Gaussians as a .ply file, see `splat.files.ply`. Raises the same errors as `advance`."""
        return await self._on_worker(_ply)

    async def animation(self) -> bytes:
        """Return the training since its current worker took over, as an animated GIF. Raises the same errors as `advance`."""
        return await self._on_worker(_animation)

    async def close(self) -> None:
        """Free the worker's memory. The run can still advance, from its snapshot."""
        if not self._bound:  # bound from its first job on, even if that was refused or cancelled
            return
        self._bound = self._sent = False
        with suppress(WorkerError):  # a lost worker has already dropped it
            await self.pool.run(_drop, self.key, key=self.key)
        self.pool.forget(self.key)

    async def _on_worker(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call `function(run, *args)` on the worker that holds the run, and return its result."""
        self._bound = True
        while True:
            state = None if self._sent else self.snapshot
            limit = SLICE_LIMIT if self._sent else COMPILE_LIMIT
            try:
                self.adapter, result = await self.pool.run(_with_run, self.key, state, function, args, key=self.key, limit=limit)
            except RunNotHeld:
                self._sent, self.went_back = False, True
            except (WorkerLost, JobTimeout):
                self._sent, self.went_back = False, True
                raise
            else:
                self._sent = True
                return result


async def decode_picture(pool: Pool, data: bytes, name: str, longest_side: int) -> LoadedImage:
    """Decode a user's picture on a worker, so that a decoder that crashes does not take the page down.

    Args:
        pool: The workers.
        data: The file.
        name: The file's name.
        longest_side: A larger picture is scaled down to this many pixels.

    Raises:
        ImageError: The file is not a readable picture.
        WorkerError: The decoder crashed or hung.
    """
    return await pool.run(read_picture, data, name, longest_side, file_work=f"reading the picture {name}")


async def decode_state(pool: Pool, data: bytes) -> TrainingState:
    """Read a user's state file on a worker. Raises StateError, WorkerError."""
    return await pool.run(load_state, data, file_work="reading the state file")


async def warm(pool: Pool) -> None:
    """Have a worker compile what a run needs, so that the first picture appears without delay. Raises WorkerError."""
    await pool.run(_warm, limit=COMPILE_LIMIT)


# The rest of this module runs on a worker.


@dataclass
class _HeldRun:
    """A run held by a worker; `saved_at` is the device time of its latest snapshot, in seconds."""

    trainer: Trainer
    saved_at: float
    animation: Animation = field(default_factory=Animation)

    def snapshot(self, is_due: bool = False) -> TrainingState | None:
        """Return the run's state if a snapshot is due, by time or anyhow."""
        state = self.trainer.state
        if not is_due and state.seconds - self.saved_at < SNAPSHOT_SECONDS:
            return None
        self.saved_at = state.seconds
        return self.trainer.save()

    def look(self) -> Look:
        """Return the run's current picture and figures, and add a frame to the animation if one is due."""
        look = self.trainer.look()
        self.animation.take(look.iteration, look.picture)
        return look


@dataclass
class _ParkedRun:
    """A run that was moved off the device; see `_HeldRun`."""

    state: TrainingState
    saved_at: float
    animation: Animation


_held: OrderedDict[str, _HeldRun] = OrderedDict()  # the one idle longest first
_parked: LRUCache[str, _ParkedRun] = LRUCache(MAX_PARKED)


def _with_run(key: str, state: TrainingState | None, function: Callable[..., Any], args: tuple) -> tuple[Adapter, Any]:
    """Return the adapter and `function(run, *args)` for a run. If `state` is given, the run is created from it.

    Raises:
        RunNotHeld: This worker does not hold the run, and `state` is None.
        SettingsRefused: The device cannot run its settings.
    """
    device = open_device()
    if state is not None:
        problem = refuse(state.settings, adapter_of(device).is_software)
        if problem:
            raise SettingsRefused(problem)
        _drop(key)
        _parked[key] = _ParkedRun(state, state.seconds, Animation())
    if key not in _held:
        if key not in _parked:
            raise RunNotHeld
        _place(device, key)
    _held.move_to_end(key)
    return adapter_of(device), function(_held[key], *args)


def _place(device: spy.Device, key: str) -> None:
    """Put a parked run back on the device, parking others to make room. Raises SettingsRefused."""
    while len(_held) >= MAX_RUNS[adapter_of(device).is_software]:  # make room before the run allocates device memory
        other, run = _held.popitem(last=False)
        _parked[other] = _ParkedRun(run.trainer.save(), run.saved_at, run.animation)
        del run
    parked = _parked.pop(key)
    try:
        _held[key] = _HeldRun(Trainer(device, parked.state), parked.saved_at, parked.animation)
    except UnsupportedDevice as error:
        raise SettingsRefused(str(error)) from None


def _advance(run: _HeldRun, iterations: int, seconds: float, live: dict[str, float]) -> Slice:
    state = run.trainer.state
    _set_live(state, live)
    spent = state.seconds
    done = run.trainer.advance(iterations, seconds)
    speed = done / (state.seconds - spent) if done else 0.0
    report = report_of(run.look(), speed)
    is_due = state.step >= state.settings.iterations or done == iterations == 1
    return Slice(report, run.snapshot(is_due))


def _train_to_end(
    run: _HeldRun, seconds: float, result_of: Callable[[Trainer], _Result]
) -> tuple[_Result | None, TrainingState | None]:
    """Return the result of a run that has ended, and a snapshot of one that has not if that is due."""
    end = run.trainer.state.settings.iterations
    run.trainer.advance(end, seconds)
    if run.trainer.state.step >= end:
        return result_of(run.trainer), None
    return None, run.snapshot()


def _fetch(run: _HeldRun, live: dict[str, float]) -> TrainingState:
    _set_live(run.trainer.state, live)
    return run.trainer.save()


def _set_live(state: TrainingState, live: dict[str, float]) -> None:
    state.settings.param.update(**{name: value for name, value in live.items() if name in LIVE})


def _draw(run: _HeldRun) -> bytes:
    return encode(to_bytes(run.look().picture), "PNG")


def _ply(run: _HeldRun) -> bytes:
    snapshot = run.trainer.snapshot()
    height, width, _ = snapshot.look.picture.shape
    return to_ply(snapshot.raw, (width, height))


def _animation(run: _HeldRun) -> bytes:
    look = run.trainer.look()
    run.animation.take(look.iteration, look.picture, is_last=True)
    return run.animation.save("gif")


def _drop(key: str) -> None:
    _held.pop(key, None)
    _parked.pop(key, None)


def _warm() -> None:
    settings = Settings(blobs=64, size=32, iterations=1)
    trainer = Trainer(open_device(), start_state(settings, np.zeros((32, 32, 3), np.uint8), ""))
    trainer.advance(1)
    trainer.look()
