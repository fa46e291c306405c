"""The numbers that pass a test, in their order."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake

THREADS = 64


def reference(numbers: np.ndarray, least: np.ndarray) -> dict[str, np.ndarray]:
    """Return the numbers that are at least `least`, without gaps, and how many they are."""
    return _kept(numbers[numbers >= least])


def _kept(those: np.ndarray, first: int = 0) -> dict[str, np.ndarray]:
    kept = np.zeros(THREADS, np.uint32)
    kept[first : first + len(those)] = those
    return {"kept": kept, "keptCount": np.array([len(those)], np.uint32)}


def _gaps(numbers: np.ndarray, least: np.ndarray) -> dict[str, np.ndarray]:
    right = reference(numbers, least)
    return right | {"kept": np.pad(np.where(numbers >= least, numbers, 0), (0, THREADS - len(numbers))).astype(np.uint32)}


def _one_too_far(numbers: np.ndarray, least: np.ndarray) -> dict[str, np.ndarray]:
    return _kept(numbers[numbers >= least], first=1)


def _numbers(seed: int, count: int, least: int, most: int = 10) -> dict[str, np.ndarray | np.uint32]:
    numbers = np.random.default_rng(seed).integers(0, most, count, dtype=np.uint32)
    return {"numbers": numbers, "count": np.uint32(count), "least": np.uint32(least)}


CASES = (
    Case("64 numbers", _numbers(4, 64, 5)),
    Case("50 numbers, and 0 passes, too", _numbers(2, 50, 0), hidden=True),
    Case("30 numbers, of which none passes", _numbers(3, 30, 10) | {"keptCount": np.array([9], np.uint32)}, hidden=True),
    Case("numbers of 32 bits", _numbers(5, 40, 2**31, most=2**32), hidden=True),
)
MISTAKES = (
    Mistake("gaps", "Each number that passes is at its old place: the gaps are not closed.", _gaps),
    Mistake("one too far", "All numbers are one place too far: the first belongs to place 0.", _one_too_far),
    Mistake(
        "more than",
        "Numbers that are equal to `least` are left out.",
        lambda numbers, least: _kept(numbers[numbers > least]),
    ),
    Mistake(
        "no count",
        "The numbers are right, but nothing is in `keptCount`.",
        lambda numbers, least: reference(numbers, least) | {"keptCount": np.zeros(1, np.uint32)},
    ),
    Mistake(
        "highest place",
        "`keptCount` holds the place of the last number, one less than the count.",
        lambda numbers, least: reference(numbers, least) | {"keptCount": reference(numbers, least)["keptCount"] - np.uint32(1)},
    ),
)
LIMITS = (
    Limit("atomics", most=0, why="An atomic counter gives out places in order of arrival. Count who is before each number."),
    Limit("accesses", most=100, why="The work is for all threads: one alone leaves the others idle."),
)
