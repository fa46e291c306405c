"""Measure one iteration of training on the workers' device: the time of each dispatch, and of the stages inside the largest."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import zeros
from splatscope.gpu.device import Adapter, adapter_of, open_device
from splatscope.gpu.kernel import BoundKernel, submit_timed
from splatscope.splat.kernel_times import REPEATS, least, next_iteration, warm_trainers
from splatscope.splat.kernels import bind
from splatscope.splat.trainer import Trainer
from splatscope.workers.pool import Pool
from splatscope.workers.single_flight import SingleFlightCache

LIMIT = 120.0  # seconds


@dataclass(frozen=True)
class DispatchTime:
    """The time of one dispatch.

    Attributes:
        kernel: Its entry point.
        groups: Workgroups in x, y and z.
        threads: Threads per workgroup in x, y and z.
        ms: Milliseconds on the device's clock.
    """

    kernel: str
    groups: tuple[int, int, int]
    threads: tuple[int, int, int]
    ms: float


@dataclass(frozen=True)
class IterationTimes:
    """The times of one iteration, with the sample's tiled kernels and with the binned kernels.

    Attributes:
        adapter: The device.
        width: The picture's width in pixels.
        height: The picture's height in pixels.
        blobs: The number of Gaussians.
        number: The number of the iteration in its training.
        dispatches: The dispatches of the tiled kernels, followed by the one that draws the picture.
        stages: Milliseconds by stage: "list", "sort", "blend" and "backward". Stages lost in noise are missing.
        binned: The dispatches of the binned kernels.
    """

    adapter: Adapter
    width: int
    height: int
    blobs: int
    number: int
    dispatches: list[DispatchTime]
    stages: dict[str, float]
    binned: list[DispatchTime]


async def measure_iteration(pool: Pool) -> IterationTimes:
    """Return the times of an iteration, measured once for all pages. Raises WorkerError."""
    return await _cache.get("iteration", lambda: pool.run(_measure, limit=LIMIT, shipped=True))


_cache = SingleFlightCache(1)


# The rest of this module runs on a worker.


def _measure() -> IterationTimes:
    tiled, binned = warm_trainers(open_device())
    parts = [_forward_up_to(tiled, ordered) for ordered in (0, 1)]
    queries = tiled.device.create_query_pool(type=spy.QueryType.timestamp, count=len(parts) + 1)
    submit_timed(tiled.device, parts, queries)  # not measured: the driver compiles here
    rounds: list[dict[str, float]] = []
    for _ in range(REPEATS):  # interleaved, so that other load slows all of them equally
        took = dict(zip(("listed", "ordered"), submit_timed(tiled.device, parts, queries), strict=True))
        times = {name: 1e3 * seconds for name, seconds in took.items()}
        rounds.append(times | next_iteration(tiled) | next_iteration(binned))
    best = least(*rounds)
    return IterationTimes(
        adapter=adapter_of(tiled.device),
        width=tiled.run.width,
        height=tiled.run.height,
        blobs=tiled.state.settings.blobs,
        number=tiled.state.step,
        dispatches=[_dispatch_time(bound, best) for bound in (*tiled.kernels.iteration, *tiled.kernels.drawing)],
        stages=_stages(best),
        binned=[_dispatch_time(bound, best) for bound in binned.kernels.iteration],
    )


def _dispatch_time(bound: BoundKernel, ms: dict[str, float]) -> DispatchTime:
    groups = (int(bound.groups.x), int(bound.groups.y), int(bound.groups.z))
    return DispatchTime(bound.kernel.name, groups, bound.kernel.group_size, ms[bound.kernel.name])


def _stages(ms: dict[str, float]) -> dict[str, float]:
    """Return each stage's milliseconds, the difference of two measurements, so that stages add up to what they are parts of.

    Stages lost in noise are omitted: those that begin or end with a measurement longer than one that contains it.
    """
    ends = [0.0, ms["listed"], ms["ordered"], ms["imageMain"], ms["computeDerivativesMain"]]
    least = np.minimum.accumulate(ends[::-1])[::-1]  # of each measurement and all that contain it
    names = ("list", "sort", "blend", "backward")
    return {
        name: end - begin
        for name, (begin, end), (first, last) in zip(names, pairwise(ends), pairwise(least), strict=True)
        if begin == first < end == last
    }


def _forward_up_to(trainer: Trainer, ordered: int) -> BoundKernel:
    """Return a kernel that runs the forward pass up to building the list, or up to sorting it if `ordered`."""
    run = trainer.run
    columns, rows = run.tiles(*trainer.kernels.tile[:2])
    buffers = {"blobsBuffer": run.raw, "listLength": zeros(run.device, columns * rows, np.uint32)}
    size = (run.width, run.height)
    return bind(run, trainer.kernels.constants, "stages", "stagesMain", size, scene=run.scene, ordered=ordered, **buffers)
