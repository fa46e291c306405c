"""A picture of discs, by tiles."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake

WIDE, HIGH = 8, 4
Values = dict[str, np.ndarray]


def reference(shapes: np.ndarray, colors: np.ndarray, count: np.ndarray, width: np.ndarray, listed: np.ndarray) -> Values:
    """Return the picture, the nearest disc in front, and how many discs touch each tile."""
    return _draw(shapes, colors, count, width, listed)


def _draw(
    shapes: np.ndarray,
    colors: np.ndarray,
    count: np.ndarray,
    width: np.ndarray,
    listed: np.ndarray,
    order: str = "nearest first",
    premultiplied: bool = True,
) -> Values:
    shapes, colors, columns = shapes[: int(count)], colors[: int(count)], int(width) // WIDE
    rows = len(listed) // columns
    y, x = (np.mgrid[: rows * HIGH, : int(width)] + 0.5).astype(np.float32)
    color, transmittance = np.zeros((*x.shape, 3), np.float32), np.ones(x.shape, np.float32)
    walk = {
        "nearest first": np.argsort(shapes[:, 3]),
        "farthest first": np.argsort(-shapes[:, 3]),
        "by number": np.arange(len(shapes)),
    }
    for i in walk[order]:
        inside = (x - shapes[i, 0]) ** 2 + (y - shapes[i, 1]) ** 2 < shapes[i, 2] ** 2
        weight = colors[i, 3] if premultiplied else np.float32(1)
        color += (inside * transmittance * weight)[..., None] * colors[i, :3]
        transmittance *= np.where(inside, 1 - colors[i, 3], 1)
    low = np.stack(np.meshgrid(np.arange(columns) * WIDE, np.arange(rows) * HIGH), axis=-1).reshape(-1, 1, 2)
    away = np.clip(shapes[:, :2], low, low + np.array([WIDE, HIGH])) - shapes[:, :2]
    touching = (away**2).sum(axis=2) < shapes[:, 2] ** 2
    picture = np.concatenate([color, transmittance[..., None]], axis=2).reshape(-1, 4)
    return {"picture": picture, "listed": touching.sum(axis=1).astype(np.uint32)}


def _nothing_drawn(width: np.ndarray, listed: np.ndarray) -> Values:
    pixels = len(listed) * WIDE * HIGH
    return {"picture": np.tile(np.array([0, 0, 0, 1], np.float32), (pixels, 1)), "listed": np.zeros_like(listed)}


def _all_listed(shapes: np.ndarray, colors: np.ndarray, count: np.ndarray, width: np.ndarray, listed: np.ndarray) -> Values:
    return reference(shapes, colors, count, width, listed) | {"listed": np.full_like(listed, int(count))}


def _not_counted(shapes: np.ndarray, colors: np.ndarray, count: np.ndarray, width: np.ndarray, listed: np.ndarray) -> Values:
    return reference(shapes, colors, count, width, listed) | {"listed": np.zeros_like(listed)}


def _farthest_first(shapes: np.ndarray, colors: np.ndarray, count: np.ndarray, width: np.ndarray, listed: np.ndarray) -> Values:
    return _draw(shapes, colors, count, width, listed, order="farthest first")


def _by_number(shapes: np.ndarray, colors: np.ndarray, count: np.ndarray, width: np.ndarray, listed: np.ndarray) -> Values:
    return _draw(shapes, colors, count, width, listed, order="by number")


def _straight(shapes: np.ndarray, colors: np.ndarray, count: np.ndarray, width: np.ndarray, listed: np.ndarray) -> Values:
    return _draw(shapes, colors, count, width, listed, premultiplied=False)


def _discs(seed: int, count: int, tiles: tuple[int, int]) -> dict[str, np.ndarray | np.uint32]:
    """Return discs whose numbers are all quarters, so that every sum is exact."""
    random, width = np.random.default_rng(seed), tiles[0] * WIDE
    center = random.integers(0, (4 * width, 4 * tiles[1] * HIGH), (count, 2)) / 4
    shapes = np.column_stack([center, random.integers(4, 14, count) / 4, random.permutation(count) + 1])
    colors = np.column_stack([random.integers(0, 5, (count, 3)) / 4, random.integers(1, 4, count) / 4])
    return {
        "shapes": shapes.astype(np.float32),
        "colors": colors.astype(np.float32),
        "count": np.uint32(count),
        "width": np.uint32(width),
        "listed": np.zeros(tiles[0] * tiles[1], np.uint32),
    }


def _crowded(seed: int) -> dict[str, np.ndarray | np.uint32]:
    """Return 32 small discs inside of the second of three tiles."""
    given = _discs(seed, 32, (3, 1))
    shapes = np.array(given["shapes"])
    shapes[:, 0] = WIDE + 1 + shapes[:, 0] % (WIDE - 2)
    shapes[:, 1] = 1 + shapes[:, 1] % (HIGH - 2)
    shapes[:, 2] = 1
    return given | {"shapes": shapes}


CASES = (
    Case("16 by 8 pixels, 20 discs", _discs(1, 20, (2, 2)), groups=(2, 2, 1), tolerance=1e-5),
    Case("24 by 8 pixels, 32 discs", _discs(2, 32, (3, 2)), groups=(3, 2, 1), tolerance=1e-5, hidden=True),
    Case("three tiles, all 32 discs in the second", _crowded(3), groups=(3, 1, 1), tolerance=1e-5, hidden=True),
)
MISTAKES = (
    Mistake("nothing drawn", "The picture is empty, and no disc is listed.", _nothing_drawn),
    Mistake("all listed", "The picture is right, but all discs are on the list of every tile.", _all_listed),
    Mistake("not counted", "The picture is right, but the lengths of the lists are not in `listed`.", _not_counted),
    Mistake("farthest first", "The farthest disc is in front: the order of depth is the wrong way round.", _farthest_first),
    Mistake("by number", "The discs are blended in the order of their numbers, not by depth.", _by_number),
    Mistake("straight", "The colours are not multiplied by their alpha.", _straight),
)
LIMITS = (
    Limit("reads", most=640, name="shapes", why="Pixels need to look only at what is on the list."),
    Limit("accesses", most=4, name="picture", why="The work is for all threads: one alone leaves the others idle."),
)
