"""What a page is told of a training run, small enough to send many times a second: encoded pictures and short tables."""

from dataclasses import dataclass

import numpy as np

from splatscope.splat.images import encode, to_bytes
from splatscope.splat.trainer import Look

MOST_ELLIPSES = 170


@dataclass(frozen=True)
class ProgressReport:
    """A look at a run, ready to draw.

    `picture` and `error` are JPEGs at the training's own size. `ellipses` is (n, 10) float32 as describe.slang lays them out,
    one Gaussian in `one_in`. `list_lengths` is (rows, columns) uint32, empty for the simple kernels; `tile` is a tile's width and
    height and what its list holds.
    """

    iteration: int
    seconds: float
    psnr: float
    loss: float
    iterations_per_second: float
    picture: bytes
    error: bytes
    ellipses: np.ndarray
    one_in: int
    list_lengths: np.ndarray
    tile: tuple[int, int, int]
    overflowed_tiles: int
    kernel_ms: dict[str, float]


def report_of(look: Look, iterations_per_second: float) -> ProgressReport:
    """Return what a page shows of a look at a training; of many ellipses, evenly spaced ones."""
    one_in = -(-len(look.ellipses) // MOST_ELLIPSES)
    return ProgressReport(
        iteration=look.iteration,
        seconds=look.seconds,
        psnr=look.psnr,
        loss=look.loss,
        iterations_per_second=iterations_per_second,
        picture=encode(to_bytes(look.picture)),
        error=encode(heat(look.error)),
        ellipses=look.ellipses[::one_in],
        one_in=one_in,
        list_lengths=look.list_lengths,
        tile=look.tile,
        overflowed_tiles=look.overflowed_tiles,
        kernel_ms=look.kernel_ms,
    )


# Dark to pale yellow, evenly growing lighter; the same in light and dark pages.
_HEAT = np.array([(4, 4, 12), (50, 10, 94), (120, 28, 109), (188, 55, 84), (237, 105, 37), (251, 180, 26), (252, 252, 190)], float)


def heat(error: np.ndarray) -> np.ndarray:
    """An error map (H, W) in 0…1 as colours (H, W, 3) uint8. The root is shown, so that small errors are seen too."""
    place = np.sqrt(np.clip(error, 0.0, 1.0)) * (len(_HEAT) - 1)
    steps = np.arange(len(_HEAT))
    return np.stack([np.interp(place, steps, channel) for channel in _HEAT.T], axis=-1).astype(np.uint8)
