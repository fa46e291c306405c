"""Running sums in one workgroup."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake

THREADS = 64


def reference(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return the running sums, each number's own included."""
    return {"sums": np.cumsum(numbers, dtype=np.uint32)}


def _last(numbers: np.ndarray, most: int) -> dict[str, np.ndarray]:
    """Return the sums of at most the last `most` numbers up to each place."""
    sums = np.cumsum(numbers, dtype=np.uint32)
    return {"sums": sums - np.concatenate([np.zeros(most, np.uint32), sums])[: len(sums)]}


def _numbers(seed: int, count: int, most: int = 10) -> dict[str, np.ndarray | np.uint32]:
    return {"numbers": np.random.default_rng(seed).integers(1, most, count, dtype=np.uint32), "count": np.uint32(count)}


CASES = (
    Case("64 numbers", _numbers(1, 64)),
    Case("50 numbers", _numbers(2, 50), hidden=True),
    Case("a single number", _numbers(3, 1), hidden=True),
    Case("40 large numbers", _numbers(4, 40, most=100_000_000), hidden=True),
)
MISTAKES = (
    Mistake("no rounds", "Each place still holds its own number: nothing has been added.", lambda numbers: {"sums": numbers}),
    Mistake(
        "exclusive",
        "Each sum leaves out the number of its own place.",
        lambda numbers: {"sums": reference(numbers)["sums"] - numbers},
    ),
    Mistake(
        "round short",
        "The last round is missing: each place holds the sum of the last 32 numbers at most.",
        lambda numbers: _last(numbers, 32),
    ),
    Mistake(
        "distances",
        "The distances do not double: after six rounds with distance 1 to 6, many numbers are added more than once.",
        lambda numbers: _with_distances(numbers, range(1, 7)),
    ),
)


def _with_distances(numbers: np.ndarray, distances: range) -> dict[str, np.ndarray]:
    sums = numbers.copy()
    for distance in distances:
        sums = sums + np.concatenate([np.zeros(distance, np.uint32), sums])[: len(sums)]
    return {"sums": sums}


LIMITS = (
    Limit("reads", most=THREADS, name="numbers", why="Each number is needed from there once: the rest goes on in shared memory."),
    Limit("reads", most=1000, name="shared", why="Sums that are there already need not be added up again."),
    Limit("accesses", most=60, why="The work is for all threads: one alone leaves the others idle."),
)
