"""Densification: a run starts with some of its Gaussians, and the others are added where the picture is furthest from its target.

The idea is that of Kerbl et al., 2023; here the number of Gaussians is fixed. One that is not added yet is invisible, so buffers,
state files and kernels need not know of densification. The lowest ids are added last: they are the nearest, so what is added later
lies over what was there, as details over a ground.
"""

import numpy as np

from splatscope.splat.parameters import ANGLE, COLOUR, LOG_SIZE, OPACITY, POSITION, X, Y
from splatscope.splat.settings import Settings
from splatscope.splat.state import Splats

START = 0.25  # part of the Gaussians that is visible from the first iteration
UNTIL = 0.5  # part of the run after which all are
STAGES = 10
LONGEST = 100  # iterations between two stages
HIDDEN = -12.0  # logit of an opacity that no pixel shows
USELESS = 0.01  # opacity below which a Gaussian is removed, to be added elsewhere
SIZE = 0.3  # of a new one, in mean distances between all


def hide(raw: np.ndarray) -> None:
    """Make invisible, in raw values (9, N) float32, the Gaussians that a run does not start with."""
    count = raw.shape[1]
    raw[OPACITY, : count - _wanted(count, 0.0)] = HIDDEN


def next_stage(settings: Settings, step: int) -> int | None:
    """Return the first iteration after `step` at which Gaussians are added; None after the last stage, or where there are none."""
    if not settings.grows:
        return None
    interval = _interval(settings)
    stage = step // interval + 1
    return stage * interval if stage <= STAGES else None


def place(
    raw: np.ndarray, ids: np.ndarray, pixels: np.ndarray, target: np.ndarray, size: float, generator: np.random.Generator
) -> None:
    """Put Gaussians on pixels, in the pixels' colours, at random angles; `raw`, (9, N) float32, is changed in place.

    Args:
        raw: Raw values of the direct model.
        ids: The Gaussians, (n,) int.
        pixels: Their pixels, (n,) int, row by row of the target.
        target: (H, W, 3) uint8.
        size: Their size, in mean distances between all Gaussians.
        generator: Shifts each by up to half a pixel, and turns it.
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
    """Add Gaussians at the stage of iteration `step`, useless ones among them, which move. Return how many were added.

    Args:
        splats: Changed in place.
        target: (H, W, 3) uint8.
        error: (H, W) float32, as in `Look`.
        settings: The run's.
        step: The iteration, a stage as `next_stage` names it.
        generator: Chooses the pixels.
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
    """Draw (count,) pixels in proportion to their error to the power of 2.5; `choice` and `**` take ten times as long."""
    odds = np.sqrt(error)
    odds *= error
    odds *= error
    odds += np.float32(1e-12)
    cumulative = np.cumsum(odds, dtype=np.float64)
    # Sorted, so that the search finds what it needs in the cache.
    drawn = np.sort(generator.uniform(0.0, np.nextafter(cumulative[-1], 0.0), count))
    return generator.permutation(np.searchsorted(cumulative, drawn, side="right"))


def _interval(settings: Settings) -> int:
    """Return the number of iterations between two stages."""
    return max(1, min(LONGEST, int(UNTIL * settings.iterations / STAGES)))


def _wanted(count: int, part: float) -> int:
    """Return how many shall be visible after a part, 0 … 1, of all stages."""
    return int(np.ceil(count * (START + (1 - START) * min(1.0, part))))


def _useless(raw: np.ndarray, width: int, height: int) -> np.ndarray:
    """Return which, (N,) bool, are all but transparent, or too far outside the picture for their size."""
    radius = 3 * np.exp(raw[LOG_SIZE].max(axis=0))
    outside = (raw[POSITION] < -radius) | (raw[POSITION] > np.array([[width], [height]]) + radius)
    return (raw[OPACITY] < np.log(USELESS / (1 - USELESS))) | outside.any(axis=0)
