"""Percentages of the total of a workgroup."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake


def reference(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return the percentage of each number in the total of its 32, rounded down; 0 where all are 0."""
    totals = numbers.reshape(-1, 32).sum(1, dtype=np.uint32).repeat(32)
    return {"percent": 100 * numbers // np.maximum(totals, 1)}


def of_all(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return the percentage of each number in the total of all."""
    return {"percent": (100 * numbers // max(numbers.sum(dtype=np.uint32), 1)).astype(np.uint32)}


def first_workgroup(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return what comes out if each workgroup looks at the numbers of the first one."""
    return {"percent": np.resize(reference(numbers)["percent"][:32], len(numbers))}


def numbers_with_zeros(seed: int, groups: int, empty: int) -> np.ndarray:
    """Return small numbers for so many workgroups, a third of them 0, and all of them in workgroup `empty`."""
    random = np.random.default_rng(seed)
    numbers = random.integers(1, 20, (groups, 32)) * (random.random((groups, 32)) < 2 / 3)
    numbers[empty] = 0
    return numbers.reshape(-1).astype(np.uint32)


CASES = (
    Case("three workgroups, one of nothing but zeros", {"numbers": numbers_with_zeros(1, 3, 1)}, groups=(3, 1, 1)),
    Case(
        "a number in a workgroup of its own",
        {"numbers": np.eye(2, 64, 31, dtype=np.uint32).sum(0, dtype=np.uint32) * 7},
        groups=(2, 1, 1),
        hidden=True,
    ),
    Case("five workgroups", {"numbers": numbers_with_zeros(2, 5, 4)}, groups=(5, 1, 1), hidden=True),
)
MISTAKES = (
    Mistake("of all", "These are percentages of the total of all numbers, not of the workgroup's own 32.", of_all),
    Mistake("first workgroup", "All workgroups work on the numbers of the first one.", first_workgroup),
)
LIMITS = (
    Limit(
        "reads",
        most=32,
        name="numbers",
        why="Each number is to be read from the buffer once; the others get it from shared memory.",
    ),
)
