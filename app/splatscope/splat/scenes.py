"""Gaussians from their properties, parts of a picture enlarged, and the inputs of a kernel that draws them."""

import numpy as np
from numpy.typing import ArrayLike

from splatscope.splat.parameters import ANGLE, COLOUR, FIELDS, LOG_SIZE, OPACITY, POSITION

# Ten Gaussians by hand, nearest first: a fish. x, y, two sizes, angle, r, g, b, opacity.
FISH_SIZE = (96, 64)
FISH = (
    ("the pupil", 30.0, 27.0, 1.3, 1.3, 0.0, 0.03, 0.03, 0.1, 0.99),
    ("the eye", 30.0, 27.0, 2.7, 2.7, 0.0, 1.0, 1.0, 0.95, 0.99),
    ("a fin", 47.0, 35.0, 6.0, 2.2, 0.6, 0.95, 0.75, 0.1, 0.95),
    ("a stripe", 39.0, 30.0, 1.8, 6.0, 0.1, 1.0, 0.97, 0.9, 0.95),
    ("a stripe", 54.0, 30.0, 1.6, 5.0, -0.1, 1.0, 0.97, 0.9, 0.95),
    ("the body", 44.0, 30.0, 16.0, 8.5, 0.0, 0.95, 0.35, 0.05, 0.99),
    ("half of the tail", 74.0, 25.0, 7.0, 2.6, -0.75, 0.9, 0.25, 0.1, 0.97),
    ("half of the tail", 74.0, 35.0, 7.0, 2.6, 0.75, 0.9, 0.25, 0.1, 0.97),
    ("sand", 48.0, 63.0, 60.0, 6.0, 0.0, 0.9, 0.75, 0.45, 0.97),
    ("the sea", 44.0, 24.0, 90.0, 60.0, 0.0, 0.1, 0.55, 0.8, 0.98),
)


def gaussians(centres: ArrayLike, sizes: ArrayLike, angles: ArrayLike, colours: ArrayLike, alphas: ArrayLike) -> np.ndarray:
    """Return raw values of the direct model, (9, N) float32.

    Args:
        centres: (N, 2) in pixels.
        sizes: (N, 2) in pixels, at least 0.31.
        angles: (N,) in radians.
        colours: (N, 3) in 0 … 1.
        alphas: (N,) in 0 … 1.
    """
    opacity = np.clip(np.asarray(alphas, float), 1e-6, 1 - 1e-6)
    raw = np.zeros((FIELDS, len(opacity)))
    raw[POSITION] = np.reshape(centres, (-1, 2)).T
    raw[LOG_SIZE] = np.log(np.maximum(np.reshape(sizes, (-1, 2)).T - MIN_SIZE, 1e-6))
    raw[ANGLE] = angles
    raw[COLOUR] = np.reshape(colours, (-1, 3)).T
    raw[OPACITY] = np.log(opacity / (1 - opacity))
    return raw.astype(np.float32)


MIN_SIZE = 0.3  # as in gaussian.slang


def sizes_of(raw: np.ndarray) -> np.ndarray:
    """Return the standard deviations along both axes in pixels, (2, N) float64, of raw values of the direct model, (9, N)."""
    return MIN_SIZE + np.exp(raw[LOG_SIZE].astype(np.float64))


def from_ellipses(ellipses: np.ndarray) -> np.ndarray:
    """Return raw values of the direct model, (9, N) float32, for ellipses (N, 10) as describe.slang lays them out.

    None is thinner than MIN_SIZE, as those of the sample's model may be.
    """
    centres, axes, radii, alphas, colours = np.split(ellipses.astype(np.float64), [2, 4, 6, 7], axis=1)
    # an ellipse is drawn at two standard deviations
    return gaussians(centres, radii / 2, np.arctan2(axes[:, 1], axes[:, 0]), colours, alphas[:, 0])


def zoomed(raw: np.ndarray, corner: tuple[float, float], scale: float) -> np.ndarray:
    """Return raw values of the direct model for a part of a picture, enlarged.

    Args:
        raw: Raw values, (9, N) float32.
        corner: x and y of the part's upper left corner, in pixels from that of the picture.
        scale: Pixels of the result for each pixel of the picture. No Gaussian becomes thinner than MIN_SIZE.
    """
    if corner == (0, 0) and scale == 1:
        return raw
    values = raw.copy()
    values[POSITION] = (raw[POSITION].astype(np.float64) + 0.5 - np.array(corner)[:, None]) * scale - 0.5
    values[LOG_SIZE] = np.log(np.maximum(scale * sizes_of(raw) - MIN_SIZE, 1e-6))
    return values


def scene_inputs(
    size: tuple[int, int], raw: np.ndarray, *, max_weight: float = 0.99, sample_background: bool = False
) -> dict[str, np.ndarray | np.generic]:
    """Return the inputs of scene.slang by name, for a picture of `size` (width, height) in pixels."""
    return {
        "scene.size": np.array(size, np.uint32),
        "scene.blobCount": np.uint32(raw.shape[1]),
        "scene.maxWeight": np.float32(max_weight),
        "scene.sampleBackground": np.uint32(sample_background),
        "blobsBuffer": np.ascontiguousarray(raw, np.float32).ravel(),
        "derivBuffer": np.zeros(raw.size, np.uint32),
    }


def some_gaussians(count: int, size: tuple[int, int], seed: int = 0, spread: tuple[float, float] = (1.0, 4.0)) -> np.ndarray:
    """Return raw values of random Gaussians over a picture, (9, count) float32; `size` and the range `spread` are in pixels."""
    rng = np.random.default_rng(seed)
    return gaussians(
        rng.random((count, 2)) * np.array(size) - 0.5,
        rng.uniform(*spread, (count, 2)),
        rng.random(count) * np.pi,
        rng.random((count, 3)),
        rng.uniform(0.3, 0.95, count),
    )


def fish(count: int) -> np.ndarray:
    """Return the last `count` Gaussians of FISH, which are the farthest: (9, count) float32."""
    _, *columns = zip(*FISH[-count:], strict=True)
    x, y, first, second, angles, r, g, b, alphas = columns
    return gaussians(np.column_stack([x, y]), np.column_stack([first, second]), angles, np.column_stack([r, g, b]), alphas)
