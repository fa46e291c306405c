"""Many factors multiplied into one number."""

import numpy as np

from splatscope.exercises.task import Case, Mistake


def reference(factors: np.ndarray, product: np.ndarray) -> dict[str, np.ndarray]:
    """Return the product of all, modulo 2³²."""
    return {"product": product * np.multiply.reduce(factors, dtype=np.uint32)}


def case(name: str, factors: np.ndarray, groups: int = 1, hidden: bool = False) -> Case:
    """Return a case of these factors."""
    return Case(name, {"factors": factors.astype(np.uint32), "product": np.ones(1, np.uint32)}, (groups, 1, 1), hidden=hidden)


RANDOM = np.random.default_rng(1)
CASES = (
    case("19 threes and 13 fives", RANDOM.permutation(np.repeat([3, 5], [19, 13]))),
    case("32 different odd numbers", np.arange(3, 67, 2), hidden=True),
    case("three workgroups", RANDOM.integers(1, 50, 96) * 2 + 1, 3, hidden=True),
)
MISTAKES = (
    Mistake("unchanged", "The product is still 1: nothing was stored.", lambda factors, product: {"product": product}),
    Mistake(
        "added",
        "The numbers are added, not multiplied.",
        lambda factors, product: {"product": product + factors.sum(dtype=np.uint32)},
    ),
)
