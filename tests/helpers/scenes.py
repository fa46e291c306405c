"""Random scenes for kernels: the uniforms that they read, and raw values of Gaussians."""

import numpy as np

from splatscope.splat.settings import TILES


def scene_of(width: int, height: int, count: int, *, sample_background: bool = False, max_weight: float = 0.99) -> dict:
    return {
        "size": [width, height],
        "blobCount": count,
        "maxWeight": max_weight,
        "sampleBackground": int(sample_background),
    }


def constants_of(tile: str) -> dict:
    width, height, capacity = TILES[tile]
    return {"WG_X": width, "WG_Y": height, "GAUSSIANS_PER_BLOCK": capacity}


def scattered(count, rng, log_size=(0.0, 1.2), size=(50, 37)):
    raw = rng.random((9, count))
    raw[0] *= size[0]
    raw[1] *= size[1]
    raw[2:4] = rng.uniform(*log_size, (2, count))
    return raw


def direct_raw(rng, n=512, size=(40, 24)):
    raw = rng.random((9, n))
    raw[0] *= size[0]
    raw[1] *= size[1]
    raw[2:4] = rng.uniform(-1, 2.5, (2, n))
    raw[4] *= 7
    raw[8] = rng.normal(0, 2, n)
    return raw.astype(np.float32)
