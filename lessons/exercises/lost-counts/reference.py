"""How often each number occurs."""

import numpy as np

from splatscope.exercises.task import Case, Mistake


def reference(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return how often each of 0 to 15 occurs."""
    return {"counts": np.bincount(numbers, minlength=16).astype(np.uint32)}


def added(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return each number's sum, not its count."""
    return {"counts": reference(numbers)["counts"] * np.arange(16, dtype=np.uint32)}


def case(name: str, numbers: np.ndarray, hidden: bool = False) -> Case:
    """Return a case of these numbers."""
    return Case(name, {"numbers": numbers.astype(np.uint32), "count": np.uint32(len(numbers))}, hidden=hidden)


CASES = (
    case("150 numbers", np.random.default_rng(1).integers(0, 16, 150)),
    case("200 times the same number", np.full(200, 9), hidden=True),
    case("fewer numbers than threads", np.random.default_rng(2).integers(0, 16, 21), hidden=True),
)
MISTAKES = (
    Mistake("added", "Each bin holds the sum of its numbers, not how many they are.", added),
    Mistake("first 64", "Only the first 64 numbers are counted, one for each thread.", lambda numbers: reference(numbers[:64])),
)
