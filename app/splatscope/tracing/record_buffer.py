"""Divide the recorder's buffer among the threads, so that a thread that records much more than the others has room for it.

At first all threads get equal parts, or parts like those that the threads of another workgroup needed. If the parts of some are
full, their last records say how many records they need, and the kernel runs again with parts to fit. A thread in a loop that was
ended has no part that is large enough, and keeps its own.
"""

from dataclasses import dataclass

import numpy as np

from splatscope.tracing.job import MOST_RECORDS, PAGE_RECORDS

LEAST = 16  # records of a thread
_MARGIN = 64  # records of a thread beside what one like it needed
_MOST_SPARE = 4  # times what a thread needs: another run may wait longer


@dataclass(frozen=True)
class Usage:
    """How many records threads wrote.

    Attributes:
        needed: The number of records that each thread would have written, (threads,).
        is_full: Whether its part was full, (threads,).
        is_endless: Whether its budget of iterations was used up, (threads,).
    """

    needed: np.ndarray
    is_full: np.ndarray
    is_endless: np.ndarray

    @classmethod
    def of(cls, records: np.ndarray, starts: np.ndarray) -> "Usage":
        """Read it from the records, (n, 4) uint32. `starts` has the first record of each thread, and the end of the last."""
        is_written = records[:, 0] != 0
        last = starts[1:] - 2
        is_full, is_endless = is_written[last], is_written[last + 1]
        used = np.add.reduceat(is_written, starts[:-1], dtype=np.int64) - is_endless
        counted = records[last, 3].astype(np.int64) - starts[:-1]  # the device's record 0 belongs to no thread
        return cls(np.where(is_full, np.maximum(counted, used), used), is_full, is_endless)

    @property
    def wants(self) -> np.ndarray:
        """The threads that would end in a larger part."""
        return self.is_full & ~self.is_endless


def starts_of(sizes: np.ndarray) -> np.ndarray:
    """Return the first record of each thread, and the end of the last thread's records."""
    return np.r_[0, np.cumsum(sizes)]


def first_sizes(threads: int, records: int, like: np.ndarray | None = None) -> np.ndarray:
    """Return the number of records for each thread: not all that are allowed, since most kernels need few.

    `like` has the records that the threads of one workgroup needed, which those of the others probably need too. Without it, all
    parts are equal.
    """
    if like is not None:
        needs = np.tile(2 * like + _MARGIN, threads // len(like))
        if (total := int(needs.sum())) <= records:
            return needs + max(0, min(PAGE_RECORDS, records) - total) // threads
    return np.full(threads, min(records, max(MOST_RECORDS, LEAST * threads)) // threads, np.int64)


def fitting_sizes(sizes: np.ndarray, usage: Usage, records: int) -> tuple[np.ndarray | None, int]:
    """Return a part for each thread, large enough for all that end by themselves, and the records that this needs in all.

    The parts are None if that exceeds `records`. If no thread needs another part, return None and 0.
    """
    if not usage.wants.any():
        return None, 0
    least = np.where(usage.is_endless, np.minimum(sizes, usage.needed + LEAST), usage.needed + LEAST)
    total = int(least.sum())
    if total > records:
        return None, total
    spare = min(_MOST_SPARE * total, max(int(sizes.sum()), min(records, 2 * total))) - total
    return least + least * spare // total, total
