"""Array files that somebody chose as an input, kept by the hash of their bytes, so that a reload finds them again."""

import hashlib
from dataclasses import dataclass

import numpy as np
from cachetools import LRUCache

from splatscope.recordings.archive import ArchiveError, read_arrays

MOST_KEPT = 128 * 2**20  # bytes of all pages' arrays; the least recently used make room


@dataclass(frozen=True)
class Stored:
    """A file's arrays by name; `raw` ones are bytes as a kernel sees them, the others numbers to be converted."""

    file: str
    arrays: dict[str, np.ndarray]
    raw: bool = False

    @property
    def size(self) -> int:
        """The size of all arrays in bytes."""
        return sum(array.nbytes for array in self.arrays.values())

    def array(self, buffer: str) -> np.ndarray:
        """The array for a buffer: the only one, or the one of its name.

        Raises:
            ArchiveError: there are several, and none is called so.
        """
        if buffer in self.arrays:
            return self.arrays[buffer]
        if len(self.arrays) != 1:
            names = ", ".join(list(self.arrays)[:6]) or "nothing"
            raise ArchiveError(f"{self.file} holds {names[:120]}: one of its arrays has to be called {buffer}, as the buffer is.")
        return next(iter(self.arrays.values()))


# A file larger than all of it counts as no more, so that the newest is always kept, if alone.
_kept: LRUCache[str, Stored] = LRUCache(MOST_KEPT, getsizeof=lambda stored: min(stored.size, MOST_KEPT))


def keep(file: str, data: bytes) -> tuple[str, Stored]:
    """Reads a .npy or .npz and keeps it; returns what names it.

    Raises:
        ArchiveError: it is none, too large, damaged, or holds no numbers.
    """
    stored = Stored(file[:80], read_arrays(file[:80], data))
    if not all(array.dtype.kind in "fiub" for array in stored.arrays.values()):
        raise ArchiveError(f"{stored.file} holds something else than numbers.")
    return _put(hashlib.sha256(data).hexdigest(), stored)


def keep_raw(file: str, data: np.ndarray) -> tuple[str, Stored]:
    """Keeps the bytes that a recording's file says a buffer held."""
    return _put("raw-" + hashlib.sha256(data.tobytes()).hexdigest(), Stored(file[:80], {"": data}, raw=True))


def find(name: str) -> Stored | None:
    """What is kept under this name, None once it had to make room or the server was started anew."""
    return _kept.get(name)


def _put(name: str, stored: Stored) -> tuple[str, Stored]:
    _kept[name] = stored
    return name, stored
