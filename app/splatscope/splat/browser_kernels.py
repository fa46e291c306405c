"""Kernels that run in the reader's browser as WGSL, with the numbers that their hosts need: of a training run, of the home page."""

import re
from dataclasses import asdict
from typing import TypedDict

from splatscope.gpu.asserts import without_asserts
from splatscope.gpu.wgsl import compile_wgsl
from splatscope.gpu.wgsl_bindings import CompiledKernel, bindings_of
from splatscope.paths import shaders
from splatscope.splat import binned, densify, initialise, kernels, progress_report, settings

# The module of each entry point.
TILED = {
    "clearDerivativesMain": "training",
    "computeDerivativesMain": "training",
    "updateBlobsMain": "adam",
    "imageMain": "training",
}
BINNED = {
    "projectMain": "binned",
    "allocateMain": "binned",
    "scatterMain": "binned",
    "moveMain": "binned_update",
    "blockOddsMain": "densify",
    "worthMain": "worth",
    "placeMain": "densify",
}
BY_LANES = {"binnedDerivativesMain": "binned_raster", "binnedImageMain": "binned_raster", "tileWorthMain": "worth"}
BOTH = {"measureMain": "measure", "ellipsesMain": "describe", "layersMain": "layers"}
LANES = (8, 32)  # threads that share a tile: for waves of up to 8 lanes, and for wider ones
TILE = 8
_NUMTHREADS = re.compile(r"@workgroup_size\((\d+), (\d+), (\d+)\)")
_EXTERN = re.compile(r"extern static const (\w+) (\w+)(?: = ([^;]+))?;")


class TrainingConstants(TypedDict):
    """What the host of a run needs to know, as the modules of `splatscope.splat` say it."""

    beta1: float
    beta2: float
    epsilon: float
    maxWeight: float
    fall: float
    tile: int
    tiledTile: list[int]
    pairsPerGaussian: int
    startSize: float
    densifyStart: float
    densifyUntil: float
    densifyStages: int
    densifyLongest: int
    densifySize: float
    hidden: float
    moveEvery: int
    mostMoved: float
    cheap: float
    blockPixels: int
    measuredPixels: int
    ellipseFloats: int
    mostEllipses: int
    heat: list[list[float]]


class TrainingKernels(TypedDict):
    """The kernels of training in a browser.

    Attributes:
        kernels: By entry point; those of BY_LANES by "ENTRY/LANES".
    """

    constants: TrainingConstants
    kernels: dict[str, CompiledKernel]


def training_kernels() -> TrainingKernels:
    """Compile all of them.

    Raises:
        CompileError: WGSL lacks what a kernel uses.
    """
    texts, tiled = _texts(), _tiled()
    made = {entry: _compile(texts, module, entry, tiled) for entry, module in (TILED | BOTH).items()}
    for lanes in LANES:
        own = {"TILE": TILE, "LANES": lanes}
        names = BY_LANES if lanes != LANES[0] else BINNED | BY_LANES
        made |= {
            f"{entry}/{lanes}" if entry in BY_LANES else entry: _compile(texts, module, entry, own)
            for entry, module in names.items()
        }
    constants: TrainingConstants = {
        "beta1": kernels.BETA1,
        "beta2": kernels.DIRECT_BETA2,
        "epsilon": kernels.EPSILON,
        "maxWeight": kernels.MAX_WEIGHT,
        "fall": settings.FALL,
        "tile": TILE,
        "tiledTile": [tiled["WG_X"], tiled["WG_Y"]],
        "pairsPerGaussian": binned.PAIRS_PER_GAUSSIAN,
        "startSize": initialise.SIZE,
        "densifyStart": densify.START,
        "densifyUntil": densify.UNTIL,
        "densifyStages": densify.STAGES,
        "densifyLongest": densify.LONGEST,
        "densifySize": densify.SIZE,
        "hidden": densify.HIDDEN,
        "moveEvery": densify.MOVE_EVERY,
        "mostMoved": densify.MOST_MOVED,
        "cheap": densify.CHEAP,
        "blockPixels": densify.BLOCK_PIXELS,
        "measuredPixels": kernels.MEASURED_PIXELS,
        "ellipseFloats": kernels.ELLIPSE_FLOATS,
        "mostEllipses": progress_report.MOST_ELLIPSES,
        "heat": progress_report.HEAT.tolist(),
    }
    return {"constants": constants, "kernels": made}


class OpeningKernels(TypedDict):
    """The kernels that take a picture apart in a browser, by entry point, and what their host needs to know."""

    tile: list[int]
    maxWeight: float
    kernels: dict[str, CompiledKernel]


def opening_kernels() -> OpeningKernels:
    """Compile those that take a picture apart, draw it, and put it on a canvas. Raises CompileError."""
    texts, tiled = _texts(), _tiled()
    modules = {"takeApartMain": "apart", "imageMain": "training", "presentMain": "present"}
    made = {entry: _compile(texts, module, entry, tiled) for entry, module in modules.items()}
    return {"tile": [tiled["WG_X"], tiled["WG_Y"]], "maxWeight": kernels.MAX_WEIGHT, "kernels": made}


def _texts() -> dict[str, str]:
    return {file.name: without_asserts(file.read_text(encoding="utf-8")) for file in shaders()}


def _tiled() -> dict[str, int]:
    width, height, capacity = settings.TILES[settings.Settings.tile]
    return {"WG_X": width, "WG_Y": height, "GAUSSIANS_PER_BLOCK": capacity, "WAVE_SUM": 0}


def as_json(made: TrainingKernels | OpeningKernels) -> dict:
    """Return them as JSON types."""
    return {**made, "kernels": {name: asdict(kernel) for name, kernel in made["kernels"].items()}}


def _compile(texts: dict[str, str], module: str, entry: str, constants: dict[str, int]) -> CompiledKernel:
    """Compile an entry point with link-time constants. How many waves share a tile is known only when a pipeline is made."""
    values = {"SAMPLE_MODEL": 0, "BROWSER": 1} | constants

    def define(match: re.Match[str]) -> str:
        kind, name, default = match.groups()
        if name == "WAVES":
            return f"[SpecializationConstant] const {kind} {name} = {default};"
        return f"static const {kind} {name} = {values.get(name, default)};"

    files = {name: _EXTERN.sub(define, text) for name, text in texts.items()}
    wgsl = compile_wgsl(files, [f"{module}.slang"], entry, {})
    size = _NUMTHREADS.search(wgsl)
    assert size is not None
    return CompiledKernel(wgsl, entry, tuple(map(int, size.groups())), bindings_of(wgsl))
