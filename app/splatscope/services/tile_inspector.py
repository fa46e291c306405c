"""Record the workgroup of one tile of a training run, stage by stage, on the run's current Gaussians."""

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
    """One stage of a workgroup's work. Only its functions are recorded, so that the recording fits and compiles quickly.

    Attributes:
        name: Its name in the address.
        title: The button's label.
        page: The section that explains it.
        description: What happens, in a sentence.
        unit: The name of one step.
        entry: The entry point.
        functions: The functions to record, besides the entry point.
        memories: The arrays and buffers to show.
    """

    name: str
    title: str
    page: str
    description: str
    unit: str
    entry: str
    functions: tuple[str, ...]
    memories: tuple[str, ...]


STAGES = (
    Stage(
        "list", "List", "coarse-raster",
        "The tile's threads share out all Gaussians, test them, and list those that touch the tile.",
        "listed Gaussian", _IMAGE, ("initShortList", "coarseRasterize"), ("blobs", "blobCountAT", "blobCount"),
    ),
    Stage(
        "sort", "Sort", "bitonic-sort",
        "Together the threads order the list, the nearest Gaussian first.",
        "barrier", _IMAGE, ("padBuffer", "paddedCount", "bitonicSort", "orderPair"), ("blobs", "blobCount"),
    ),
    Stage(
        "blend", "Blend", "fine-raster",
        "Each thread lays the listed Gaussians over one another for its own pixel, until nothing behind them could be seen.",
        "layer", _IMAGE,
        ("fineRasterize", "transformPixelState", "alphaBlend", "preMult", "overWhite", "onWhite", "onWhiteInSample"),
        ("blobs", "maxCount", "finalVal"),
    ),
    Stage(
        "backward", "Undo", "undo",
        "Back through the list: each thread takes the layers off again, and finds which way each should change.",
        "layer", _DERIVATIVES, ("fineRasterize_bwd", "undoPixelState", "undoAlphaBlend", "preMult"),
        ("blobs", "maxCount", "finalVal"),
    ),
    Stage(
        "gradient", "Gradients", "reduction",
        "What the tile's pixels ask of each of a Gaussian's nine numbers is added up, and the sum goes to memory.",
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
    """A recorded stage of a tile.

    Attributes:
        packed: The recording.
        stops: The steps at which → and ← stop.
        listed: Ids of the tile's n recorded Gaussians, nearest first.
        steps: The step at which each of them is handled.
        found: How many Gaussians touch the tile, for the list stage; more than the list holds if it overflowed.
        colours: (n, 3) float32 in 0 … 1.
        gradients: The gradients of the raw values, (n, 9) float32; for the backward stages only.
        opening: The step to open at: where the spot's own thread blends or undoes the Gaussian that covers most of the pixel,
            lists or moves a Gaussian, or adds up a gradient; 0 if nothing is handled.
        alphas: Each Gaussian's α at the spot, (n,) float32; for the blend stage only.
        light: The spot's transmittance behind each Gaussian, (n,) float32; for the blend stage only.
        colour: The spot's colour over the background, as red, green and blue; for the blend stage only.
        blended: The number of Gaussians that the spot blended; for the blend stage only.
    """

    packed: PackedRecording
    stops: list[int] = field(default_factory=list)
    listed: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    found: int = 0
    colours: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), np.float32))
    gradients: np.ndarray | None = None
    opening: int = 0
    alphas: np.ndarray | None = None
    light: np.ndarray | None = None
    colour: tuple[float, ...] = ()
    blended: int = 0


def tile_job(settings: Settings, raw: np.ndarray, target: np.ndarray, tile: tuple[int, int], stage: Stage) -> KernelJob:
    """Return the job that runs one tile's workgroup in one stage of an iteration.

    It runs the sample's tiled kernels, whichever kernels train the run.

    Args:
        settings: The settings of the run.
        raw: The Gaussians' raw values, (9, N) float32.
        target: (H, W, 3) uint8.
        tile: (column, row).
        stage: The stage to record.
    """
    height, width, _ = target.shape
    scene = scene_inputs((width, height), raw, sample_background=settings.uses_sample_background)
    inputs = {name: np.asarray(value) for name, value in scene.items()}
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
    """Record one stage of the spot's workgroup on a worker. `on_progress` is called with each stage of `tracing.progress`.

    Raises:
        WorkerError: The worker was lost or took too long.
    """
    arguments = (state.settings, state.splats.raw, state.target, spot, stage.name)
    return await pool.run(_record, *arguments, limit=RECORD_LIMIT, on_progress=on_progress, shipped=True)


