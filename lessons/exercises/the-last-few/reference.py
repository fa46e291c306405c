"""Every number times three."""

import numpy as np

from splatscope.exercises.task import Case, Mistake


def reference(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return three times the numbers."""
    return {"tripled": 3 * numbers}


def without(numbers: np.ndarray, start: int) -> dict[str, np.ndarray]:
    """Return the triples of the numbers before a place, and zeros from there on."""
    return {"tripled": np.where(np.arange(len(numbers)) < start, 3 * numbers, 0)}


def case(name: str, count: int, hidden: bool = False) -> Case:
    """Return a case with so many numbers from -500 to 500, none of them 0, and as few workgroups as have enough threads."""
    random = np.random.default_rng(count)
    numbers = (random.integers(1, 501, count) * random.choice([-1, 1], count)).astype(np.int32)
    return Case(name, {"numbers": numbers, "count": np.uint32(count)}, groups=((count + 31) // 32, 1, 1), hidden=hidden)


CASES = (
    case("64 numbers, two workgroups", 64),
    case("70 numbers, three workgroups", 70),
    case("a single number", 1, hidden=True),
    case("one number more than a workgroup has threads", 33, hidden=True),
)
MISTAKES = (
    Mistake(
        "last one",
        "The last number is left out: the numbers are 0 to count − 1, and count − 1 is one of them.",
        lambda numbers: without(numbers, len(numbers) - 1),
    ),
    Mistake(
        "last workgroup",
        "The numbers of the last workgroup are left out: it has work to do even if it has more threads than numbers.",
        lambda numbers: without(numbers, len(numbers) // 32 * 32),
    ),
)
