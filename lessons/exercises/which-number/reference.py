"""Prices in cents."""

import numpy as np

from splatscope.exercises.task import Case, Mistake


def reference(euros: np.ndarray) -> dict[str, np.ndarray]:
    """Return the prices in cents."""
    return {"cents": 100 * euros}


def first_workgroup(euros: np.ndarray) -> dict[str, np.ndarray]:
    """Return the first 32 prices in cents, and zeros."""
    return {"cents": np.where(np.arange(len(euros)) < 32, 100 * euros, 0)}


def case(name: str, groups: int, hidden: bool = False) -> Case:
    """Return a case with as many prices as so many workgroups have threads."""
    random = np.random.default_rng(groups)
    euros = random.integers(1, 1000, 32 * groups, dtype=np.uint32)
    return Case(name, {"euros": euros}, groups=(groups, 1, 1), hidden=hidden)


CASES = (
    case("128 prices, four workgroups", 4),
    case("two workgroups", 2, hidden=True),
    case("seven workgroups", 7, hidden=True),
)
MISTAKES = (
    Mistake("first 32", "Only the first 32 are converted: every workgroup takes the same ones.", first_workgroup),
    Mistake(
        "repeated",
        "Every workgroup writes to its own place, but reads the prices of the first one.",
        lambda euros: {"cents": np.resize(100 * euros[:32], len(euros))},
    ),
    Mistake(
        "overlapping",
        "The workgroups overlap: each begins only one number further on than the one before it.",
        lambda euros: {"cents": np.where(np.arange(len(euros)) < len(euros) // 32 + 31, 100 * euros, 0)},
    ),
)