# The rest of this module runs on a worker.


def _record(settings: Settings, raw: np.ndarray, target: np.ndarray, spot: Spot, name: str) -> TileRecording:
    job = tile_job(settings, raw, target, spot.tile, BY_NAME[name])
    recording, findings, packed = record_and_pack(open_device(), job)
    if recording is None:
        return TileRecording(packed)
    query = RecordingQuery(recording, job, findings)
    steps = _steps_by_id(query, name, spot.thread, raw.shape[1])
    listed = sorted(steps)
    gradients = alphas = light = None
    colour: tuple[float, ...] = ()
    if name == "blend":
        light = query.values(query.steps(kind="value", name="state.value", function="fineRasterize", thread=spot.thread))[1:, 3]
        alphas = query.values(query.steps(kind="value", name="gval", function="transformPixelState", thread=spot.thread))[:, 3]
        colour = tuple(query.output("tileColors")[spot.thread, :3].tolist())
    if job.entry == _DERIVATIVES:
        gradients = query.output("derivBuffer").view(np.float32).reshape(raw.shape)[:, listed].T
    stops = _stops(query, name, spot.thread)
    blended = query.last("state.finalCount", spot.thread) if name == "blend" else None
    return TileRecording(
        packed=packed,
        stops=stops,
        listed=listed,
        steps=[steps[blob] for blob in listed],
        found=len(query.steps(kind="value", name="place", function="coarseRasterize")),
        colours=_colours(settings, raw[COLOUR, listed].T),
        gradients=gradients,
        opening=_opening(query, name, spot.thread, stops),
        alphas=alphas,
        light=light,
        colour=colour,
        blended=blended if isinstance(blended, int) else 0,
    )


def _steps_by_id(query: RecordingQuery, name: str, thread: int, count: int) -> dict[int, int]:
    """Return the step at which the stage `name` handles each Gaussian, by id.

    It handles a Gaussian where it lists it, moves it to its final position in the sort, blends or undoes it, or sums its gradient.
    """
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
    is_listed = ids < count  # the list is padded with larger numbers
    if name == "sort":
        return dict(zip(ids[is_listed].tolist(), steps[is_listed].tolist(), strict=True))
    return _first(ids[is_listed], steps[is_listed])


def _first(ids: np.ndarray, steps: np.ndarray) -> dict[int, int]:
    return dict(zip(ids[::-1].tolist(), steps[::-1].tolist(), strict=True))


def _stops(query: RecordingQuery, name: str, thread: int) -> list[int]:
    """Return the steps at which → and ← stop."""
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


def _opening(query: RecordingQuery, name: str, thread: int, stops: list[int]) -> int:
    """Return the step to open at, a step of the spot's own thread if it has any."""
    if name in ("list", "sort"):
        stops = [int(step) for step in query.steps(kind="write", name="blobs", thread=thread)] or stops
    elif name in ("blend", "backward") and stops:
        function = "fineRasterize" if name == "blend" else "fineRasterize_bwd"
        transmittance = query.values(query.steps(kind="value", name="state.value", function=function, thread=thread))[:, 3]
        return stops[int(np.abs(np.diff(transmittance))[: len(stops)].argmax())] if len(transmittance) > 1 else stops[0]
    return stops[0] if stops else 0


def _colours(settings: Settings, raw: np.ndarray) -> np.ndarray:
    """Return colours for swatches, (n, 3) float32 in 0 … 1, from raw values (n, 3)."""
    if settings.uses_sample_model:
        eased = np.clip(0.8 * raw, 0, 1)
        raw = eased * eased * (3 - 2 * eased)
    return np.clip(raw, 0, 1).astype(np.float32)
