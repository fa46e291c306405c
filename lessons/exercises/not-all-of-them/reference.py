"""The step from each number to the next one."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake


def reference(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return the next number less the number; the first is next to the last."""
    return {"steps": np.roll(numbers, -1) - numbers}


def case(name: str, count: int, hidden: bool = False) -> Case:
    """Return a case with so many numbers from -99 to 99."""
    numbers = np.random.default_rng(count).integers(-99, 100, count).astype(np.int32)
    return Case(name, {"numbers": numbers, "count": np.uint32(count)}, hidden=hidden)


CASES = (
    case("50 numbers", 50),
    case("64 numbers, one a thread", 64),
    case("33 numbers", 33, hidden=True),
    case("a single number", 1, hidden=True),
)
MISTAKES = (
    Mistake(
        "backwards",
        "Each step is from the number before to this one: it should be from this one to the next.",
        lambda numbers: {"steps": numbers - np.roll(numbers, 1)},
    ),
    Mistake(
        "negative",
        "The steps have the wrong sign: the number itself is subtracted from the next one.",
        lambda numbers: {"steps": numbers - np.roll(numbers, -1)},
    ),
    Mistake(
        "not around",
        "The last step is missing: from the last number back to the first one.",
        lambda numbers: {"steps": np.append(np.diff(numbers), 0).astype(np.int32)},
    ),
)
LIMITS = (
    Limit(
        "reads",
        most=64,
        name="numbers",
        why="Each number is to be read from the buffer once; the others get it from shared memory.",
    ),
)
