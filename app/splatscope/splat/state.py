"""The state of a training run: everything needed to resume it exactly."""

from dataclasses import dataclass, field

import numpy as np

from splatscope.splat.settings import Settings

HISTORY = np.dtype([("iteration", np.int64), ("seconds", np.float64), ("psnr", np.float64), ("loss", np.float64)])


@dataclass
class AdamState:
    """The values of N Gaussians that Adam optimises, with its moments.

    Attributes:
        raw: Raw values, (9, N) float32; `parameters` names the rows and their units.
        first_moment: Adam's running mean of the gradients, (9, N) float32.
        second_moment: Adam's running mean of the squared gradients, (9, N) float32.
    """

    raw: np.ndarray
    first_moment: np.ndarray
    second_moment: np.ndarray

    @classmethod
    def start(cls, raw: np.ndarray) -> "AdamState":
        """Return Gaussians with these raw values, (9, N) float32, and zero moments."""
        return cls(raw, np.zeros_like(raw), np.zeros_like(raw))

    @property
    def count(self) -> int:
        """The number of Gaussians, N."""
        return self.raw.shape[1]


@dataclass
class TrainingState:
    """A training run at one point in time.

    Attributes:
        settings: The user's settings.
        target: The picture to fit, (H, W, 3) uint8; or with alpha, (H, W, 4), by which the binned kernels weigh a pixel's error.
        target_name: Name of the picture's file.
        splats: The Gaussians and Adam's moments.
        generator: The random generator for the rest of the run.
        step: The number of iterations done.
        seconds: The device time that they took.
        history: Measurements so far, (measurements,) of dtype HISTORY.
        pictures: The number of pictures that the target consists of; see `batch`.
    """

    settings: Settings
    target: np.ndarray
    target_name: str
    splats: AdamState
    generator: np.random.Generator
    step: int = 0
    seconds: float = 0.0
    history: np.ndarray = field(default_factory=lambda: np.zeros(0, HISTORY))
    pictures: int = 1
