"""Floats of all workgroups added to one."""

import numpy as np

from splatscope.exercises.task import Case, Mistake


def reference(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return the sum. All numbers are small multiples of 1/4, so that it is exact in any order."""
    return {"total": np.array([numbers.sum()], np.float32)}


def of_words(words: np.ndarray) -> dict[str, np.ndarray]:
    """Return the sum of words, as the bits of a float."""
    return {"total": np.array([words.sum(dtype=np.uint32)], np.uint32).view(np.float32)}


def case(name: str, groups: int, seed: int, hidden: bool = False) -> Case:
    """Return a case of random numbers, one for each thread."""
    numbers = np.random.default_rng(seed).integers(-40, 200, 32 * groups) / np.float32(4)
    return Case(name, {"numbers": numbers.astype(np.float32)}, (groups, 1, 1), hidden=hidden)


CASES = (
    case("four workgroups", 4, 1),
    case("one workgroup", 1, 2, hidden=True),
    case("seven workgroups", 7, 3, hidden=True),
)
MISTAKES = (
    Mistake(
        "bits",
        "The bits of the floats are added as integers: that is no sum of floats.",
        lambda numbers: of_words(numbers.view(np.uint32)),
    ),
    Mistake(
        "whole",
        "The numbers are added as integers. Their fractions are lost, and total[0] must hold the bits of a float.",
        lambda numbers: of_words(numbers.astype(np.int32).view(np.uint32)),
    ),
)
