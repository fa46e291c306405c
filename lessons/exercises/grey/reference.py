"""The grey of a colour picture."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake

WEIGHTS = np.array([2, 5, 1], np.float32) / 8


def reference(picture: np.ndarray) -> dict[str, np.ndarray]:
    """Return the greys of the pixels, row by row."""
    return {"grey": picture @ WEIGHTS}


def mirrored_index(picture: np.ndarray, size: np.ndarray) -> dict[str, np.ndarray]:
    """Read column by column, write row by row."""
    across, down = (int(n) for n in size)
    grey = (picture @ WEIGHTS).reshape(across, down).T
    return {"grey": np.ascontiguousarray(grey).reshape(-1)}


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
        "average",
        "Red, green and blue have equal weights here. The task weighs them 2, 5 and 1.",
        lambda picture: {"grey": picture.mean(axis=1, dtype=np.float32)},
    ),
    Mistake("red", "This is the red of each pixel, not its grey.", lambda picture: {"grey": picture[:, 0]}),
    Mistake("blue first", "The weights of red and blue have changed places.", lambda picture: {"grey": picture @ WEIGHTS[::-1]}),
    Mistake(
        "not divided", "The greys are 8 times too large: the division is missing.", lambda picture: {"grey": picture @ WEIGHTS * 8}
    ),
    Mistake("mirrored index", "Each thread reads one pixel and writes another: the two indices differ.", mirrored_index),
)
LIMITS = (Limit("accesses", most=12, why="The work is for all threads: one alone leaves the others idle."),)
