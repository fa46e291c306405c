"""Growth: a run starts with some of its Gaussians, and the others come in where the picture is furthest from its target.

A Gaussian that is not there yet is one that nobody sees, so buffers, state files and kernels know nothing of growth. The first ids
stay away longest: they are the nearest, so what comes later lies on what was there, as details on a ground.
"""

from typing import TYPE_CHECKING

import numpy as np

from splatscope.splat.settings import Settings

if TYPE_CHECKING:
    from splatscope.splat.state import Splats

START = 0.25  # of the Gaussians are there from the first iteration
UNTIL = 0.5  # of the run, all are
STAGES = 10
LONGEST = 100  # iterations between two stages
HIDDEN = -12.0  # logit of an opacity that no pixel shows
USELESS = 0.01  # opacity under which a Gaussian is taken away, to come in elsewhere
SIZE = 0.3  # of a new one, in mean distances between all


def hide(raw: np.ndarray) -> None:
    """Leave only those of the raw values (9, N) in sight that a run starts with."""
    count = raw.shape[1]
    raw[8, : count - _wanted(count, 0.0)] = HIDDEN


def next_stage(settings: Settings, step: int) -> int | None:
    """The first iteration after `step` at which Gaussians are added; None when all stages are over, or the settings know none."""
    if not settings.grows:
        return None
    interval = _interval(settings)
    stage = step // interval + 1
    return stage * interval if stage <= STAGES else None


def add(splats: "Splats", target: np.ndarray, error: np.ndarray, settings: Settings, step: int, rng: np.random.Generator) -> int:
    """Let Gaussians in, at the stage of iteration `step`, and return how many. Useless ones are among them: they move.

    `target` is (H, W, 3) uint8, `error` (H, W) float32 as in `Look`. Arrays of `splats` are changed in place.
    """
    raw, (height, width) = splats.raw, error.shape
    useless = _useless(raw, width, height)
    missing = _wanted(splats.count, step / (STAGES * _interval(settings))) - int((~useless).sum())
    ids = np.flatnonzero(useless)[::-1][: max(0, missing)]
    places = _draw_places(error, len(ids), rng)
    raw[0, ids] = places % width + rng.uniform(-0.5, 0.5, len(ids))
    raw[1, ids] = places // width + rng.uniform(-0.5, 0.5, len(ids))
    raw[2:4, ids] = np.log(max(0.5, SIZE * np.sqrt(width * height / splats.count)))
    raw[4, ids] = rng.uniform(0.0, np.pi, len(ids))
    raw[5:8, ids] = target.reshape(-1, 3)[places].T / 255.0
    raw[8, ids] = 0.0
    splats.first_moment[:, ids] = 0.0
    splats.second_moment[:, ids] = 0.0
    return len(ids)


def _draw_places(error: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count,) pixels, in proportion to their error to the power of 2.5. (`rng.choice` and `**` take ten times as long.)"""
    odds = np.sqrt(error)
    odds *= error
    odds *= error
    odds += np.float32(1e-12)
    heap = np.cumsum(odds, dtype=np.float64)
    drawn = np.sort(rng.uniform(0.0, np.nextafter(heap[-1], 0.0), count))  # a search in order finds what it needs in the cache
    return rng.permutation(np.searchsorted(heap, drawn, side="right"))


def _interval(settings: Settings) -> int:
    return max(1, min(LONGEST, int(UNTIL * settings.iterations / STAGES)))


def _wanted(count: int, part: float) -> int:
    """How many are to be seen after this part of the growth, 0 … 1."""
    return int(np.ceil(count * (START + (1 - START) * min(1.0, part))))


def _useless(raw: np.ndarray, width: int, height: int) -> np.ndarray:
    """(N,) those that are all but transparent, or too far outside the picture for their size."""
    reach = 3 * np.exp(raw[2:4].max(axis=0))
    outside = (raw[:2] < -reach) | (raw[:2] > np.array([[width], [height]]) + reach)
    return (raw[8] < np.log(USELESS / (1 - USELESS))) | outside.any(axis=0)
