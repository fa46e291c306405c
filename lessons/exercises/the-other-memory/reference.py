"""Squares, and how they grow."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake


def reference(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return the squares, and the difference of each to the next one of its 32."""
    squares = (numbers * numbers).reshape(-1, 32)
    return {"squares": squares.reshape(-1), "growth": (np.roll(squares, -1, axis=1) - squares).reshape(-1)}


def turned(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return the squares, and the differences with the other sign."""
    right = reference(numbers)
    return right | {"growth": -right["growth"]}


def backwards(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return the squares, and the difference of each to the one before."""
    squares = (numbers * numbers).reshape(-1, 32)
    return {"squares": squares.reshape(-1), "growth": (squares - np.roll(squares, 1, axis=1)).reshape(-1)}


def case(name: str, groups: int, hidden: bool = False) -> Case:
    """Return a case with the numbers of so many workgroups, from -50 to 50."""
    numbers = np.random.default_rng(groups).integers(-50, 51, 32 * groups).astype(np.int32)
    return Case(name, {"numbers": numbers}, groups=(groups, 1, 1), hidden=hidden)


CASES = (
    case("64 numbers, two workgroups", 2),
    case("a single workgroup", 1, hidden=True),
    case("five workgroups", 5, hidden=True),
)
MISTAKES = (
    Mistake(
        "negative", "The sign is wrong: the square of the next number is to be made smaller by this one's, not the reverse.", turned
    ),
    Mistake("backwards", "Each square is compared with the one before it, not with the next one.", backwards),
)
LIMITS = (
    Limit(
        "reads",
        most=64,
        name="numbers",
        why="Each thread is to square its own number, and to take the next square from the thread that made it.",
    ),
)
