"""What is still to go from each leg of a route to its end."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake

BLOCK = 8


def reference(legs: np.ndarray) -> dict[str, np.ndarray]:
    """Return for each leg its own length and all behind it."""
    return {"toGo": np.cumsum(legs[::-1], dtype=np.uint32)[::-1]}


def _with_behind(legs: np.ndarray, behind: np.ndarray) -> dict[str, np.ndarray]:
    """Return the sums within each block, with a number for what is behind each."""
    within = np.cumsum(legs.reshape(-1, BLOCK)[:, ::-1], axis=1, dtype=np.uint32)[:, ::-1]
    return {"toGo": (within + behind.astype(np.uint32)[:, None]).reshape(-1)}


def _sums(legs: np.ndarray) -> np.ndarray:
    return legs.reshape(-1, BLOCK).sum(axis=1, dtype=np.uint32)


def _behind(legs: np.ndarray) -> np.ndarray:
    sums = _sums(legs)
    return np.cumsum(sums[::-1], dtype=np.uint32)[::-1] - sums


def case(name: str, legs: np.ndarray, hidden: bool = False) -> Case:
    """Return a case of these legs, a workgroup for every 8."""
    blocks = len(legs) // BLOCK
    given = {
        "legs": legs.astype(np.uint32),
        "published": np.zeros(blocks, np.uint32),
        "tickets": np.zeros(1, np.uint32),
        "blocks": np.uint32(blocks),
    }
    return Case(name, given, (blocks, 1, 1), hidden=hidden)


RANDOM = np.random.default_rng(1)
CASES = (
    case("40 legs in five blocks", RANDOM.integers(1, 10, 40)),
    case("a single block", RANDOM.integers(1, 100, 8), hidden=True),
    case("legs of length 0, and one at the end", np.r_[np.zeros(31), 7], hidden=True),
    case("nine blocks, some legs long", RANDOM.integers(0, 2, 72) * RANDOM.integers(1, 1_000_000, 72), hidden=True),
)
MISTAKES = (
    Mistake("alone", "Each block counts itself alone, and nothing behind it.", lambda legs: _with_behind(legs, 0 * _sums(legs))),
    Mistake(
        "next alone",
        "Each block counts the next one, but not those behind that.",
        lambda legs: _with_behind(legs, np.r_[_sums(legs)[1:], 0]),
    ),
    Mistake(
        "twice",
        "Each block counts itself among those behind it.",
        lambda legs: _with_behind(legs, 2 * _behind(legs) + _sums(legs)),
    ),
)
LIMITS = (
    Limit("reads", most=BLOCK, name="legs", why="Each leg is read once, by the workgroup of its block."),
    Limit(
        "atomics",
        least=1,
        name="tickets",
        why="The number of a workgroup does not say when it begins, even if yours come in order: a ticket that it draws does.",
    ),
)
WAVES = (4,)
SERIAL = True
