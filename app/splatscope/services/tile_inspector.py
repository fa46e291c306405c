"""From a run down to a thread: the workgroup of one tile, recorded stage by stage on the Gaussians as they are now."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from splatscope.gpu.device import open_device
from splatscope.paths import shader
from splatscope.recordings.packed import PackedRecording
from splatscope.services.record_and_pack import record_and_pack
from splatscope.services.recordings import RECORD_LIMIT
from splatscope.splat.parameters import COLOUR
from splatscope.splat.sample_kernels import link_constants
from splatscope.splat.scenes import scene_inputs
from splatscope.splat.settings import TILES, Settings
from splatscope.splat.state import TrainingState
from splatscope.textbook.query import RecordingQuery
from splatscope.tracing.job import KernelJob
from splatscope.workers.pool import Pool

FILE = "tile.slang"
_IMAGE, _DERIVATIVES = "tileImageMain", "tileDerivativesMain"


@dataclass(frozen=True)
class Stage:
    """One part of what a workgroup does: the functions of it that are recorded, so that each fits and compiles soon."""

    name: str
    title: str
    says: str
    page: str  # the section about it
    unit: str  # what one step is called
    entry: str
    functions: tuple[str, ...]
    memories: tuple[str, ...]


STAGES = (
    Stage(
        "list", "List", "The threads test every Gaussian against this tile, and list those that touch it.", "coarse-raster",
        "listed Gaussian", _IMAGE, ("initShortList", "coarseRasterize"), ("blobs", "blobCountAT", "blobCount"),
    ),
    Stage(
        "sort", "Sort", "The list is padded to a power of two and sorted, nearest first.", "bitonic-sort",
        "barrier", _IMAGE, ("padBuffer", "paddedCount", "bitonicSort", "orderPair"), ("blobs", "blobCount"),
    ),
    Stage(
        "blend", "Blend", "Each thread walks the list for its own pixel, until no light is left.", "fine-raster",
        "layer", _IMAGE,
        ("fineRasterize", "transformPixelState", "alphaBlend", "preMult", "overWhite", "onWhite", "onWhiteInSample"),
        ("blobs", "maxCount", "finalVal"),
    ),
    Stage(
        "backward", "Backward", "The list from its end: each layer is undone, and its gradient taken.", "undo",
        "layer", _DERIVATIVES, ("fineRasterize_bwd", "undoPixelState", "undoAlphaBlend", "preMult"),
        ("blobs", "maxCount", "finalVal"),
    ),
    Stage(
        "gradient", "Gradient", "What the pixels say of each raw value is summed, and added to a buffer by compare-and-swap.",
        "reduction",
        "raw value", _DERIVATIVES, ("loadFloat_bwd", "addOverWave", "addOverWorkgroup", "atomicAccumulate"),
        ("derivBuffer", "reductionBuffer"),
    ),
)  # fmt: skip
BY_NAME = {stage.name: stage for stage in STAGES}


@dataclass(frozen=True)
class Spot:
    """A pixel of a run's picture, with the tile and the thread that draw it."""

    x: int
    y: int
    tile: tuple[int, int]
    thread: int

    @classmethod
    def of(cls, settings: Settings, x: int, y: int) -> "Spot":
        """Return the spot of pixel (x, y): its tile, and the thread that draws it."""
        width, height, _ = TILES[settings.tile]
        return cls(x, y, (x // width, y // height), y % height * width + x % width)


@dataclass(frozen=True)
class TileRecording:
    """A stage of a tile.

    `listed` are the ids of its Gaussians, nearest first, as far as the recording has them; `steps` where each
    comes up, `colours` (n, 3) float32 in 0 … 1, `gradients` (n, 9) float32 of the raw values, of the backward stages only. Of the
    blend, `light` (n,) float32 is the spot's transmittance behind each, and `blended` how many it took.
    """

    packed: PackedRecording
    stops: list[int] = field(default_factory=list)
    listed: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    found: int = 0  # Gaussians that touch the tile, of the list's stage; more than it holds if it overflowed
    colours: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), np.float32))
    gradients: np.ndarray | None = None
    light: np.ndarray | None = None
    blended: int = 0


