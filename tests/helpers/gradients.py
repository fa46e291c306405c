"""Compare the gradients of kernels with central differences of the NumPy reference.

For each of the nine kinds of raw values, |g − g64| must be ≤ 1e-5·max|g|, and ≤ 1e-3·|g| wherever |g| > 1e-3·max|g|.
"""

import numpy as np

from splatscope.splat.settings import Settings
from splatscope.splat.state import AdamState, TrainingState
from splatscope.splat.trainer import Trainer

FIELD_NAMES = ["x", "y", "size_1", "size_2", "angle", "red", "green", "blue", "opacity"]


def differences(raw, loss_of, blobs=None, step=1e-5):
    """Return central differences of `loss_of(raws)`, (9, len(blobs)), for some Gaussians or all; raws are (…, 9, N)."""
    blobs = np.arange(raw.shape[1]) if blobs is None else blobs
    result = np.zeros((len(raw), len(blobs)))
    per = max(1, 2_000_000 // (18 * raw.size))  # Gaussians per chunk, so that a chunk fits in the caches
    for first in range(0, len(blobs), per):
        chosen = blobs[first : first + per]
        fields, columns = (grid.ravel() for grid in np.meshgrid(np.arange(len(raw)), chosen, indexing="ij"))
        steps = step * np.maximum(1.0, np.abs(raw[fields, columns]))
        moved = np.repeat(raw[None], 2 * len(steps), axis=0)
        ups = np.arange(len(steps))
        moved[ups, fields, columns] += steps
        moved[ups + len(steps), fields, columns] -= steps
        losses = loss_of(moved)
        slopes = (losses[: len(steps)] - losses[len(steps) :]) / (2 * steps)
        result[:, first : first + per] = slopes.reshape(len(raw), -1)
    return result


def assert_gradients_agree(got, expected):
    for name, g, g64 in zip(FIELD_NAMES, got.astype(float), expected, strict=True):
        largest = np.abs(g64).max()
        assert largest > 0, f"no gradient reaches {name}"
        error = np.abs(g - g64)
        assert error.max() <= 1e-5 * largest, f"{name}: {error.max() / largest:.1e} of the largest"
        large = np.abs(g64) > 1e-3 * largest
        relative = (error[large] / np.abs(g64[large])).max()
        assert relative <= 1e-3, f"{name}: {relative:.1e} of its own value"


def start(model, count, width, height, rng, size=(0.3, 2.2)):
    """Return raw values away from kinks: no smoothstep at its ends, no weight near the clamp."""
    if model == "shipped":
        return rng.uniform(0.1, 0.9, (9, count)).astype(np.float32)
    raw = rng.random((9, count))
    raw[0] *= width
    raw[1] *= height
    raw[2:4] = rng.uniform(*size, (2, count))
    raw[8] = rng.normal(0.5, 1.0, count)
    return raw.astype(np.float32)


CASES = {
    "several tiles": dict(width=32, height=16, count=40),
    "sides no multiple of the tile": dict(width=27, height=19, count=40),
    "deep and saturated": dict(width=24, height=12, count=90, opaque=True),
}


def trainer_of(device, raw, target, **chosen):
    settings = Settings(blobs=raw.shape[1], **chosen)
    return Trainer(device, TrainingState(settings, target, "", AdamState.start(raw), np.random.default_rng(0)))
