"""How far points are from the origin."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake

TRIPLES = np.array([[3, 4, 5], [5, 12, 13], [8, 15, 17], [7, 24, 25], [20, 21, 29], [12, 35, 37]], np.float32)


def reference(x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Return the distances."""
    return {"distances": np.sqrt(x * x + y * y)}


def first_workgroup(x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Measure the first 32 points alone."""
    done = reference(x, y)["distances"]
    done[32:] = 0
    return {"distances": done}


def overlapping(x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Add the numbers of the workgroup and the thread."""
    done = reference(x, y)["distances"]
    done[32 + len(x) // 32 - 1 :] = 0
    return {"distances": done}


def _points(seed: int, count: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    chosen = TRIPLES[random.integers(0, len(TRIPLES), count)] * random.choice([-1, 1], (count, 3))
    return {"x": chosen[:, 0].astype(np.float32), "y": chosen[:, 1].astype(np.float32)}


CASES = (
    Case("96 points", _points(1, 96), groups=(3, 1, 1), tolerance=1e-5),
    Case("160 points", _points(2, 160), groups=(5, 1, 1), hidden=True, tolerance=1e-5),
    Case(
        "a single workgroup, with points at the origin",
        {"x": np.zeros(32, np.float32), "y": np.where(np.arange(32) % 2, _points(3, 32)["y"], 0).astype(np.float32)},
        hidden=True,
        tolerance=1e-5,
    ),
)
MISTAKES = (
    Mistake(
        "first workgroup",
        "Only the first 32 points are measured: each workgroup takes the same ones, since its own number is not in the index.",
        first_workgroup,
    ),
    Mistake(
        "overlapping",
        "The workgroups overlap: each begins only one point after the one before it, but has 32 threads.",
        overlapping,
    ),
    Mistake("no root", "These are the squares of the distances: the root is missing.", lambda x, y: {"distances": x * x + y * y}),
    Mistake("sum", "These are the sums |x| + |y|, not the distances.", lambda x, y: {"distances": np.abs(x) + np.abs(y)}),
)
LIMITS = (Limit("accesses", most=12, why="The work is for all threads: one alone leaves the others idle."),)
