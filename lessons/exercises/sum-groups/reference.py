"""The sum of many numbers."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake


def _one(number: int) -> dict[str, np.ndarray]:
    return {"total": np.array([number % 2**32], np.uint32)}


def reference(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return the sum."""
    return _one(int(numbers.sum()))


def first_workgroup_repeated(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Add up the first 64 numbers in each workgroup."""
    return _one(sum(int(numbers[: min(64, len(numbers) - at)].sum()) for at in range(0, len(numbers), 64)))


def _numbers(seed: int, count: int, most: int = 1000) -> dict[str, np.ndarray | np.uint32]:
    return {"numbers": np.random.default_rng(seed).integers(1, most, count, dtype=np.uint32), "count": np.uint32(count)}


CASES = (
    Case("150 numbers, 3 workgroups", _numbers(1, 150), groups=(3, 1, 1)),
    Case("256 numbers, 4 workgroups", _numbers(2, 256), groups=(4, 1, 1), hidden=True),
    Case("65 numbers: the second workgroup has one", _numbers(3, 65), groups=(2, 1, 1), hidden=True),
    Case("a single number", _numbers(4, 1), hidden=True),
    Case("70 large numbers", _numbers(5, 70, most=40_000_000), groups=(2, 1, 1), hidden=True),
)
MISTAKES = (
    Mistake(
        "everybody adds",
        "The total is 64 times too large: all 64 threads add the sum of their workgroup.",
        lambda numbers: _one(64 * int(numbers.sum())),
    ),
    Mistake(
        "first numbers",
        "Each workgroup adds up the first 64 numbers: its own number is missing from the index.",
        first_workgroup_repeated,
    ),
    Mistake(
        "one of each",
        "Only one number of each workgroup is added: the others' numbers never reach the thread that adds.",
        lambda numbers: _one(int(numbers[::64].sum())),
    ),
    Mistake("counted", "This is how many numbers there are, not their sum.", lambda numbers: _one(len(numbers))),
)
LIMITS = (
    Limit("atomics", most=1, name="total", why="Add up within the workgroup first: one addition to the total is then enough."),
    Limit("accesses", most=4, name="numbers", why="The work is for all threads: one alone leaves the others idle."),
)
