"""One iteration of training, measured on the workers' device: every dispatch, and what the stages of the largest cost."""

from dataclasses import dataclass

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import zeros
from splatscope.gpu.device import Adapter, adapter_of, open_device
from splatscope.gpu.kernel import BoundKernel, submit_timed
from splatscope.paths import ASSETS
from splatscope.splat.images import read_picture
from splatscope.splat.kernels import bind
from splatscope.splat.settings import Settings
from splatscope.splat.state import start_state
from splatscope.splat.trainer import Trainer
from splatscope.workers.pool import Pool
from splatscope.workers.single_flight import SingleFlightCache

PICTURE = "chelsea.jpg"
BEFORE = 10  # iterations, so that it is one of training and not of its start
REPEATS = 7  # of which the quickest counts: what else the machine does only adds
LIMIT = 120.0  # seconds


@dataclass(frozen=True)
class DispatchTime:
    """A kernel as it was dispatched: workgroups, threads of each, milliseconds by the device's own clock."""

    kernel: str
    groups: tuple[int, int, int]
    threads: tuple[int, int, int]
    ms: float


@dataclass(frozen=True)
class Iteration:
    """`dispatches` are those of the documents' tiled kernels, with the picture's last, `binned` those of the fast ones.

    `stages` are milliseconds inside of them: list, sort, blend of the forward pass, and backward; those that could be told apart.
    """

    adapter: Adapter
    width: int
    height: int
    blobs: int
    number: int
    dispatches: list[DispatchTime]
    stages: dict[str, float]
    binned: list[DispatchTime]


async def measured(pool: Pool) -> Iteration:
    """The iteration, measured once for all who ask. Raises WorkerError."""
    return await _kept.once("iteration", lambda: pool.run(_measure, limit=LIMIT))


_kept = SingleFlightCache(1)


# What follows runs on a worker.


def _measure() -> Iteration:
    picture = read_picture((ASSETS / PICTURE).read_bytes(), PICTURE, Settings().size)
    tiled, binned = (
        Trainer(open_device(), start_state(Settings(kernels=kernels, growth=False), picture.pixels, PICTURE))
        for kernels in ("tiled", "binned")
    )
    parts = [_as_far_as(tiled, ordered) for ordered in (0, 1)]
    queries = tiled.device.create_query_pool(type=spy.QueryType.timestamp, count=len(parts) + 1)
    for trainer in (tiled, binned):
        trainer.advance(BEFORE)
    submit_timed(tiled.device, parts, queries)  # the driver compiles
    least: dict[str, float] = {}
    for _ in range(REPEATS):  # in turns, so that what else the machine does meets them all
        took = dict(zip(("listed", "ordered"), submit_timed(tiled.device, parts, queries), strict=True))
        found = {name: 1e3 * seconds for name, seconds in took.items()}
        for trainer in (tiled, binned):
            trainer.advance(1)
            trainer.look()
            found |= trainer.kernel_ms
        least = {name: min(ms, least.get(name, ms)) for name, ms in found.items()}
    return Iteration(
        adapter=adapter_of(tiled.device),
        width=tiled.run.width,
        height=tiled.run.height,
        blobs=tiled.state.settings.blobs,
        number=tiled.state.step,
        dispatches=[_of(bound, least) for bound in (*tiled.kernels.iteration, *tiled.kernels.drawing)],
        stages=_stages(least),
        binned=[_of(bound, least) for bound in binned.kernels.iteration],
    )


def _of(bound: BoundKernel, ms: dict[str, float]) -> DispatchTime:
    groups = (int(bound.groups.x), int(bound.groups.y), int(bound.groups.z))
    return DispatchTime(bound.kernel.name, groups, bound.kernel.group_size, ms[bound.kernel.name])


def _stages(ms: dict[str, float]) -> dict[str, float]:
    """Each as a difference; one that is lost in the noise of a busy machine is left out."""
    ends = [0.0, ms["listed"], ms["ordered"], ms["imageMain"], ms["computeDerivativesMain"]]
    took = dict(zip(("list", "sort", "blend", "backward"), np.diff(ends).tolist(), strict=True))
    return {name: part for name, part in took.items() if part > 0}


def _as_far_as(trainer: Trainer, ordered: int) -> BoundKernel:
    """The forward pass as far as the list, or as its sort."""
    run = trainer.run
    columns, rows = run.tiles(*trainer.kernels.tile[:2])
    buffers = {"blobsBuffer": run.raw, "listLength": zeros(run.device, columns * rows, np.uint32)}
    size = (run.width, run.height)
    return bind(run, trainer.kernels.constants, "stages", "stagesMain", size, scene=run.scene, ordered=ordered, **buffers)
