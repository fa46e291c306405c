"""The differences of neighbours in a ring."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake


def reference(heights: np.ndarray) -> dict[str, np.ndarray]:
    """Return the climb from each place to the next."""
    return {"climbs": np.roll(heights, -1) - heights}


def _last(heights: np.ndarray, value: int) -> dict[str, np.ndarray]:
    climbs = reference(heights)["climbs"]
    climbs[-1] = value
    return {"climbs": climbs}


def _heights(seed: int, count: int) -> dict[str, np.ndarray | np.uint32]:
    return {"heights": np.random.default_rng(seed).integers(-20, 60, count).astype(np.int32), "count": np.uint32(count)}


CASES = (
    Case("50 places", _heights(1, 50), groups=(2, 1, 1)),
    Case("64 places", _heights(2, 64), groups=(2, 1, 1), hidden=True),
    Case("97 places", _heights(3, 97), groups=(4, 1, 1), hidden=True),
    Case("a single place", _heights(4, 1), hidden=True),
)
MISTAKES = (
    Mistake(
        "not closed",
        "The last climb is 0: the way from the last place to the first one is missing.",
        lambda heights: _last(heights, 0),
        leads_to=("out-of-bounds",),  # a read beyond the end is of the last element here
    ),
    Mistake(
        "down to zero",
        "After the last place comes the first one again, not a height of 0.",
        lambda heights: _last(heights, -int(heights[-1])),
    ),
    Mistake(
        "sign",
        "All signs are the wrong way round: a climb is the next height minus this one.",
        lambda heights: {"climbs": heights - np.roll(heights, -1)},
    ),
    Mistake(
        "from before",
        "These are the climbs from the place before, not to the next one.",
        lambda heights: {"climbs": heights - np.roll(heights, 1)},
    ),
)
LIMITS = (Limit("accesses", most=12, why="The work is for all threads: one alone leaves the others idle."),)
