"""Records with nothing between them, written as one: the fewer writes, the less there is for a driver to compile.

A run goes by the number of its first site, and the words of its values stand one after another; `spread` takes it apart again.
"""

import re
from collections.abc import Iterable

import numpy as np

from splatscope.slang.source import is_numeric
from splatscope.tracing.instrument.runtime import CONTINUED, REPLAY, name_of, words_in
from splatscope.tracing.sites import Site

Batches = dict[int, tuple[int, ...]]  # the first site: all sites

_RECORD = r"_rec_(?:step|value)\((\d+)(?:, ([\w.]+|int\([\w.]+\)))?\);"
_SPACE = r"(?:\s|\{|//[^\n]*\n|/\*.*?\*/)*"
_ONE = re.compile(rf"({_SPACE})({_RECORD})", re.DOTALL)
_RUN = re.compile(rf"{_RECORD}(?:{_SPACE}{_RECORD})+", re.DOTALL)


def join(text: str, sites: list[Site]) -> tuple[str, Batches]:
    """A function's text with its runs joined, and what they hold."""
    runs: Batches = {}

    def joined(match: re.Match[str]) -> str:
        result, run, spaces = "", [], ""
        for space, record, number, value in _ONE.findall(match.group(0)):
            if value and not is_numeric(sites[int(number)].type):  # whatever type it has, it says so itself
                result += _written(run, runs, sites) + spaces + space + record
                run, spaces = [], ""
                continue
            result, spaces = (result, spaces + space) if run else (result + space, "")
            run.append((int(number), value))
        return result + _written(run, runs, sites) + spaces

    return _RUN.sub(joined, text), runs


def _written(run: list[tuple[int, str]], runs: Batches, sites: list[Site]) -> str:
    if not run:
        return ""
    if len(run) > 1:
        runs[run[0][0]] = tuple(number for number, _ in run)
    shape = shape_of([number for number, _ in run], sites)
    values = [value for _, value in run if value]
    return f"{name_of(shape)}({', '.join([str(run[0][0]), *values])});"


def shape_of(run: Iterable[int], sites: list[Site]) -> tuple[str, ...]:
    """The types of the values that a run holds."""
    return tuple(sites[number].type for number in run if sites[number].type)


def spread(rows: np.ndarray, thread: np.ndarray, sites: list[Site], runs: Batches) -> tuple[np.ndarray, np.ndarray]:
    """Records (n, 4) and the thread of each (n,), with the single records of each run in its place."""
    numbers = rows[:, 0] & CONTINUED
    is_head = numbers != CONTINUED
    of = numbers[np.maximum.accumulate(np.where(is_head, np.arange(len(rows)), 0))]
    in_run = np.isin(of, list(runs))
    counts = (~in_run).astype(np.intp)
    widths = {first: [words_in(sites[n].type) if sites[n].type else 0 for n in run] for first, run in runs.items()}
    at = {first: np.flatnonzero(in_run & is_head & (numbers == first)) for first in np.unique(of[in_run]).tolist()}
    for first, heads in at.items():
        counts[heads] = sum(max(1, -(-width // 3)) for width in widths[first])
    starts = np.cumsum(counts) - counts
    result = np.zeros((counts.sum(), 4), np.uint32)
    result[starts[~in_run]] = rows[~in_run]
    for first, heads in at.items():
        taken = max(1, -(-sum(widths[first]) // 3))
        words = rows[heads[:, None] + np.arange(taken), 1:].reshape(len(heads), -1)
        row, begin = starts[heads], 0
        for number, width in zip(runs[first], widths[first], strict=True):
            for offset in range(0, max(1, width), 3):
                result[row, 0] = CONTINUED if offset else rows[heads, 0] & REPLAY | number
                part = words[:, begin + offset : begin + min(offset + 3, width)]
                result[row, 1 : 1 + part.shape[1]] = part
                row = row + 1
            begin += width
    return result, np.repeat(thread, counts)
