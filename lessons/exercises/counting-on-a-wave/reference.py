"""128 numbers added up."""

import numpy as np

from splatscope.exercises.task import Case, Mistake


def reference(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return the sum of all."""
    return every(numbers, 1)


def every(numbers: np.ndarray, step: int) -> dict[str, np.ndarray]:
    """Return the sum of each `step`-th number: place 0 after the round with this stride."""
    return {"total": np.array([numbers[::step].sum()], np.int32)}


CASES = (
    Case("1, 2, … 128", {"numbers": np.arange(1, 129, dtype=np.int32)}),
    Case(
        "random numbers, some negative",
        {"numbers": np.random.default_rng(1).integers(-1000, 1000, 128, dtype=np.int32)},
        hidden=True,
    ),
)
MISTAKES = (
    Mistake(
        "half way",
        "Place 0 holds only every 64th number: the rounds after the first are missing.",
        lambda numbers: every(numbers, 64),
    ),
    Mistake(
        "without neighbour", "Place 0 holds only every second number: the last round is missing.", lambda numbers: every(numbers, 2)
    ),
)
WAVES = (4,)
