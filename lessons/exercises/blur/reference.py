"""A blur of radius 2."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake

WEIGHTS = np.array([1, 4, 6, 4, 1], np.float32) / 16


def _blurred(padded: np.ndarray, weights: np.ndarray = WEIGHTS) -> np.ndarray:
    return np.convolve(padded, weights, "valid").astype(np.float32)


def reference(row: np.ndarray) -> dict[str, np.ndarray]:
    """Return the row blurred, with zeros beyond its ends."""
    return {"blurred": _blurred(np.pad(row, 2))}


def no_halo(row: np.ndarray) -> dict[str, np.ndarray]:
    """Take 0 beyond the ends of each workgroup's 32 numbers."""
    return {"blurred": np.concatenate([_blurred(np.pad(row[at : at + 32], 2)) for at in range(0, len(row), 32)])}


def _row(seed: int, count: int) -> dict[str, np.ndarray | np.uint32]:
    return {"row": (16 * np.random.default_rng(seed).integers(1, 50, count)).astype(np.float32), "count": np.uint32(count)}


CASES = (
    Case("80 numbers, 96 threads", _row(1, 80), groups=(3, 1, 1), tolerance=1e-5),
    Case("64 numbers", _row(2, 64), groups=(2, 1, 1), hidden=True, tolerance=1e-5),
    Case("33 numbers: the last workgroup has one", _row(3, 33), groups=(2, 1, 1), hidden=True, tolerance=1e-5),
    Case("3 numbers", _row(4, 3), hidden=True, tolerance=1e-5),
)
MISTAKES = (
    Mistake(
        "no halo",
        "The workgroups do not see each other's numbers: the two that lie beyond each end of their 32 are taken as 0.",
        no_halo,
    ),
    Mistake(
        "ends repeated",
        "Beyond the ends of the row, its last number is repeated. It must be 0 there.",
        lambda row: {"blurred": _blurred(np.pad(row, 2, mode="edge"))},
    ),
    Mistake("not divided", "All results are 16 times too large.", lambda row: {"blurred": _blurred(np.pad(row, 2), 16 * WEIGHTS)}),
    Mistake(
        "shifted", "The blur is right, but two places too far to the right.", lambda row: {"blurred": _blurred(np.pad(row, (4, 0)))}
    ),
)
LIMITS = (
    Limit("reads", most=36, name="row", why="Load each number once, into shared memory, and take it from there."),
    Limit("accesses", most=32, why="The work is for all threads: one alone leaves the others idle."),
)
