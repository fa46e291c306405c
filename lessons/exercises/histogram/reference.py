"""A histogram that each workgroup counts in shared memory first."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake

BINS, WIDTH, THREADS = 8, 8, 64


def reference(numbers: np.ndarray, count: np.ndarray) -> dict[str, np.ndarray]:
    """Return how many of the first `count` numbers fall into each bin."""
    return _histogram(numbers[: int(count)] // WIDTH)


def _histogram(places: np.ndarray) -> dict[str, np.ndarray]:
    return {"bins": np.bincount(places, minlength=BINS)[:BINS].astype(np.uint32)}


def _first_numbers(numbers: np.ndarray, count: np.ndarray) -> dict[str, np.ndarray]:
    groups = -(-int(count) // THREADS)
    return _histogram(np.concatenate([numbers[: min(THREADS, int(count) - THREADS * i)] for i in range(groups)]) // WIDTH)


def _numbers(seed: int, count: int, most: int = BINS * WIDTH) -> dict[str, np.ndarray | np.uint32]:
    numbers = np.random.default_rng(seed).integers(0, most, count, dtype=np.uint32)
    return {"numbers": numbers, "count": np.uint32(count)}


CASES = (
    Case("100 numbers, two workgroups", _numbers(1, 100), groups=(2, 1, 1)),
    Case("150 numbers, three workgroups, many of them in few bins", _numbers(2, 150, most=20), groups=(3, 1, 1), hidden=True),
    Case(
        "70 numbers, all in the last bin",
        {"numbers": np.full(70, 63, np.uint32), "count": np.uint32(70)},
        groups=(2, 1, 1),
        hidden=True,
    ),
)
MISTAKES = (
    Mistake(
        "first numbers",
        "Every workgroup counts the same numbers, the first ones.",
        _first_numbers,
    ),
    Mistake(
        "remainder",
        "The numbers are sorted into bins by the remainder of the division by WIDTH, not by the quotient.",
        lambda numbers, count: _histogram(numbers[: int(count)] % WIDTH),
    ),
    Mistake(
        "last bin",
        "The last bin is never added to `bins`.",
        lambda numbers, count: {"bins": reference(numbers, count)["bins"] * (np.arange(BINS) < BINS - 1).astype(np.uint32)},
    ),
)
LIMITS = (
    Limit("atomics", most=8, name="bins", why="One for each bin is enough: count in shared memory first."),
    Limit("accesses", most=4, name="numbers", why="The work is for all threads: one alone leaves the others idle."),
)
