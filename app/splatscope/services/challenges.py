"""Rounds of the challenges on the workers' device, for browsers that offer no GPU: Gaussians drawn or trained, and measured."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import slangpy as spy

from splatscope.gpu.device import open_device
from splatscope.paths import ASSETS
from splatscope.splat.files.images import encode, read_picture, to_bytes
from splatscope.splat.initialise import start_state
from splatscope.splat.parameters import FIELDS
from splatscope.splat.scenes import FISH, FISH_SIZE, fish
from splatscope.splat.settings import Settings
from splatscope.splat.state import AdamState
from splatscope.splat.trainer import Trainer
from splatscope.workers.pool import Pool

TEN = len(FISH)
PHOTOGRAPH, SIZE = "chelsea.jpg", 128  # the photograph to be fitted with few Gaussians, and its longer side in pixels
MOST_BLOBS, MOST_ITERATIONS = 2048, 1000
LIMIT = 120.0  # seconds: the driver may have to compile the kernels first


@dataclass(frozen=True)
class Round:
    """What came of a round: the picture as PNG, its PSNR in dB, and the raw values (9, N) float32."""

    picture: bytes
    psnr: float
    raw: np.ndarray


async def play(pool: Pool, target: str, raw: np.ndarray | None, settings: dict[str, float | bool], iterations: int) -> Round:
    """Draw Gaussians, or train them for some iterations.

    Args:
        pool: The workers.
        target: "fish", or "photograph".
        raw: The Gaussians to begin with, (9, N) float32; None for a random start.
        settings: Those of `Settings` that differ from the default.
        iterations: 0 to draw only.

    Raises:
        WorkerError: The device failed.
    """
    return await pool.run(_play, target, raw, settings, iterations, limit=LIMIT)


# The rest of this module runs on a worker.


def _play(target: str, raw: np.ndarray | None, settings: dict[str, float | bool], iterations: int) -> Round:
    device = open_device()
    pixels = _fish(device) if target == "fish" else _photograph()
    chosen = Settings(size=max(pixels.shape[:2]), iterations=max(1, iterations), **settings)
    state = start_state(chosen, pixels, target)
    if raw is not None:
        state.splats = AdamState.start(raw)
    trainer = Trainer(device, state)
    trainer.advance(iterations)
    look = trainer.look()
    return Round(encode(to_bytes(look.picture), "PNG"), look.psnr, trainer.state.splats.raw)


@cache
def _photograph() -> np.ndarray:
    return read_picture((ASSETS / PHOTOGRAPH).read_bytes(), PHOTOGRAPH, SIZE).pixels


@cache
def _fish(device: spy.Device) -> np.ndarray:
    """Return the fish as its ten Gaussians draw it: (h, w, 3) uint8."""
    width, height = FISH_SIZE
    state = start_state(Settings(size=width, blobs=TEN, growth=False), np.zeros((height, width, 3), np.uint8), "fish")
    state.splats = AdamState.start(fish(TEN))
    return to_bytes(Trainer(device, state).look().picture)


def gaussians_of(numbers: list[float]) -> np.ndarray | None:
    """Return the Gaussians of a message, ten of them one field after the other; None for no numbers. Raises ValueError."""
    if not numbers:
        return None
    if len(numbers) != FIELDS * TEN or not np.isfinite(numbers).all():
        raise ValueError("These are not ten Gaussians.")
    return np.clip(np.array(numbers, np.float32), -1e3, 1e3).reshape(FIELDS, TEN)
