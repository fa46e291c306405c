"""Numbers added up, not always a power of two of them."""

import numpy as np

from splatscope.exercises.task import Case, Mistake


def reference(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return the sum of all."""
    return {"total": np.array([numbers.sum()], np.int32)}


def last_left_out(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return what is left if each round with an odd number of sums forgets the last."""
    row = numbers
    while len(row) > 1:
        half = len(row) // 2
        row = row[:half] + row[half : 2 * half]
    return {"total": np.array([row[0]], np.int32)}


def case(name: str, numbers: np.ndarray, hidden: bool = False) -> Case:
    """Return a case of these numbers."""
    return Case(name, {"numbers": numbers.astype(np.int32), "count": np.uint32(len(numbers))}, hidden=hidden)


RANDOM = np.random.default_rng(1)
CASES = (
    case("13 numbers", np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1000])),
    case("64 numbers", np.arange(64)),
    case("63 numbers, some negative", RANDOM.integers(-500, 500, 63), hidden=True),
    case("a single number", np.array([-7]), hidden=True),
    case("22 numbers: even at first, odd later", RANDOM.integers(1, 500, 22), hidden=True),
)
MISTAKES = (Mistake("last left out", "Of an odd number of sums, the last has no partner and gets lost.", last_left_out),)
