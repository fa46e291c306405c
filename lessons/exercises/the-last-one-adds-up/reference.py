"""Numbers of all workgroups added up by the last that finishes."""

import numpy as np

from splatscope.exercises.task import Case, Mistake


def reference(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return the sum of each workgroup, and the sum of all."""
    sums = numbers.reshape(-1, 32).sum(axis=1).astype(np.int32)
    return {"sums": sums, "total": np.array([sums.sum()], np.int32)}


def with_total(numbers: np.ndarray, total: int) -> dict[str, np.ndarray]:
    """Return the right sums with another total."""
    return reference(numbers) | {"total": np.array([total], np.int32)}


def case(name: str, groups: int, seed: int, hidden: bool = False) -> Case:
    """Return a case of random numbers, 32 for each workgroup."""
    numbers = np.random.default_rng(seed).integers(-50, 100, 32 * groups, dtype=np.int32)
    given = {"numbers": numbers, "finished": np.zeros(1, np.uint32), "groups": np.uint32(groups)}
    return Case(name, given, (groups, 1, 1), hidden=hidden)


CASES = (
    case("five workgroups", 5, 1),
    case("a single workgroup", 1, 2, hidden=True),
    case("eight workgroups", 8, 3, hidden=True),
)
MISTAKES = (
    Mistake("nobody", "The total is still 0: no workgroup took itself for the last.", lambda numbers: with_total(numbers, 0)),
    Mistake(
        "short",
        "The sum of the last workgroup is missing in the total.",
        lambda numbers: with_total(numbers, int(numbers[:-32].sum())),
    ),
)
