"""The sum of products."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake


def _padded(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.pad(a * b, (0, 64 - len(a)))


def _one(number: int) -> dict[str, np.ndarray]:
    return {"result": np.array([number], np.int32)}


def reference(a: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
    """Return the dot product."""
    return _one(int((a * b).sum()))


def _rows(seed: int, count: int) -> dict[str, np.ndarray | np.uint32]:
    a, b = np.random.default_rng(seed).integers(-20, 40, (2, count)).astype(np.int32)
    return {"a": a, "b": b, "count": np.uint32(count)}


CASES = (
    Case("64 numbers", _rows(1, 64)),
    Case("50 numbers", _rows(2, 50)),
    Case("37 numbers", _rows(3, 37), hidden=True),
    Case("a single number", _rows(4, 1), hidden=True),
    Case(
        "all zeros but the last",
        {"a": np.r_[np.zeros(63, np.int32), np.int32(7)], "b": np.full(64, -3, np.int32), "count": np.uint32(64)},
        hidden=True,
    ),
)
MISTAKES = (
    Mistake(
        "last round missing",
        "This is the sum of every second product: the round with stride 1 is missing.",
        lambda a, b: _one(int(_padded(a, b)[::2].sum())),
    ),
    Mistake(
        "first round missing",
        "This is the sum of the first 32 products: the round with stride 32 is missing.",
        lambda a, b: _one(int(_padded(a, b)[:32].sum())),
    ),
    Mistake("no sum", "This is only the first product.", lambda a, b: _one(int(a[0] * b[0]))),
    Mistake(
        "sum of sums",
        "These are the numbers of a and b added up. They must be multiplied first.",
        lambda a, b: _one(int((a + b).sum())),
    ),
)
LIMITS = (
    Limit("atomics", most=0, why="In a tree no two threads add to the same sum."),
    Limit("barriers", most=7, least=5, why="A tree over 64 threads has six rounds, with a barrier between any two."),
)
