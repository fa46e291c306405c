"""Build a trace from the records that the device wrote."""

from dataclasses import replace

import numpy as np

from splatscope.tracing.instrument.batching import Batches, spread
from splatscope.tracing.instrument.runtime import CONTINUED, NO_SLOT, OUTSIDE, REPLAY
from splatscope.tracing.run_info import RunInfo
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

_TICKED = ("read", "write", "atomic", "arrive", "resume", "overrun", "out-of-bounds")  # kinds of site that take a slot
_INDEXED = ("read", "write", "atomic", "out-of-bounds")  # kinds of site whose records have an index after the slot


def from_records(records: np.ndarray, starts: np.ndarray, sites: list[Site], info: RunInfo, batches: Batches) -> Trace:
    """Build the trace from the recorder's records.

    A record is four words: its site with flags, then slot, index and value, as far as its kind has them. A value that does not fit
    continues in records of site CONTINUED, three words each. The trace's `info` gets what only the records tell: how many
    threads there were, the smallest part of one, and those whose part was full, so that only their beginning is recorded.

    Args:
        records: (n, 4) uint32; a record of site 0 was not written.
        starts: The first record of each thread's part, and the end of the last.
        sites: The sites by number.
        info: How the kernel was run.
        batches: The sites whose records were written as one.
    """
    written, cut = _written(records, starts, sites)
    threads, sizes = len(cut), np.diff(starts)
    info = replace(
        info,
        truncated=bool(cut.any()),
        cut_threads=tuple(np.flatnonzero(cut).tolist()),
        capacity=int(sizes.min()),
        threads=threads,
    )
    thread = np.repeat(np.arange(threads), sizes)[written]
    rows, thread = spread(records[written], thread, sites, batches)
    numbers = rows[:, 0] & CONTINUED
    heads = np.flatnonzero(numbers != CONTINUED)
    site = numbers[heads]
    ticked, indexed, is_element = (np.array([s.kind in kinds for s in sites])[site] for kinds in (_TICKED, _INDEXED, ("element",)))
    before_value = np.where(indexed, 2, np.where(ticked | is_element, 1, 0))  # words between the site and the value in a record
    return Trace(
        info,
        sites,
        thread=thread[heads].astype(np.uint32),
        site=site.astype(np.uint32),
        slot=np.where(ticked, rows[heads, 1], np.uint32(NO_SLOT)),
        index=np.where(indexed, rows[heads, 2], np.where(is_element, rows[heads, 1], 0)).astype(np.uint32),
        words=_values(rows, heads, before_value),
        flags=((rows[heads, 0] & (REPLAY | OUTSIDE)) >> 30).astype(np.uint32),
    )


def _written(records: np.ndarray, starts: np.ndarray, sites: list[Site]) -> tuple[np.ndarray, np.ndarray]:
    """Return masks of the valid records, (n,), and of the threads whose part was full, (threads,).

    A thread whose part is full keeps overwriting its last event, so that event is not valid. The very last record of a part is
    reserved for the end of an endless loop, which comes after everything that had room, unless it is among that already.
    """
    is_overrun = np.array([site.kind == "overrun" for site in sites])
    written = records[:, 0] != 0
    spare = starts[1:] - 1
    cut = written[spare - 1]
    numbers = records[:, 0] & CONTINUED
    for thread in np.flatnonzero(cut):
        end = spare[thread] - 1
        while numbers[end] == CONTINUED:
            end -= 1
        written[end : spare[thread]] = False
    for thread in np.flatnonzero(written[spare]):
        part = slice(starts[thread], starts[thread + 1])
        *body, end = numbers[part][written[part] & (numbers[part] != CONTINUED)]
        written[spare[thread]] = is_overrun[end] and not is_overrun[body].any()
    return written, cut


def _values(rows: np.ndarray, heads: np.ndarray, before_value: np.ndarray) -> np.ndarray:
    """Return the words of the values, (events, w): those after slot and index in each head, then three of each continuation."""
    follows = np.diff(np.r_[heads, len(rows)]) - 1
    most = int(follows.max(initial=0))
    words = np.zeros((len(heads), 3 + 3 * most), np.uint32)
    for shift in (0, 1, 2):
        chosen = before_value == shift
        words[chosen, : 3 - shift] = rows[heads[chosen], 1 + shift : 4]
    for extra in range(most):
        chosen = np.flatnonzero(follows > extra)
        columns = (3 - before_value[chosen] + 3 * extra)[:, None] + np.arange(3)
        words[chosen[:, None], columns] = rows[heads[chosen] + 1 + extra, 1:4]
    return words
