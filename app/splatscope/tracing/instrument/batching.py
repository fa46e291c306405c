"""Combine adjacent records into one: fewer writes mean less code for the driver to compile.

A batch has the number of its first site and the words of all its values, one after another. After the run, `spread` splits the
batches again.

Example:
    `_rec_step(3); _rec_value(4, a); _rec_value(5, b);` becomes `_rec_float_int(3, a, b);`, and the batches are {3: (3, 4, 5)}.
"""

import math
import re
from collections.abc import Iterable

import numpy as np

from splatscope.gpu.slang_types import is_numeric, words_in
from splatscope.tracing.instrument.runtime import CONTINUED, REPLAY, record_function
from splatscope.tracing.sites import Site

Batches = dict[int, tuple[int, ...]]  # all sites of a batch, by its first site

_RECORD = r"_rec_(?:step|value)\((\d+)(?:, ([\w.]+|int\([\w.]+\)))?\);"
_SPACE = r"(?:\s|\{|//[^\n]*\n|/\*.*?\*/)*"
_ONE = re.compile(rf"({_SPACE})({_RECORD})", re.DOTALL)
_SEVERAL = re.compile(rf"{_RECORD}(?:{_SPACE}{_RECORD})+", re.DOTALL)


def join(text: str, sites: list[Site]) -> tuple[str, Batches]:
    """Return a function's text with adjacent records joined, and the batches."""
    batches: Batches = {}

    def joined(match: re.Match[str]) -> str:
        new_text, batch, spaces = "", [], ""
        for space, record, number, value in _ONE.findall(match.group(0)):
            if value and not is_numeric(sites[int(number)].type):  # the compiler chooses the overload for it
                new_text += _joined(batch, batches, sites) + spaces + space + record
                batch, spaces = [], ""
                continue
            new_text, spaces = (new_text, spaces + space) if batch else (new_text + space, "")
            batch.append((int(number), value))
        return new_text + _joined(batch, batches, sites) + spaces

    return _SEVERAL.sub(joined, text), batches


def _joined(batch: list[tuple[int, str]], batches: Batches, sites: list[Site]) -> str:
    """Return the record of a batch of (site, value), and note it in `batches`."""
    if not batch:
        return ""
    if len(batch) > 1:
        batches[batch[0][0]] = tuple(number for number, _ in batch)
    types = types_of([number for number, _ in batch], sites)
    values = [value for _, value in batch if value]
    return f"{record_function(types)}({', '.join([str(batch[0][0]), *values])});"


def types_of(batch: Iterable[int], sites: list[Site]) -> tuple[str, ...]:
    """Return the types of the values in a batch."""
    return tuple(sites[number].type for number in batch if sites[number].type)


def spread(rows: np.ndarray, thread: np.ndarray, sites: list[Site], batches: Batches) -> tuple[np.ndarray, np.ndarray]:
    """Split batches into single records.

    Args:
        rows: (n, 4) uint32, records in each thread's order.
        thread: (n,), the thread of each record.
        sites: The sites, by number.
        batches: All sites of a batch, by its first site.

    Returns:
        Rows and threads, with each batch replaced by its single records.
    """
    numbers = rows[:, 0] & CONTINUED
    is_head = numbers != CONTINUED
    head_number = numbers[np.maximum.accumulate(np.where(is_head, np.arange(len(rows)), 0))]
    in_batch = np.isin(head_number, list(batches))
    counts = (~in_batch).astype(np.intp)  # how many rows replace each row: for the head of a batch, all rows of the batch
    widths = {first: [words_in(sites[n].type) for n in batch] for first, batch in batches.items()}
    heads_by_first = {
        first: np.flatnonzero(in_batch & is_head & (numbers == first)) for first in np.unique(head_number[in_batch]).tolist()
    }
    for first, heads in heads_by_first.items():
        counts[heads] = sum(_rows_for(width) for width in widths[first])
    starts = np.cumsum(counts) - counts
    spread_rows = np.zeros((counts.sum(), 4), np.uint32)
    spread_rows[starts[~in_batch]] = rows[~in_batch]
    for first, heads in heads_by_first.items():
        words = rows[heads[:, None] + np.arange(_rows_for(sum(widths[first]))), 1:].reshape(len(heads), -1)
        row, begin = starts[heads], 0
        for number, width in zip(batches[first], widths[first], strict=True):
            for offset in range(0, max(1, width), 3):
                spread_rows[row, 0] = CONTINUED if offset else rows[heads, 0] & REPLAY | number
                part = words[:, begin + offset : begin + min(offset + 3, width)]
                spread_rows[row, 1 : 1 + part.shape[1]] = part
                row = row + 1
            begin += width
    return spread_rows, np.repeat(thread, counts)


def _rows_for(words: int) -> int:
    """Return the number of records that hold this many words, three per record."""
    return max(1, math.ceil(words / 3))
