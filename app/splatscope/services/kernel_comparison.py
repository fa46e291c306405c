"""The ladder simple → tiled → binned: one iteration of each on the same small picture and Gaussians, timed as it is and counted."""

from dataclasses import dataclass

from splatscope.gpu.device import Adapter, adapter_of, open_device
from splatscope.paths import ASSETS
from splatscope.services.operation_counts import Counts, count_iteration
from splatscope.splat.images import crop_picture
from splatscope.splat.settings import Settings
from splatscope.splat.state import TrainingState, start_state
from splatscope.splat.trainer import Trainer, UnsupportedDevice
from splatscope.workers.pool import Pool
from splatscope.workers.single_flight import SingleFlightCache

PICTURE = "chelsea.jpg"
SIZE = 128
MOST = (64, 32)  # Gaussians: autodiff stores every step of the simple kernels' loop, for which some drivers have little room
LARGE = {True: (256, 2048), False: (512, 40_960)}  # pixels a side and Gaussians for the upper two rungs alone, by `is_software`
BEFORE = 200  # iterations, so that the Gaussians lie as they do in training
REPEATS = 7  # of which the quickest counts: what else the machine does only adds
LIMIT = 120.0  # seconds a job: the simple kernels' loop takes a driver long to compile

WAYS = ("simple", "tiled", "binned")


@dataclass(frozen=True)
class Rung:
    """One kind of kernels: milliseconds of each kernel of an iteration, what they counted, ids in all lists, pixels of a tile."""

    kernels: str
    ms: dict[str, float]
    counts: Counts
    listed: int
    tile: tuple[int, int]

    @property
    def total(self) -> float:
        return sum(self.ms.values())


@dataclass(frozen=True)
class Ladder:
    """The rungs, slowest first, and what they all worked on; and the upper two once more where training has its size."""

    adapter: Adapter
    size: int
    blobs: int
    rungs: list[Rung]
    large_size: int
    large_blobs: int
    large: list["Timing"]  # of tiled and binned


async def climbed(pool: Pool) -> Ladder:
    """The ladder, measured once for all who ask. Raises WorkerError, UnsupportedDevice."""
    return await _kept.once("ladder", lambda: _climb(pool))


_kept = SingleFlightCache(1)


async def _climb(pool: Pool) -> Ladder:
    """In several jobs on one worker, so that others have their turns between."""

    async def job(function, *args):
        return await pool.run(function, *args, key="ladder", limit=LIMIT)

    try:
        for blobs in MOST:
            states = await job(_same_work, SIZE, blobs, WAYS)
            try:
                for state in states:
                    await job(_compile, state)
            except UnsupportedDevice:
                if blobs == MOST[-1]:
                    raise
                continue
            break
        adapter, timings = await job(_time, states)
        counts = [await job(_count, state) for state in states]
        size, many = LARGE[adapter.is_software]
        _, large = await job(_time, await job(_same_work, size, many, WAYS[1:]))
    finally:
        pool.forget("ladder")
    return Ladder(adapter, SIZE, blobs, rungs_of(states, timings, counts), size, many, large)


def rungs_of(states: list[TrainingState], timings: list["Timing"], counts: list[Counts]) -> list[Rung]:
    return [
        Rung(state.settings.kernels, timing.ms, count, timing.listed, timing.tile)
        for state, timing, count in zip(states, timings, counts, strict=True)
    ]


# What follows runs on a worker.


@dataclass(frozen=True)
class Timing:
    """What the kernels as they are say of themselves: as in `Rung`."""

    ms: dict[str, float]
    listed: int
    tile: tuple[int, int]

    @property
    def total(self) -> float:
        return sum(self.ms.values())


def _same_work(size: int, blobs: int, ways: tuple[str, ...]) -> list[TrainingState]:
    """One state for each kind of kernels, with the same Gaussians, some way into their training."""
    pixels = crop_picture((ASSETS / PICTURE).read_bytes(), PICTURE, size, size).pixels
    trainer = Trainer(open_device(), start_state(Settings(size=size, blobs=blobs, growth=False), pixels, PICTURE))
    trainer.advance(BEFORE)
    trained = trainer.save()
    return [_standing_still(trained, kernels) for kernels in ways]


def _compile(state: TrainingState) -> None:
    Trainer(open_device(), state)


def _time(states: list[TrainingState]) -> tuple[Adapter, list[Timing]]:
    device = open_device()
    trainers = [Trainer(device, state) for state in states]
    least: list[dict[str, float]] = [{} for _ in trainers]
    for _ in range(REPEATS):  # in turns, so that what else the machine does meets them all
        for trainer, ms in zip(trainers, least, strict=True):
            trainer.advance(1)
            for bound in trainer.kernels.iteration:
                name = bound.kernel.name
                ms[name] = min(trainer.kernel_ms[name], ms.get(name, float("inf")))
    looks = [trainer.look() for trainer in trainers]
    return adapter_of(device), [
        Timing(ms, int(look.list_lengths.sum()), look.tile[:2]) for ms, look in zip(least, looks, strict=True)
    ]


def _count(state: TrainingState) -> Counts:
    return count_iteration(open_device(), state)


def _standing_still(trained: TrainingState, kernels: str) -> TrainingState:
    """The same Gaussians for other kernels, with rates of zero: each iteration has the very same work."""
    still = {name: 0.0 for name in ("rate_position", "rate_shape", "rate_colour", "rate_opacity")}
    settings = Settings(size=max(trained.target.shape), blobs=trained.splats.count, kernels=kernels, growth=False, **still)
    state = start_state(settings, trained.target, PICTURE)
    state.splats = trained.splats
    return state
