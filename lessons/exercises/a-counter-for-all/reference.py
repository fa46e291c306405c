"""How many numbers of a workgroup are large enough."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake


def counts(chosen: np.ndarray) -> dict[str, np.ndarray]:
    """Return how many of each 64 are chosen."""
    return {"found": chosen.reshape(-1, 64).sum(1, dtype=np.uint32)}


def reference(numbers: np.ndarray, least: np.ndarray) -> dict[str, np.ndarray]:
    """Return how many of each 64 numbers are `least` or more."""
    return counts(numbers >= least)


def case(name: str, groups: int, least: int, hidden: bool = False) -> Case:
    """Return a case with the numbers of so many workgroups, from 0 to 19."""
    numbers = np.random.default_rng(groups).integers(0, 20, 64 * groups, dtype=np.uint32)
    return Case(name, {"numbers": numbers, "least": np.uint32(least)}, groups=(groups, 1, 1), hidden=hidden)


CASES = (
    case("three workgroups", 3, 12),
    case("one workgroup, and not a number that is large enough", 1, 20, hidden=True),
    case("four workgroups, and every number is large enough", 4, 0, hidden=True),
)
MISTAKES = (
    Mistake(
        "more than", "A number that equals `least` does not count, but it should.", lambda numbers, least: counts(numbers > least)
    ),
    Mistake("the others", "It counts the numbers that are too small.", lambda numbers, least: counts(numbers < least)),
)
LIMITS = (
    Limit("writes", most=1, name="found", why="One write for each workgroup is enough."),
    Limit("atomics", most=0, name="found", why="Count in shared memory."),
)
