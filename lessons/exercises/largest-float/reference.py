"""The largest of many floats, as bits in a buffer."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake

THREADS = 32
LEAST = np.array([-1000], np.float32)


def reference(values: np.ndarray) -> dict[str, np.ndarray]:
    """Return the largest value."""
    return {"largest": values.max(keepdims=True)}


def _values(count: int, step: float, first: float) -> dict[str, np.ndarray | np.uint32]:
    """Return values that rise by fours, the largest of each four neither first nor last: who tries only once loses it."""
    values = (np.arange(0, count, 4)[:, None] + np.array([0, 3, 1, 2])).reshape(-1) * step + first
    return _given(values)


def _given(values: np.ndarray) -> dict[str, np.ndarray | np.uint32]:
    return {"values": values.astype(np.float32), "count": np.uint32(len(values)), "largest": LEAST.view(np.uint32)}


CASES = (
    Case("60 values, some of them negative", _values(60, 0.5, -20), groups=(2, 1, 1)),
    Case("92 negative values", _values(92, 0.25, -30), groups=(3, 1, 1), hidden=True),
    Case("40 values, the largest at the end", _given(np.arange(40)), groups=(2, 1, 1), hidden=True),
    Case("40 equal values, far below 0", _given(np.full(40, -500.5)), groups=(2, 1, 1), hidden=True),
)
MISTAKES = (
    Mistake(
        "untouched",
        "`largest` is as it was. Either nothing is ever stored, or bits are compared as integers: those of −1000 are a large one.",
        lambda values: {"largest": LEAST},
    ),
    Mistake("smallest", "This is the smallest value.", lambda values: {"largest": values.min(keepdims=True)}),
    Mistake(
        "first values",
        "Every workgroup looks at the same values, the first ones.",
        lambda values: {"largest": values[:THREADS].max(keepdims=True)},
    ),
)
LIMITS = (Limit("accesses", most=24, name="values", why="The work is for all threads: one alone leaves the others idle."),)
