"""Temperatures in another unit."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake


def reference(celsius: np.ndarray) -> dict[str, np.ndarray]:
    """Return the temperatures in degrees Fahrenheit."""
    return {"fahrenheit": (1.8 * celsius + 32).astype(np.float32)}


def first_workgroup(celsius: np.ndarray) -> dict[str, np.ndarray]:
    """Convert the first 32 alone."""
    done = reference(celsius)["fahrenheit"]
    done[32:] = 0
    return {"fahrenheit": done}


def whole_fraction(celsius: np.ndarray) -> dict[str, np.ndarray]:
    """Convert by 9 / 5 in whole numbers, which is 1."""
    return {"fahrenheit": (celsius + 32).astype(np.float32)}


def sum_first(celsius: np.ndarray) -> dict[str, np.ndarray]:
    """Add before multiplying."""
    return {"fahrenheit": (1.8 * (celsius + 32)).astype(np.float32)}


def _temperatures(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-40, 100, count).astype(np.float32)


CASES = (
    Case("0 to 63 degrees", {"celsius": np.arange(64, dtype=np.float32)}, groups=(2, 1, 1), tolerance=1e-5),
    Case("128 temperatures, some below zero", {"celsius": _temperatures(1, 128)}, groups=(4, 1, 1), hidden=True, tolerance=1e-5),
    Case("a single workgroup", {"celsius": _temperatures(2, 32)}, hidden=True, tolerance=1e-5),
)
MISTAKES = (
    Mistake(
        "first workgroup",
        "Only the first 32 temperatures are converted: the index that the threads use starts again at 0 in each workgroup.",
        first_workgroup,
    ),
    Mistake(
        "whole fraction",
        "The temperatures are multiplied by 1: 9 / 5 divides whole numbers, and the fraction is lost.",
        whole_fraction,
    ),
    Mistake("sum first", "32 is added before the temperature is multiplied. It must be added afterwards.", sum_first),
)
LIMITS = (Limit("accesses", most=8, why="The work is for all threads: one alone leaves the others idle."),)
