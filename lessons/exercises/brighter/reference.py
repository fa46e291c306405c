"""Brighter levels, whose number is no multiple of a workgroup's threads."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake


def reference(level: np.ndarray, more: np.ndarray) -> dict[str, np.ndarray]:
    """Return the levels, brighter."""
    return {"brighter": np.minimum(level + more, 255).astype(np.uint32)}


def last_missing(level: np.ndarray, more: np.ndarray) -> dict[str, np.ndarray]:
    """Leave out the last level."""
    done = reference(level, more)["brighter"]
    done[-1] = 0
    return {"brighter": done}


def rest_missing(level: np.ndarray, more: np.ndarray) -> dict[str, np.ndarray]:
    """Leave out the levels of the last workgroup that is not full."""
    done = reference(level, more)["brighter"]
    done[len(level) // 32 * 32 :] = 0
    return {"brighter": done}


def _levels(seed: int, count: int, more: int) -> dict[str, np.ndarray | np.uint32]:
    level = np.random.default_rng(seed).integers(0, 256, count, dtype=np.uint32)
    return {"level": level, "count": np.uint32(count), "more": np.uint32(more)}


CASES = (
    Case("100 levels, 128 threads", _levels(1, 100, 40), groups=(4, 1, 1)),
    Case("64 levels, 64 threads", _levels(2, 64, 100), groups=(2, 1, 1), hidden=True),
    Case("130 levels, 160 threads", _levels(3, 130, 7), groups=(5, 1, 1), hidden=True),
    Case("a single level", _levels(4, 1, 0), hidden=True),
)
MISTAKES = (
    Mistake("last missing", "All levels are brighter but the last one: its thread was sent away as well.", last_missing),
    Mistake(
        "rest missing",
        "The last workgroup writes nothing, although some of its threads do have a level.",
        rest_missing,
    ),
    Mistake(
        "not bounded",
        "Some levels are above 255: the bound is missing.",
        lambda level, more: {"brighter": (level + more).astype(np.uint32)},
    ),
    Mistake(
        "wrapped",
        "Levels above 255 begin again at 0. They must stay at 255.",
        lambda level, more: {"brighter": ((level + more) % 256).astype(np.uint32)},
    ),
)
LIMITS = (Limit("accesses", most=8, why="The work is for all threads: one alone leaves the others idle."),)
