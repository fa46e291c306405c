"""Densification: a run starts with some of its Gaussians and adds the others where the picture differs most from its target.

Once all are there, those that are worth least move there, too: their removal costs less than a new one is expected to gain.

Adding is due to Kerbl et al., “3D Gaussian Splatting for Real-Time Radiance Field Rendering”, 2023. Moving is due to Kheradmand et
al., “3D Gaussian Splatting as Markov Chain Monte Carlo”, 2024, who move those of low opacity. Here the number of Gaussians is
fixed. One that has not been added yet is invisible, so buffers, state files and kernels need not know about densification. The
lowest ids are the nearest and are added last, so that details lie in front of earlier Gaussians.
"""

from dataclasses import replace

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import download, upload, zeros
from splatscope.gpu.kernel import BoundKernel, submit
from splatscope.splat.binned import BinnedKernels
from splatscope.splat.kernels import RunBuffers, bind, errors
from splatscope.splat.parameters import ANGLE, COLOUR, LOG_SIZE, OPACITY, X, Y
from splatscope.splat.settings import Settings

START = 0.1  # fraction of the Gaussians that is visible from the first iteration
UNTIL = 0.5  # fraction of the run after which all Gaussians are visible, and none is moved any more
STAGES = 10
LONGEST = 100  # iterations between two stages
MOVE_EVERY = 500  # iterations, once all Gaussians are visible
MOST_MOVED = 0.05  # of all Gaussians, at once
CHEAP = 6.0  # the worth below which a Gaussian is moved, as a multiple of the mean error per Gaussian
HIDDEN = -12.0  # logit of an opacity too low to change a pixel
SIZE = 0.3  # the size of a new Gaussian, as a multiple of the mean distance between Gaussians

BLOCK_PIXELS = 256  # as in shaders/binned/densify.slang
PLACEMENT = np.dtype([("shift", "f4", 2), ("angle", "f4"), ("odds", "f4"), ("block", "u4"), ("gaussian", "u4")])  # as there


def hide(raw: np.ndarray) -> None:
    """Hide the Gaussians that a run does not start with. `raw`, (9, N) float32, is changed in place."""
    count = raw.shape[1]
    raw[OPACITY, : count - _wanted(count, 0.0)] = HIDDEN


