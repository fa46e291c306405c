"""The Gaussians that a training run starts with."""

import numpy as np

from splatscope.splat import densify
from splatscope.splat.files.images import crop_picture, read_picture
from splatscope.splat.parameters import FIELDS
from splatscope.splat.settings import Settings
from splatscope.splat.state import AdamState, TrainingState

SIZE = 0.6  # the size of a Gaussian at the start, as a multiple of the mean distance between Gaussians


def start_state(settings: Settings, target: np.ndarray, target_name: str) -> TrainingState:
    """Return the state before the first iteration, generated from the settings' seed; `target` is (H, W, 3) uint8."""
    generator = np.random.default_rng(settings.seed)
    start = _start_sample if settings.uses_sample_model else _start_direct
    raw = start(settings.blobs, target, generator)
    if settings.grows:
        densify.hide(raw)
    return TrainingState(settings, target, target_name, AdamState.start(raw), generator)


def fit_picture(data: bytes, name: str, size: int | tuple[int, int], settings: Settings) -> TrainingState:
    """Return the state before the first iteration of a run that fits a picture.

    Args:
        data: The picture's file.
        name: The file's name.
        size: The longest side in pixels, to which a larger picture is scaled down; or (width, height), to which it is cropped
            around its centre and resized.
        settings: The settings. Their size becomes the longest side.

    Raises:
        ImageError: The picture cannot be used.
    """
    settings.size = size if isinstance(size, int) else max(size)
    picture = read_picture(data, name, size) if isinstance(size, int) else crop_picture(data, name, *size)
    return start_state(settings, picture.pixels, picture.name)


def _start_sample(count: int, target: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return uniform raw values in [0, 1), (9, count) float32, as in the sample."""
    return generator.random((FIELDS, count)).astype(np.float32)


def _start_direct(count: int, target: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return raw values, (9, count) float32: half of the Gaussians at random places, half where the picture changes fast.

    Each has the colour of its pixel and is large enough to overlap its neighbours.
    """
    height, width, _ = target.shape
    picture = target / 255.0
    slope = sum(np.abs(np.gradient(picture.mean(axis=2), axis=axis)) if picture.shape[axis] > 1 else 0 for axis in (0, 1))
    edges = (slope + np.zeros((height, width))).ravel() + 1e-3
    on_edges = generator.choice(width * height, count - count // 2, p=edges / edges.sum())
    anywhere = generator.choice(width * height, count // 2)
    pixels = generator.permutation(np.concatenate([on_edges, anywhere]))

    raw = np.zeros((FIELDS, count), np.float32)
    densify.place(raw, np.arange(count), pixels, target, size=SIZE, generator=generator)
    return raw