def tile_job(settings: Settings, raw: np.ndarray, target: np.ndarray, tile: tuple[int, int], stage: Stage) -> KernelJob:
    """The workgroup of `tile` (column, row) in an iteration on `raw` (9, N) towards `target` (H, W, 3) uint8.

    These are the sample's tiled kernels, whatever kernels the run itself is trained with.
    """
    height, width, _ = target.shape
    inputs = scene_inputs((width, height), raw, sample_background=settings.uses_sample_background)
    inputs["chosenTile"] = np.array(tile, np.uint32)
    if stage.entry == _DERIVATIVES:
        inputs["targetBuffer"] = np.ones((height * width, 4), np.float32)
        inputs["targetBuffer"][:, :3] = target.reshape(-1, 3) / 255.0
    else:
        inputs["tileColors"] = np.zeros((np.prod(TILES[settings.tile][:2]), 4), np.float32)
    source = shader(FILE).read_text(encoding="utf-8")
    constants = link_constants(settings)
    return KernelJob(source, FILE, stage.entry, inputs=inputs, constants=constants, functions=(stage.entry, *stage.functions))


async def record_tile(
    pool: Pool, state: TrainingState, spot: Spot, stage: Stage, on_progress: Callable[[int], None] | None = None
) -> TileRecording:
    """Record what the spot's workgroup does in this stage, on a worker. `on_progress` is given each stage of `tracing.progress`.

    Raises:
        WorkerError: the worker was lost or ran too long.
    """
    asked = (state.settings, state.splats.raw, state.target, spot, stage.name)
    return await pool.run(_record, *asked, limit=RECORD_LIMIT, on_progress=on_progress)


# What follows runs on a worker.


def _record(settings: Settings, raw: np.ndarray, target: np.ndarray, spot: Spot, name: str) -> TileRecording:
    job = tile_job(settings, raw, target, spot.tile, BY_NAME[name])
    recording, findings, packed = record_and_pack(open_device(), job)
    if recording is None:
        return TileRecording(packed)
    query = RecordingQuery(recording, job, findings)
    met = _met(query, name, spot.thread, raw.shape[1])
    listed = sorted(met)
    gradients = light = None
    if name == "blend":
        light = query.values(query.steps(kind="value", name="state.value", function="fineRasterize", thread=spot.thread))[1:, 3]
    if job.entry == _DERIVATIVES:
        gradients = query.output("derivBuffer").view(np.float32).reshape(raw.shape)[:, listed].T
    return TileRecording(
        packed=packed,
        stops=_stops(query, name, spot.thread),
        listed=listed,
        steps=[met[blob] for blob in listed],
        found=len(query.steps(kind="value", name="place", function="coarseRasterize")),
        colours=_colours(settings, raw[COLOUR, listed].T),
        gradients=gradients,
        light=light,
        blended=int(query.last("state.finalCount", spot.thread) or 0) if name == "blend" else 0,
    )


def _met(query: RecordingQuery, name: str, thread: int, count: int) -> dict[int, int]:
    """The step at which each Gaussian comes up: where it is listed, comes to rest, is blended, undone, or its gradient summed."""
    if name == "list":
        steps = query.steps(kind="write", name="blobs")
    elif name == "sort":
        steps = query.steps(name="blobs", where=lambda site: site.kind in ("read", "write"))
    elif name == "gradient":
        steps = query.steps(kind="value", name="clamped", thread=thread)
        called = query.steps(kind="value", name="idx", function="loadFloat_bwd", thread=thread)[: len(steps)]
        return _first(query.values(called) % count, steps[: len(called)])
    else:
        function = "fineRasterize" if name == "blend" else "fineRasterize_bwd"
        steps = query.steps(kind="read", name="blobs", function=function, thread=thread)
    ids = query.values(steps)
    there = ids < count  # what pads the list is larger than any
    if name == "sort":
        return dict(zip(ids[there].tolist(), steps[there].tolist(), strict=True))
    return _first(ids[there], steps[there])


def _first(ids: np.ndarray, steps: np.ndarray) -> dict[int, int]:
    return dict(zip(ids[::-1].tolist(), steps[::-1].tolist(), strict=True))


def _stops(query: RecordingQuery, name: str, thread: int) -> list[int]:
    """Where → and ← stop."""
    if name == "sort":
        return query.barriers()
    if name == "list":
        steps = query.steps(kind="write", name="blobs")
    elif name == "blend":
        steps = query.steps(kind="value", name="state.finalCount", function="fineRasterize", thread=thread)[1:]
    elif name == "backward":
        steps = query.steps(kind="value", name="state.finalCount", function="fineRasterize_bwd", thread=thread)[1:]
    else:
        steps = query.steps(kind="value", name="clamped", thread=thread)
    return [int(step) for step in steps]


def _colours(settings: Settings, raw: np.ndarray) -> np.ndarray:
    """Straight colours for a swatch, from raw values (n, 3)."""
    if settings.uses_sample_model:
        eased = np.clip(0.8 * raw, 0, 1)
        raw = eased * eased * (3 - 2 * eased)
    return np.clip(raw, 0, 1).astype(np.float32)
