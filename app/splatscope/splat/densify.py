"""Densification: a run starts with some of its Gaussians and adds the others where the picture differs most from its target.

The idea is due to Kerbl et al., “3D Gaussian Splatting for Real-Time Radiance Field Rendering”, 2023, but here the number of
Gaussians is fixed. One that has not been added yet is invisible, so buffers, state files and kernels need not know about
densification. The lowest ids are the nearest and are added last, so that details lie in front of earlier Gaussians.
"""

import numpy as np

from splatscope.splat.parameters import ANGLE, COLOUR, LOG_SIZE, OPACITY, POSITION, X, Y
from splatscope.splat.settings import Settings
from splatscope.splat.state import Splats

START = 0.25  # fraction of the Gaussians that is visible from the first iteration
UNTIL = 0.5  # fraction of the run after which all Gaussians are visible
STAGES = 10
LONGEST = 100  # iterations between two stages
HIDDEN = -12.0  # logit of an opacity too low to change a pixel
USELESS = 0.01  # opacity below which a Gaussian is removed, to be added elsewhere
SIZE = 0.3  # the size of a new Gaussian, as a multiple of the mean distance between Gaussians


def hide(raw: np.ndarray) -> None:
    """Hide the Gaussians that a run does not start with. `raw`, (9, N) float32, is changed in place."""
    count = raw.shape[1]
    raw[OPACITY, : count - _wanted(count, 0.0)] = HIDDEN


def next_stage(settings: Settings, step: int) -> int | None:
    """Return the first iteration after `step` at which Gaussians are added, or None if no more are added."""
    if not settings.grows:
        return None
    interval = _interval(settings)
    stage = step // interval + 1
    return stage * interval if stage <= STAGES else None


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
    raw[LOG_SIZE, ids] = np.log(max(0.5, size * np.sqrt(width * height / raw.shape[1])))
    raw[ANGLE, ids] = generator.uniform(0.0, np.pi, len(ids))
    raw[COLOUR, ids] = target.reshape(-1, 3)[pixels].T / 255.0


def add(
    splats: Splats, target: np.ndarray, error: np.ndarray, settings: Settings, step: int, generator: np.random.Generator
) -> int:
    """Add Gaussians at iteration `step`, and move those that have become useless. Return how many were placed.

    Args:
        splats: Changed in place.
        target: (H, W, 3) uint8.
        error: (H, W) float32, as in `Look`.
        settings: The settings of the run.
        step: The iteration, as returned by `next_stage`.
        generator: Draws the pixels.
    """
    raw, (height, width) = splats.raw, error.shape
    useless = _useless(raw, width, height)
    missing = _wanted(splats.count, step / (STAGES * _interval(settings))) - int((~useless).sum())
    ids = np.flatnonzero(useless)[::-1][: max(0, missing)]
    place(raw, ids, _draw_pixels(error, len(ids), generator), target, SIZE, generator)
    raw[OPACITY, ids] = 0.0
    splats.first_moment[:, ids] = 0.0
    splats.second_moment[:, ids] = 0.0
    return len(ids)


def _draw_pixels(error: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
    """Draw (count,) pixels with a probability proportional to their error to the power of 2.5."""
    # `Generator.choice` and `**` take ten times as long.
    odds = np.sqrt(error)
    odds *= error
    odds *= error
    odds += np.float32(1e-12)
    cumulative = np.cumsum(odds, dtype=np.float64)
    # Sorted, so that the binary searches stay in the processor's cache.
    drawn = np.sort(generator.uniform(0.0, np.nextafter(cumulative[-1], 0.0), count))
    return generator.permutation(np.searchsorted(cumulative, drawn, side="right"))


def _interval(settings: Settings) -> int:
    """Return the number of iterations between two stages."""
    return max(1, min(LONGEST, int(UNTIL * settings.iterations / STAGES)))


def _wanted(count: int, progress: float) -> int:
    """Return how many Gaussians should be visible after a fraction `progress`, 0 … 1, of all stages."""
    return int(np.ceil(count * (START + (1 - START) * min(1.0, progress))))


def _useless(raw: np.ndarray, width: int, height: int) -> np.ndarray:
    """Return a mask, (N,) bool, of Gaussians that are nearly transparent or too far outside the picture to show."""
    radius = 3 * np.exp(raw[LOG_SIZE].max(axis=0))
    outside = (raw[POSITION] < -radius) | (raw[POSITION] > np.array([[width], [height]]) + radius)
    return (raw[OPACITY] < np.log(USELESS / (1 - USELESS))) | outside.any(axis=0)
