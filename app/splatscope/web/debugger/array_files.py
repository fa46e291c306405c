"""A cache of array files that users chose as inputs, by the hash of their bytes, so that they survive a reload of the page."""

import hashlib
from dataclasses import dataclass

import numpy as np
from cachetools import LRUCache

from splatscope.recordings.archive import ArchiveError, read_arrays

MAX_CACHED = 128 * 2**20  # bytes of the arrays of all pages; the least recently used are dropped


@dataclass(frozen=True)
class Stored:
    """The arrays of one file.

    Attributes:
        file: The file's name.
        arrays: The arrays by name.
        raw: Whether the arrays are bytes in the kernel's layout, rather than numbers to be converted.
    """

    file: str
    arrays: dict[str, np.ndarray]
    raw: bool = False

    @property
    def size(self) -> int:
        """The size of all arrays in bytes."""
        return sum(array.nbytes for array in self.arrays.values())

    def array(self, buffer: str) -> np.ndarray:
        """Return the array for a buffer: the one with its name, or else the only one.

        Raises:
            ArchiveError: There are several arrays, and none has that name.
        """
        if buffer in self.arrays:
            return self.arrays[buffer]
        if len(self.arrays) != 1:
            names = ", ".join(list(self.arrays)[:6]) or "nothing"
            raise ArchiveError(f"{self.file} holds {names[:120]}: one of its arrays must have the buffer's name, {buffer}.")
        return next(iter(self.arrays.values()))


# The size of a file counts as at most MAX_CACHED, so that a larger one can be cached on its own.
_cached: LRUCache[str, Stored] = LRUCache(MAX_CACHED, getsizeof=lambda stored: min(stored.size, MAX_CACHED))


def store(file: str, data: bytes) -> tuple[str, Stored]:
    """Read a .npy or .npz file and cache its arrays. Return its key and the arrays.

    Raises:
        ArchiveError: The file is of another kind, too large or damaged, or contains something other than numbers.
    """
    stored = Stored(file[:80], read_arrays(file[:80], data))
    if not all(array.dtype.kind in "fiub" for array in stored.arrays.values()):
        raise ArchiveError(f"{stored.file} holds something other than numbers: save plain numeric arrays.")
    return _put(hashlib.sha256(data).hexdigest(), stored)


def store_raw(file: str, data: np.ndarray) -> tuple[str, Stored]:
    """Cache an input from a recording's file: a buffer's bytes, uint8, or a texture's texels. Return its key and the array."""
    digest = hashlib.sha256(repr((data.dtype, data.shape)).encode() + data.tobytes()).hexdigest()
    return _put("raw-" + digest, Stored(file[:80], {"": data}, raw=True))


def store_picture(file: str, pixels: np.ndarray) -> tuple[str, Stored]:
    """Cache a picture, (height, width, 3) uint8. Return its key and the array."""
    return _put(
        "picture-" + hashlib.sha256(repr(pixels.shape).encode() + pixels.tobytes()).hexdigest(), Stored(file[:80], {"": pixels})
    )


def find(key: str) -> Stored | None:
    """Return the arrays with this key, or None if they were dropped or the server has restarted."""
    return _cached.get(key)


def _put(key: str, stored: Stored) -> tuple[str, Stored]:
    _cached[key] = stored
    return key, stored
