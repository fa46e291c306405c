"""The report on a training run that a page shows: encoded pictures and short tables, small enough to send many times a second."""

from dataclasses import dataclass

import numpy as np

from splatscope.splat.files.images import encode, to_bytes
from splatscope.splat.trainer import Look

MOST_ELLIPSES = 170


@dataclass(frozen=True)
class ProgressReport:
    """A `Look` at a run, ready to draw. Attributes that are not listed are as in `Look`.

    Attributes:
        iterations_per_second: Speed of the latest slice of training; 0 if there was none.
        picture: The picture as a screen shows it, exactly; encoded.
        error: The error map in colours, a JPEG of the same size.
        ellipses: (n, 10) float32, one Gaussian out of every `one_in`.
        one_in: The interval between the ids in `ellipses`.
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
    """Return the report on a look. It has at most MOST_ELLIPSES ellipses, evenly spaced by id."""
    one_in = -(-len(look.ellipses) // MOST_ELLIPSES)
    return ProgressReport(
        iteration=look.iteration,
        seconds=look.seconds,
        psnr=look.psnr,
        loss=look.loss,
        iterations_per_second=iterations_per_second,
        picture=encode(to_bytes(look.picture), "WEBP"),
        error=encode(heat(look.error)),
        ellipses=look.ellipses[::one_in],
        one_in=one_in,
        list_lengths=look.list_lengths,
        tile=look.tile,
        overflowed_tiles=look.overflowed_tiles,
        kernel_ms=look.kernel_ms,
    )


# From dark to pale yellow, evenly lighter; the same on light and dark pages.
HEAT = np.array([(4, 4, 12), (50, 10, 94), (120, 28, 109), (188, 55, 84), (237, 105, 37), (251, 180, 26), (252, 252, 190)], float)


def heat(error: np.ndarray) -> np.ndarray:
    """Return the colours, (H, W, 3) uint8, of an error map (H, W) in 0 … 1, on a square-root scale that shows small errors."""
    position = np.sqrt(np.clip(error, 0.0, 1.0)) * (len(HEAT) - 1)
    steps = np.arange(len(HEAT))
    return np.stack([np.interp(position, steps, channel) for channel in HEAT.T], axis=-1).astype(np.uint8)
