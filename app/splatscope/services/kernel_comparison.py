"""Compare the simple, tiled and binned kernels: the time and operations of one iteration, on the same picture and Gaussians.

A comparison made on a data-centre GPU ships; `tools/make_shipped_comparison.py` makes it.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from functools import cache
from time import perf_counter
from typing import Any

from splatscope.gpu.device import Adapter, adapter_of, open_device
from splatscope.paths import ASSETS
from splatscope.services.operation_counts import Counts, count_iteration
from splatscope.splat.files.images import crop_picture
from splatscope.splat.initialise import start_state
from splatscope.splat.settings import Settings
from splatscope.splat.state import TrainingState
from splatscope.splat.trainer import Trainer, UnsupportedDevice
from splatscope.workers.pool import Pool
from splatscope.workers.single_flight import SingleFlightCache

PICTURE = "chelsea.jpg"
SIZE = 128
COUNTS = (64, 32)  # Gaussians; the smaller if a driver refuses, since autodiff stores every step of the simple kernels' loop
LARGE = {True: (256, 2048), False: (512, 40_960)}  # by `is_software`: side in pixels and Gaussians, for tiled and binned alone
WARM_UP_ITERATIONS = 200  # so that the Gaussians are distributed as they are in training
REPEATS = 7  # at least; the minimum is used, since other load can only add time
SECONDS = 0.5  # at least: a GPU that was idle raises its clock meanwhile
LIMIT = 120.0  # seconds per job: drivers compile the simple kernels' loop slowly

KERNELS = ("simple", "tiled", "binned")
SHIPPED = ASSETS / "kernel-comparison.json"

Job = Callable[..., Awaitable[Any]]  # awaits what a function returns for its arguments, wherever it runs


@dataclass(frozen=True)
class Timing:
    """The timing of one iteration with one kind of kernels.

    Attributes:
        ms: Milliseconds by kernel.
        listed: Total length of the lists of all tiles.
        tile: Width and height of a tile in pixels.
    """

    ms: dict[str, float]
    listed: int
    tile: tuple[int, int]

    @property
    def total(self) -> float:
        """Milliseconds of the whole iteration."""
        return sum(self.ms.values())


@dataclass(frozen=True)
class CountedTiming(Timing):
    """A timing, with operation counts from a separate run of the same kernels."""

    kernels: str
    counts: Counts


@dataclass(frozen=True)
class TimingComparison:
    """The measurements of all kinds of kernels on the same work, slowest first.

    Attributes:
        size: Side of the picture in pixels.
        blobs: Number of Gaussians.
        timings: One per kind, in the order of `KERNELS`.
        large_size: Side of the larger picture in pixels.
        large_blobs: Number of Gaussians on it.
        large: Tiled and binned again, at a size typical of training.
    """

    adapter: Adapter
    size: int
    blobs: int
    timings: list[CountedTiming]
    large_size: int
    large_blobs: int
    large: list[Timing]


async def compare_kernels(pool: Pool) -> TimingComparison:
    """Return the comparison, measured once for all pages. Raises WorkerError, UnsupportedDevice."""
    return await _cache.get("comparison", lambda: _compare_on(pool))


_cache = SingleFlightCache(1)


async def _compare_on(pool: Pool) -> TimingComparison:
    async def job(function, *args):
        return await pool.run(function, *args, key="kernel comparison", limit=LIMIT, shipped=True)

    try:
        return await measure(job)
    finally:
        pool.forget("kernel comparison")


async def measure(job: Job) -> TimingComparison:
    """Measure in several jobs on one device, so that jobs from other pages can run in between. Raises UnsupportedDevice."""
    for blobs in COUNTS:
        states = await job(_same_work, SIZE, blobs, KERNELS)
        try:
            for state in states:
                await job(_compile, state)
        except UnsupportedDevice:
            if blobs == COUNTS[-1]:
                raise
            continue
        break
    adapter, timings = await job(_time, states)
    counts = [await job(_count, state) for state in states]
    large_size, large_blobs = LARGE[adapter.is_software]
    _, large = await job(_time, await job(_same_work, large_size, large_blobs, KERNELS[1:]))
    return TimingComparison(adapter, SIZE, blobs, counted_timings(states, timings, counts), large_size, large_blobs, large)


@cache
def shipped_comparison() -> TimingComparison:
    """Return the comparison that ships."""
    return from_json(SHIPPED.read_text())


def to_json(found: TimingComparison) -> str:
    """Return a comparison as text for `from_json`."""
    return json.dumps(asdict(found), indent=1) + "\n"


def from_json(text: str) -> TimingComparison:
    """Return the comparison that `to_json` wrote."""
    fields = json.loads(text)

    def timing(values: dict[str, Any]) -> dict[str, Any]:
        return values | {"tile": tuple(values["tile"])}

    counted = [CountedTiming(**timing(values | {"counts": Counts(**values["counts"])})) for values in fields["timings"]]
    large = [Timing(**timing(values)) for values in fields["large"]]
    return TimingComparison(**fields | {"adapter": Adapter(**fields["adapter"]), "timings": counted, "large": large})


def counted_timings(states: list[TrainingState], timings: list[Timing], counts: list[Counts]) -> list[CountedTiming]:
    """Combine the timings and counts of each state."""
    return [
        CountedTiming(timing.ms, timing.listed, timing.tile, state.settings.kernels, count)
        for state, timing, count in zip(states, timings, counts, strict=True)
    ]


# The rest of this module runs where the device is: on a worker, for a page.


def _same_work(size: int, blobs: int, kinds: tuple[str, ...]) -> list[TrainingState]:
    """Return one state for each kind of kernels, all with the same partly trained Gaussians."""
    pixels = crop_picture((ASSETS / PICTURE).read_bytes(), PICTURE, size, size).pixels
    trainer = Trainer(open_device(), start_state(Settings(size=size, blobs=blobs, growth=False), pixels, PICTURE))
    trainer.advance(WARM_UP_ITERATIONS)
    trained = trainer.save()
    return [_without_learning(trained, kernels) for kernels in kinds]


def _compile(state: TrainingState) -> None:
    Trainer(open_device(), state)


def _time(states: list[TrainingState]) -> tuple[Adapter, list[Timing]]:
    device = open_device()
    trainers = [Trainer(device, state) for state in states]
    least: list[dict[str, float]] = [{} for _ in trainers]
    begin, rounds = perf_counter(), 0
    while rounds < REPEATS or perf_counter() - begin < SECONDS:
        rounds += 1
        for trainer, ms in zip(trainers, least, strict=True):  # interleaved, so that other load slows all of them equally
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


def _without_learning(trained: TrainingState, kernels: str) -> TrainingState:
    """Return a state for other kernels with the same Gaussians and learning rates of 0, so that all iterations do equal work."""
    zero_rates = {name: 0.0 for name in ("rate_position", "rate_shape", "rate_colour", "rate_opacity")}
    settings = Settings(size=max(trained.target.shape), blobs=trained.splats.count, kernels=kernels, growth=False, **zero_rates)
    state = start_state(settings, trained.target, PICTURE)
    state.splats = trained.splats
    return state
