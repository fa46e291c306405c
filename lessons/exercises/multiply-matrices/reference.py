"""The product of two square matrices."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake

TILE, MOST = 4, 12


def reference(a: np.ndarray, b: np.ndarray, size: np.ndarray) -> dict[str, np.ndarray]:
    """Return a · b."""
    return _product(*_matrices(a, b, size))


def _matrices(a: np.ndarray, b: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n = int(size)
    return a.reshape(n, n), b.reshape(n, n)


def _product(a: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
    return {"product": (a @ b).astype(np.float32).reshape(-1)}


def _first_tile(a: np.ndarray, b: np.ndarray, size: np.ndarray) -> dict[str, np.ndarray]:
    first, second = _matrices(a, b, size)
    return _product(first[:, :TILE], second[:TILE])


def _last_tile(a: np.ndarray, b: np.ndarray, size: np.ndarray) -> dict[str, np.ndarray]:
    first, second = _matrices(a, b, size)
    last = (int(size) - 1) // TILE * TILE
    return _product(first[:, last:], second[last:])


def _swapped(a: np.ndarray, b: np.ndarray, size: np.ndarray) -> dict[str, np.ndarray]:
    first, second = _matrices(a, b, size)
    return _product(second, first)


def _elements(a: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
    return {"product": a * b}


def _given(seed: int, size: int) -> dict[str, np.ndarray | np.uint32]:
    """Return small whole numbers, whose products and sums are exact."""
    random = np.random.default_rng(seed)
    a, b = (random.integers(-4, 5, size * size).astype(np.float32) for _ in range(2))
    return {"a": a, "b": b, "size": np.uint32(size)}


CASES = (
    Case("8 by 8: four workgroups", _given(1, 8), groups=(2, 2, 1)),
    Case("10 by 10: tiles that stick out", _given(2, 10), groups=(3, 3, 1), hidden=True),
)
MISTAKES = (
    Mistake("zeros", "All sums are 0: nothing has been added.", lambda a: {"product": np.zeros_like(a)}),
    Mistake("first tile", "Only the first tile of `a` and the first of `b` are multiplied.", _first_tile),
    Mistake("last tile", "Only the last tiles count: what the earlier ones gave is lost.", _last_tile),
    Mistake("swapped", "This is the product of `b` and `a`: rows and columns have been swapped.", _swapped),
    Mistake("elements", "Elements at the same place are multiplied: a matrix product takes a row and a column.", _elements),
)
LIMITS = tuple(
    Limit("reads", most=TILE * MOST, name=name, why="Each number is loaded once for the whole workgroup.") for name in ("a", "b")
)
LIMITS += (Limit("accesses", most=64, why="The work is for all threads: one alone leaves the others idle."),)
