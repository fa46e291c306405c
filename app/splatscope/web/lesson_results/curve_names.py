"""Place the names of a chart's curves: each near its own curve, mostly at its end, and not crossed by any line."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from splatscope.textbook.results import Curve, Curves

WIDTH = 560  # px of a chart as wide as the text; narrower charts have less space between names
FRAME = 50  # px of a chart's height that the axis takes
PADDING = 0.1  # of the span of y, above and below the curves
LETTER, LINE = 7.0, 12.0  # px of a name's type
CLEAR = 2.0  # px between a name and a line
Scale = Callable[[np.ndarray], np.ndarray]  # from a value to px
ASTRAY = 1000.0  # px: penalty for a place that is closer to another curve
LABEL_INSET = 4  # px from the left edge to the label of a horizontal line
SIDES = (-8, 9)  # px of its middle below the line
OFFSETS = (-10, 12, -18, 20, -28, 30)  # px of a name's middle below its point
ALONG = (1.0, 0.9, 0.75, 0.6, 0.45, 0.3)  # positions along a curve, as shares of its length, at which a name may be placed


class Name(NamedTuple):
    """The place of a name: right-aligned at a point of its curve, its middle `y_offset` px below."""

    curve: int
    x: float
    y: float
    y_offset: int


class _Box(NamedTuple):
    left: float
    right: float
    middle: float


def names_of(curves: Curves) -> list[Name]:
    """Return the place of each curve's name, from the curve that ends lowest to the one that ends highest."""
    xs, ys = _make_x_scale(curves), _make_y_scale(curves)
    grid = np.arange(0, WIDTH + 1, 2.0)
    lines = [_interpolate(curve, xs, ys, grid) for curve in curves.curves]
    lines += [np.full(len(grid), ys(np.array([level]))[0]) for level, _ in curves.lines]
    ends = [
        (float(np.asarray(curve.y, float)[_finite_indices(curve)[-1]]), float(np.nanmean(curve.y)), i)
        for i, curve in enumerate(curves.curves)
        if len(_finite_indices(curve))
    ]
    placed: list[Name] = []
    boxes: list[_Box] = []
    for rank, (_, _, i) in enumerate(sorted(ends)):
        best: tuple[float, Name, _Box] | None = None
        for name in _candidates(i, curves.curves[i], below=rank == 0 and len(ends) > 1):
            box = _box(name, curves.curves[i].label, xs, ys)
            room = _room(box, lines, boxes, grid, curves.height - FRAME)
            if not _nearest(box, lines[: len(curves.curves)], i, grid):
                room -= ASTRAY
            if best is None or room > best[0] + 0.5:
                best = room, name, box
            if room >= CLEAR:
                break
        assert best
        placed.append(best[1])
        boxes.append(best[2])
    return placed


def side_of(curves: Curves, level: float, words: str) -> int:
    """Return the px that the label of a horizontal line is below it: above the line, unless curves leave more room under it."""
    xs, ys = _make_x_scale(curves), _make_y_scale(curves)
    grid = np.arange(0, WIDTH + 1, 2.0)
    lines = [_interpolate(curve, xs, ys, grid) for curve in curves.curves]
    middle, right = float(ys(np.array([level]))[0]), LABEL_INSET + LETTER * len(words)

    def room(side: int) -> float:
        return _room(_Box(LABEL_INSET, right, middle + side), lines, [], grid, curves.height - FRAME)

    return max(SIDES, key=lambda side: min(room(side), CLEAR))


def _candidates(i: int, curve: Curve, below: bool) -> Iterator[Name]:
    finite = _finite_indices(curve)
    for share in ALONG:
        point = finite[round(share * (len(finite) - 1))]
        offsets = OFFSETS[:2] if share == 1 else OFFSETS
        for offset in (offsets[1], offsets[0], *offsets[2:]) if below else offsets:
            yield Name(i, float(curve.x[point]), float(curve.y[point]), offset)


def _room(box: _Box, lines: list[np.ndarray], boxes: list[_Box], grid: np.ndarray, height: float) -> float:
    """Return the px between a box and the nearest line, name or edge; below 0 if they overlap."""
    under = (grid >= box.left) & (grid <= box.right)
    gaps = [np.nanmin(np.abs(line[under] - box.middle)) for line in lines if np.any(np.isfinite(line[under]))]
    gaps += [abs(other.middle - box.middle) - LINE / 2 for other in boxes if other.left < box.right and box.left < other.right]
    return float(min([*gaps, box.middle + LINE / 2, height - box.middle + LINE / 2, box.left + LINE]) - LINE / 2)


def _nearest(box: _Box, lines: list[np.ndarray], own: int, grid: np.ndarray) -> bool:
    """Return whether a box is closer to its own curve than to any other curve that is drawn there."""
    under = (grid >= box.left) & (grid <= box.right)

    def distance(line: np.ndarray) -> float:
        gaps = np.abs(line[under] - box.middle)
        return float(np.nanmean(gaps)) if np.any(np.isfinite(gaps)) else np.inf

    return all(distance(lines[own]) < distance(line) for i, line in enumerate(lines) if i != own)


def _box(name: Name, words: str, xs: Scale, ys: Scale) -> _Box:
    right = float(xs(np.array([name.x]))[0])
    return _Box(right - LETTER * len(words), right, float(ys(np.array([name.y]))[0]) + name.y_offset)


def _finite_indices(curve: Curve) -> np.ndarray:
    return np.flatnonzero(np.isfinite(np.asarray(curve.y, float)))


def _interpolate(curve: Curve, xs: Scale, ys: Scale, grid: np.ndarray) -> np.ndarray:
    """Return the height of a curve at each point of a grid, in px from the top; NaN where there is no curve."""
    finite = _finite_indices(curve)
    if not len(finite):
        return np.full(len(grid), np.nan)
    x, y = xs(np.asarray(curve.x, float)[finite]), ys(np.asarray(curve.y, float)[finite])
    order = np.argsort(x)
    return np.interp(grid, x[order], y[order], left=np.nan, right=np.nan)


def _make_x_scale(curves: Curves) -> Scale:
    scale = np.log if curves.log_x else np.asarray
    x = scale(np.concatenate([np.asarray(curve.x, float) for curve in curves.curves]))
    low, span = np.nanmin(x), 1.03 * ((np.nanmax(x) - np.nanmin(x)) or 1.0)
    return lambda values: (scale(values) - low) / span * WIDTH


def _make_y_scale(curves: Curves) -> Scale:
    y = np.concatenate([np.asarray(curve.y, float) for curve in curves.curves])
    y = y[np.isfinite(y) & ((y > 0) | (not curves.log_y))]
    scale = (lambda values: np.log(np.maximum(values, y.min()))) if curves.log_y and len(y) else np.asarray
    low, high = (scale(y.min()), scale(y.max())) if len(y) else (0.0, 1.0)
    span = (high - low) or 1.0
    height = curves.height - FRAME
    return lambda values: (1 + PADDING - (scale(values) - low) / span) / (1 + 2 * PADDING) * height
