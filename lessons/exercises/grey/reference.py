"""The grey of a colour picture."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake

WEIGHTS = np.array([2, 5, 1], np.float32) / 8


def reference(picture: np.ndarray, size: np.ndarray) -> dict[str, np.ndarray]:
    """Return the greys of the pixels, row by row, those of every second row halved."""
    return _lined(picture @ WEIGHTS, size)


def _lined(values: np.ndarray, size: np.ndarray) -> dict[str, np.ndarray]:
    rows = np.arange(len(values)) // int(size[0])
    return {"grey": np.where(rows % 2 == 1, values / 2, values).astype(np.float32)}


def mirrored_index(picture: np.ndarray, size: np.ndarray) -> dict[str, np.ndarray]:
    """Read column by column, write row by row."""
    across, down = (int(n) for n in size)
    values = (picture @ WEIGHTS).reshape(across, down).T
    return _lined(np.ascontiguousarray(values).reshape(-1), size)


def down_the_columns(picture: np.ndarray, size: np.ndarray) -> dict[str, np.ndarray]:
    """Take the index for one that counts down the columns."""
    values, down = picture @ WEIGHTS, int(size[1])
    return {"grey": np.where(np.arange(len(values)) % down % 2 == 1, values / 2, values).astype(np.float32)}


def rows_high(picture: np.ndarray, size: np.ndarray) -> dict[str, np.ndarray]:
    """Begin a row every `size.y` pixels, not every `size.x`. Where several pixels have one index, it may hold either's grey."""
    across, down = (int(n) for n in size)
    values, written = np.zeros(len(picture), np.float32), np.zeros(len(picture), int)
    for row in range(down):
        for column in range(across):
            if (i := row * down + column) < len(picture):
                values[i] = picture[i] @ WEIGHTS * (0.5 if row % 2 else 1.0)
                written[i] += 1
    return {"grey": np.ma.array(values, mask=written > 1)}


def _picture(seed: int, across: int, down: int) -> dict[str, np.ndarray]:
    colours = np.random.default_rng(seed).integers(0, 9, (across * down, 3)) / 8
    return {"picture": colours.astype(np.float32), "size": np.array([across, down], np.uint32)}


CASES = (
    Case("20 × 6 pixels", _picture(1, 20, 6), groups=(3, 2, 1), tolerance=1e-5),
    Case("13 × 9 pixels", _picture(2, 13, 9), groups=(2, 3, 1), hidden=True, tolerance=1e-5),
    Case("a single tile", _picture(3, 8, 4), hidden=True, tolerance=1e-5),
    Case("a picture one pixel wide", _picture(4, 1, 10), groups=(1, 3, 1), hidden=True, tolerance=1e-5),
)
MISTAKES = (
    Mistake(
        "rows high",
        "From one row to the next the index steps by `size.y`. A row has `size.x` pixels: row · width + column.",
        rows_high,
        leads_to=("race", "benign-race", "out-of-bounds"),
    ),
    Mistake(
        "column by column",
        "The wrong pixels are darker: this index counts down the columns. The picture lies row by row: row · width + column.",
        down_the_columns,
    ),
    Mistake(
        "all bright",
        "No row is darker. In the rows 1, 3, 5, … half of the grey is to be written.",
        lambda picture: {"grey": picture @ WEIGHTS},
    ),
    Mistake(
        "other rows",
        "The rows 0, 2, 4, … are darker. It should be the others: rows are counted from 0.",
        lambda picture, size: {"grey": picture @ WEIGHTS * 1.5 - _lined(picture @ WEIGHTS, size)["grey"]},
    ),
    Mistake(
        "average",
        "Red, green and blue have equal weights here. The task weighs them 2, 5 and 1.",
        lambda picture, size: _lined(picture.mean(axis=1, dtype=np.float32), size),
    ),
    Mistake("red", "This is the red of each pixel, not its grey.", lambda picture, size: _lined(picture[:, 0], size)),
    Mistake(
        "blue first",
        "The weights of red and blue have changed places.",
        lambda picture, size: _lined(picture @ WEIGHTS[::-1], size),
    ),
    Mistake(
        "not divided",
        "The greys are 8 times too large: the division is missing.",
        lambda picture, size: _lined(picture @ WEIGHTS * 8, size),
    ),
    Mistake("mirrored index", "Each thread reads one pixel and writes another: the two indices differ.", mirrored_index),
)
LIMITS = (Limit("accesses", most=12, why="The work is for all threads: one alone leaves the others idle."),)
