"""The sorted list of each tile."""

import numpy as np

from splatscope.exercises.task import Case, Limit

PLACES, NONE = 64, 0xFFFFFFFF
TILES = np.array([(0, 0, 8, 4), (8, 0, 16, 4), (0, 4, 8, 8), (8, 4, 16, 8)], np.float32)


def reference(boxes: np.ndarray, tiles: np.ndarray, count: np.ndarray) -> dict[str, np.ndarray]:
    """Return for each tile the numbers of the boxes that touch it, ascending, and NONE in the other places."""
    lists = np.full((len(tiles), PLACES), NONE, np.uint32)
    for row, (left, top, right, bottom) in zip(lists, tiles, strict=True):
        near = boxes[: int(count)]
        touching = (near[:, 0] < right) & (near[:, 2] > left) & (near[:, 1] < bottom) & (near[:, 3] > top)
        row[: touching.sum()] = np.flatnonzero(touching)
    return {"sorted": lists.reshape(-1)}


def scene(seed: int, count: int, size: float) -> dict[str, np.ndarray | np.generic]:
    """Return random boxes over four tiles."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform((0, 0), (16, 8), (count, 2))
    boxes = np.concatenate([centres - size, centres + size], axis=1).astype(np.float32)
    return {"boxes": boxes, "tiles": TILES, "count": np.uint32(count)}


GROUPS = (len(TILES), 1, 1)
CASES = (
    Case("60 Gaussians, four tiles", scene(1, 60, 2.0), GROUPS),
    Case("a single Gaussian", scene(2, 1, 1.0), GROUPS, hidden=True),
    Case("64 large Gaussians, full lists", scene(3, 64, 16.0), GROUPS, hidden=True),
)
LIMITS = (Limit("barriers", most=26, why="At least one of the seven is not needed."),)
WAVES = (4,)
