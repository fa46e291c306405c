"""A transposed matrix."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake

TILE = 8


def reference(matrix: np.ndarray, width: np.ndarray) -> dict[str, np.ndarray]:
    """Return the rows of the matrix as columns."""
    return {"turned": matrix.reshape(-1, int(width)).T.reshape(-1)}


def _tiles_turned_in_place(matrix: np.ndarray, width: np.ndarray, height: np.ndarray) -> dict[str, np.ndarray]:
    """Return a square matrix of which each tile was turned where it is."""
    return {"turned": _by_tiles(matrix, int(width), int(height), lambda tiles: tiles.transpose(0, 3, 2, 1))}


def _tiles_moved_only(matrix: np.ndarray, width: np.ndarray, height: np.ndarray) -> dict[str, np.ndarray]:
    """Return a square matrix whose tiles changed places, but not what is in them."""
    return {"turned": _by_tiles(matrix, int(width), int(height), lambda tiles: tiles.transpose(2, 1, 0, 3))}


def _by_tiles(matrix: np.ndarray, width: int, height: int, change) -> np.ndarray:
    if width % TILE or height % TILE or width != height:
        return matrix
    tiles = matrix.reshape(height // TILE, TILE, width // TILE, TILE)
    return change(tiles).reshape(-1)


def _matrix(seed: int, width: int, height: int) -> dict[str, np.ndarray | np.uint32]:
    numbers = np.random.default_rng(seed).permutation(width * height).astype(np.uint32)
    return {"matrix": numbers, "width": np.uint32(width), "height": np.uint32(height)}


CASES = (
    Case("a matrix of 16 by 16", _matrix(1, 16, 16), groups=(2, 2, 1)),
    Case("20 columns and 12 rows", _matrix(2, 20, 12), groups=(3, 2, 1), hidden=True),
)
MISTAKES = (
    Mistake("as it was", "The matrix comes out as it went in.", lambda matrix: {"turned": matrix}),
    Mistake("tiles stay", "Each tile is turned, but it stays at its old place in the matrix.", _tiles_turned_in_place),
    Mistake("tiles unturned", "The tiles are at their new places, but inside of them rows are still rows.", _tiles_moved_only),
)
LIMITS = (
    Limit("reads", most=TILE * TILE, name="matrix", why="Each number is read once."),
    Limit("reads", least=TILE * TILE, name="tile", why="The numbers go through shared memory, so that rows can be written, too."),
    Limit("accesses", most=16, why="The work is for all threads: one alone leaves the others idle."),
)