def next_stage(settings: Settings, step: int) -> int | None:
    """Return the first iteration after `step` at which Gaussians are added or moved, or None if there is none."""
    if not settings.grows:
        return None
    grown = STAGES * _interval(settings)
    every = _interval(settings) if step < grown else MOVE_EVERY
    stage = (step // every + 1) * every
    return stage if stage <= max(grown, UNTIL * settings.iterations) else None


def place(
    raw: np.ndarray, ids: np.ndarray, pixels: np.ndarray, target: np.ndarray, size: float, generator: np.random.Generator
) -> None:
    """Place Gaussians on pixels, with the colours of the pixels and at random angles.

    Args:
        raw: Raw values of the direct model, (9, N) float32, changed in place.
        ids: The Gaussians, (n,) int.
        pixels: Their pixels, (n,) int, as indices into the target's pixels in row order.
        target: (H, W, 3) uint8.
        size: Their size, as a multiple of the mean distance between Gaussians.
        generator: Draws shifts of up to half a pixel, and angles.
    """
    height, width, _ = target.shape
    raw[X, ids] = pixels % width + generator.uniform(-0.5, 0.5, len(ids))
    raw[Y, ids] = pixels // width + generator.uniform(-0.5, 0.5, len(ids))
    raw[LOG_SIZE, ids] = _log_size(size, width * height, raw.shape[1])
    raw[ANGLE, ids] = generator.uniform(0.0, np.pi, len(ids))
    raw[COLOUR, ids] = target.reshape(-1, 3)[pixels].T / 255.0


class Densifier:
    """Adds Gaussians to a run, and moves them, on its device.

    Attributes:
        bounds: All kernels, in the order to compile them.
    """

    def __init__(self, run: RunBuffers, kernels: BinnedKernels):
        self._run = run
        self._kernels = kernels
        count, pixels = run.settings.blobs, run.width * run.height
        self._block_odds = zeros(run.device, -(-pixels // BLOCK_PIXELS))
        self._find = self._bind("blockOddsMain", pixels, errorMap=run.error_map, blockOdds=self._block_odds)
        self._place = self._bind(
            "placeMain",
            1,
            errorMap=run.error_map,
            referenceBuffer=run.target,
            firstMoment=run.first_moment,
            secondMoment=run.second_moment,
            placements=self._upload(np.zeros(1, PLACEMENT)),
            placementCount=0,
            logSize=_log_size(SIZE, run.width * run.height, count),
        )
        self.bounds = [self._find, self._place]

    def add(self, step: int, generator: np.random.Generator) -> int:
        """Add Gaussians at iteration `step`, and move those that are worth least. Return how many were placed.

        Call this after the picture was drawn and measured.

        Args:
            step: The iteration, as returned by `next_stage`.
            generator: Draws the pixels, shifts of up to half a pixel, and angles.
        """
        run, progress = self._run, step / (STAGES * _interval(self._run.settings))
        worth = self._kernels.worth().reshape(run.pictures, -1)
        chosen = [_choose(*of_picture, progress) for of_picture in zip(worth, errors(run)[:, 0], strict=True)]
        submit(run.device, [self._find])
        odds = download(self._block_odds, np.float32, (run.pictures, self._block_odds.size // 4 // run.pictures))
        drawn = [_draw(*of_picture, generator) for of_picture in zip(chosen, odds, strict=True)]
        for picture, placements in enumerate(drawn):
            placements["gaussian"] += picture * worth.shape[1]
            placements["block"] += picture * odds.shape[1]
        placements = np.concatenate(drawn)
        if len(placements):
            self._place.set(placements=self._upload(placements), placementCount=len(placements))
            groups = spy.uint3(-(-len(placements) // self._place.kernel.group_size[0]), 1, 1)
            submit(run.device, [replace(self._place, groups=groups)])
        return len(placements)

    def _upload(self, placements: np.ndarray) -> spy.Buffer:
        return upload(self._run.device, placements.view(np.uint32).reshape(len(placements), -1))  # SlangPy takes no structs

    def _bind(self, entry: str, threads: int, **variables) -> BoundKernel:
        if entry != "blockOddsMain":
            variables["blobsBuffer"] = self._run.raw
        return bind(self._run, {}, "densify", entry, (threads, 1), scene=self._run.scene, **variables)


def _choose(worth: np.ndarray, error: float, progress: float) -> np.ndarray:
    """Return the ids of a picture's Gaussians to place: those that are missing, then those that are better off elsewhere.

    Args:
        worth: What the picture would lose without each, (n,) float32.
        error: The squared error of the picture, summed over pixels and channels.
        progress: See `_wanted`; above 1, Gaussians are moved.
    """
    count = len(worth)
    missing = max(0, _wanted(count, progress) - np.count_nonzero(worth))
    cheap = np.count_nonzero((worth > 0) & (worth < CHEAP * error / count)) if progress > 1 else 0
    by_worth = count - 1 - np.argsort(worth[::-1], kind="stable")  # of equal worth, the highest ids first
    return by_worth[: missing + min(int(MOST_MOVED * count), cheap)]


def _draw(ids: np.ndarray, odds: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Draw a pixel for each of a picture's Gaussians, with a probability proportional to its odds. Return them as PLACEMENT."""
    cumulative = np.cumsum(odds, dtype=np.float64)
    # Sorted, so that the binary searches stay in the processor's cache.
    drawn = np.sort(generator.uniform(0.0, np.nextafter(cumulative[-1], 0.0), len(ids)))
    blocks = np.searchsorted(cumulative, drawn, side="right")
    placements: np.ndarray = np.zeros(len(ids), PLACEMENT)
    placements["block"] = blocks
    placements["odds"] = drawn - (cumulative[blocks] - odds[blocks])
    placements = generator.permutation(placements)
    placements["gaussian"] = ids
    placements["shift"] = generator.uniform(-0.5, 0.5, (len(ids), 2))
    placements["angle"] = generator.uniform(0.0, np.pi, len(ids))
    return placements


def _interval(settings: Settings) -> int:
    """Return the number of iterations between two stages."""
    return max(1, min(LONGEST, int(UNTIL * settings.iterations / STAGES)))


def _wanted(count: int, progress: float) -> int:
    """Return how many Gaussians should be visible after a fraction `progress`, 0 … 1, of all stages."""
    return int(np.ceil(count * (START + (1 - START) * min(1.0, progress))))


def _log_size(size: float, pixels: int, count: int) -> float:
    """Return the log size, in ln pixels, of a Gaussian `size` times as large as the mean distance between `count` of them."""
    return float(np.log(max(0.5, size * np.sqrt(pixels / count))))
