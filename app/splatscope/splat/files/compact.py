"""Store Gaussians with 16 bits per parameter, and read them back.

Each of the nine rows of raw values is rounded to 65,536 evenly spaced values from its smallest to its largest.
"""

import io
import zipfile

import numpy as np

from splatscope.splat.parameters import FIELDS

LEVELS = 2**16 - 1
MAX_FILE_BYTES = 128 * 2**20


class CompactError(ValueError):
    """The file cannot be used; the message says why in one line."""


def save_compact(raw: np.ndarray) -> bytes:
    """Return Gaussians as the bytes of an .npz file: 18 bytes each, and about a kilobyte.

    Args:
        raw: Raw values, (9, N) float32; `parameters` names the rows.
    """
    low, high = raw.min(axis=1), raw.max(axis=1)
    codes = np.rint((raw - low[:, None]) * (LEVELS / _span(low, high))[:, None]).astype(np.uint16)
    file = io.BytesIO()
    np.savez(file, codes=codes, low=low, high=high)
    return file.getvalue()


def load_compact(data: bytes) -> np.ndarray:
    """Return the raw values, (9, N) float32, in the bytes of a file from `save_compact`.

    Raises:
        CompactError: The file is of another kind, too large, incomplete, or inconsistent.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            # Check sizes before unpacking: a small file can claim to contain terabytes.
            unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked <= MAX_FILE_BYTES:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                codes, low, high = file["codes"], file["low"], file["high"]
    except Exception:  # a forged file can make NumPy and zipfile raise almost anything
        raise CompactError("This is not a file of Gaussians that `splatscope train --out` wrote as compact.npz.") from None
    if unpacked > MAX_FILE_BYTES:
        raise CompactError(f"This file unpacks to more than {MAX_FILE_BYTES // 2**20} MB, which is not allowed.")
    fits = (
        codes.dtype == np.uint16
        and codes.ndim == 2
        and codes.shape[0] == FIELDS
        and codes.shape[1] >= 1
        and all(bound.shape == (FIELDS,) and bound.dtype == np.float32 and np.isfinite(bound).all() for bound in (low, high))
        and bool((low <= high).all())
    )
    if not fits:
        raise CompactError("The arrays in this file do not fit together: it was changed after it was saved.")
    return (low[:, None] + codes * (_span(low, high) / LEVELS)[:, None]).astype(np.float32)


def _span(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the range of each row's values, (9,) float64; 1 for a row of equal values."""
    span = high.astype(np.float64) - low
    return np.where(span > 0, span, 1.0)
