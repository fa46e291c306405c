"""Gaussians as a .splat file, which viewers in browsers read: 32 bytes each, without a header.

Places, sizes and order are as in a .ply file (`ply`). Sizes are standard deviations themselves. Colours, opacities and quaternions
have 8 bits, so colours beyond 0 … 1 are cut off, and angles are right to half a degree.
"""

import numpy as np

from splatscope.splat.files.ply import FLAT, depths, to_pixels, to_units
from splatscope.splat.parameters import ANGLE, COLOUR, OPACITY, POSITION
from splatscope.splat.scenes import gaussians, sizes_of

SPLAT = np.dtype([("place", "<f4", 3), ("scale", "<f4", 3), ("colour", "u1", 4), ("turn", "u1", 4)])


class SplatFileError(ValueError):
    """The file cannot be used; the message says why in one line."""


def to_splat(raw: np.ndarray, size: tuple[int, int]) -> bytes:
    """Return the bytes of the file. Arguments are as for `to_ply`."""
    values = raw.astype(np.float64)
    records: np.ndarray = np.zeros(raw.shape[1], SPLAT)
    records["place"][:, :2] = to_units(values[POSITION], size).T
    records["place"][:, 2] = depths(raw.shape[1])
    records["scale"][:, :2] = np.minimum(2 * sizes_of(raw) / max(size), np.finfo(np.float32).max).T
    records["scale"][:, 2] = FLAT
    alphas = 1 / (1 + np.exp(-values[OPACITY]))
    records["colour"] = np.rint(255 * np.clip([*values[COLOUR], alphas], 0, 1)).T
    half = values[ANGLE] / 2
    quaternion = np.stack([np.cos(half), np.zeros_like(half), np.zeros_like(half), np.sin(half)], -1)
    records["turn"] = np.rint(128 + 128 * quaternion).clip(0, 255)
    return records.tobytes()


def from_splat(data: bytes, size: tuple[int, int] | None) -> tuple[np.ndarray, tuple[int, int]]:
    """Return the raw values of the direct model, (9, N) float32, nearest first, and the size of the picture.

    Raises:
        SplatFileError: The file is cut short, or not flat, or no size was given.
    """
    if not data or len(data) % SPLAT.itemsize:
        raise SplatFileError("This is not a .splat file: it is empty, or cut short.")
    records: np.ndarray = np.frombuffer(data, SPLAT)
    if not (np.isfinite(records["place"]).all() and np.isfinite(records["scale"]).all()):
        raise SplatFileError("This .splat file has numbers that are not finite.")
    if size is None:
        raise SplatFileError("A .splat file does not say how large its picture is in pixels: give its size.")
    turn = records["turn"].astype(np.float64) - 128
    if (abs(turn[:, 1:3]) > 1).any():
        raise SplatFileError("This .splat file has Gaussians in space, which are no picture.")
    order = np.argsort(records["place"][:, 2], kind="stable")
    colour = records["colour"] / 255
    raw = gaussians(
        to_pixels(records["place"][:, :2].astype(np.float64).T, size).T,
        records["scale"][:, :2].astype(np.float64) * max(size) / 2,
        2 * np.arctan2(turn[:, 3], turn[:, 0]),
        colour[:, :3],
        colour[:, 3],
    )
    return raw[:, order], size
