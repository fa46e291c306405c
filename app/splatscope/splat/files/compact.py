"""Store Gaussians with 16 bits per parameter, and read them back.

Each of the nine rows of raw values is rounded to 65,536 evenly spaced values from its smallest to its largest.
"""

import io

import numpy as np

from splatscope.splat.files.arrays import ArchiveTooLarge, read_arrays
from splatscope.splat.parameters import FIELDS

LEVELS = 2**16 - 1
MAX_FILE_BYTES = 128 * 2**20


class CompactError(ValueError):
    """The file cannot be used; the message says why in one line."""


def save_compact(raw: np.ndarray, size: tuple[int, int]) -> bytes:
    """Return Gaussians as the bytes of an .npz file: 18 bytes each, and about a kilobyte.

    Args:
        raw: Raw values, (9, N) float32; `parameters` names the rows.
        size: Width and height in pixels of the picture that they draw.
    """
    low, high = raw.min(axis=1), raw.max(axis=1)
    codes = np.rint((raw - low[:, None]) * (LEVELS / _span(low, high))[:, None]).astype(np.uint16)
    file = io.BytesIO()
    np.savez(file, codes=codes, low=low, high=high, size=np.array(size, np.uint32))
    return file.getvalue()


def load_compact(data: bytes) -> tuple[np.ndarray, tuple[int, int] | None]:
    """Return what `save_compact` was given: the raw values, (9, N) float32, and the size, which older files lack.

    Raises:
        CompactError: The file is of another kind, too large, incomplete, or inconsistent.
    """
    try:
        arrays = read_arrays(data, MAX_FILE_BYTES)
        codes, low, high = arrays["codes"], arrays["low"], arrays["high"]
    except ArchiveTooLarge as error:
        raise CompactError(f"This file {error}.") from None
    except (ValueError, KeyError):
        raise CompactError("This is not a file of Gaussians that `splatscope train --out` wrote as compact.npz.") from None
    size = arrays.get("size")
    fits = (
        codes.dtype == np.uint16
        and codes.ndim == 2
        and codes.shape[0] == FIELDS
        and codes.shape[1] >= 1
        and all(bound.shape == (FIELDS,) and bound.dtype == np.float32 and np.isfinite(bound).all() for bound in (low, high))
        and bool((low <= high).all())
        and (size is None or (size.shape == (2,) and size.dtype == np.uint32))
    )
    if not fits:
        raise CompactError("The arrays in this file do not fit together: it was changed after it was saved.")
    raw = (low[:, None] + codes * (_span(low, high) / LEVELS)[:, None]).astype(np.float32)
    return raw, None if size is None else (int(size[0]), int(size[1]))


def _span(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the range of each row's values, (9,) float64; 1 for a row of equal values."""
    span = high.astype(np.float64) - low
    return np.where(span > 0, span, 1.0)
