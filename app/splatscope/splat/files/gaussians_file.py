"""The Gaussians of a picture in any of their files, by the end of its name: .ply, .splat, .compact.npz, .npz."""

import io
import zipfile
from pathlib import Path

import numpy as np

from splatscope.splat.files.arrays import read_arrays
from splatscope.splat.files.compact import load_compact, save_compact
from splatscope.splat.files.ply import from_ply, to_ply
from splatscope.splat.files.splat_file import from_splat, to_splat
from splatscope.splat.parameters import FIELDS
from splatscope.splat.settings import Settings

ENDINGS = (".ply", ".splat", ".compact.npz", ".npz")
MAX_FILE_BYTES = 512 * 2**20
MAX_SIDE = 65_536  # pixels of a picture
MOST = Settings.param.blobs.bounds[1]


class GaussiansFileError(ValueError):
    """The file cannot be used; the message says why in one line."""


def ending_of(name: str) -> str:
    """Return which of ENDINGS a file's name has. Raises GaussiansFileError."""
    name = Path(name).name.lower()
    if name == "compact.npz":  # as `splatscope train --out` calls it
        return ".compact.npz"
    for ending in ENDINGS:
        if name.endswith(ending):
            return ending
    raise GaussiansFileError(f"Gaussians are in files that end in {', '.join(ENDINGS)}: “{name}” does not.")


def to_bytes(raw: np.ndarray, size: tuple[int, int], ending: str) -> bytes:
    """Return the bytes of a file.

    Args:
        raw: Raw values of the direct model, (9, N) float32.
        size: Width and height of the picture in pixels.
        ending: One of ENDINGS.
    """
    if ending == ".npz":
        file = io.BytesIO()
        np.savez_compressed(file, raw=raw, width=size[0], height=size[1])
        return file.getvalue()
    return {".ply": to_ply, ".splat": to_splat, ".compact.npz": save_compact}[ending](raw, size)


def is_state(data: bytes) -> bool:
    """Return whether these are the bytes of a training's state, and not of Gaussians alone."""
    return "about.npy" in _members(data)


def from_bytes(data: bytes, name: str, size: tuple[int, int] | None = None) -> tuple[np.ndarray, tuple[int, int]]:
    """Return the raw values in a file, (9, N) float32, and the size of their picture.

    Args:
        data: The file.
        name: Its name, which has one of ENDINGS.
        size: Width and height in pixels, for a file that does not have them.

    Raises:
        ValueError: The file cannot be used.
    """
    ending = ending_of(name)
    with np.errstate(all="ignore"):  # numbers that are not finite are refused below
        if ending in (".ply", ".splat"):
            raw, stored_size = (from_ply if ending == ".ply" else from_splat)(data, size)
        else:
            raw, stored_size = (load_compact if "codes.npy" in _members(data) else _from_npz)(data)
    count, bounds = raw.shape[1], stored_size or size
    if bounds is None:
        raise GaussiansFileError("This file does not say how large its picture is in pixels: give its size.")
    if not 1 <= count <= MOST:
        raise GaussiansFileError(f"This file has {count:,} Gaussians: 1 to {MOST:,} are allowed.")
    if not (np.isfinite(raw).all() and min(bounds) >= 1 and max(bounds) <= MAX_SIDE):
        raise GaussiansFileError("The numbers in this file are those of no picture: it was changed after it was saved.")
    return raw, bounds


def _from_npz(data: bytes) -> tuple[np.ndarray, tuple[int, int]]:
    try:
        arrays = read_arrays(data, MAX_FILE_BYTES)
        raw, width, height = arrays["raw"], int(arrays["width"]), int(arrays["height"])
    except (ValueError, TypeError, KeyError, OverflowError):
        raise GaussiansFileError(
            "This .npz file has no Gaussians, or is damaged: `save` and `splatscope train --out` write them."
        ) from None
    if raw.dtype != np.float32 or raw.ndim != 2 or len(raw) != FIELDS:
        raise GaussiansFileError("The arrays in this file do not fit together: it was changed after it was saved.")
    return raw, (width, height)


def _members(data: bytes) -> set[str]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return set(archive.namelist())
    except Exception:  # a forged file can make zipfile raise almost anything
        return set()
