"""Odd numbers through a queue of 32 places."""

import numpy as np

from splatscope.exercises.task import Case, Mistake

PLACES = 32


def reference(row: np.ndarray) -> dict[str, np.ndarray]:
    """Return what came out of the queue. If it overflows, all odd numbers must be equal: which are dropped is open."""
    odd = row[row % 2 == 1]
    kept = odd[:PLACES]
    return {
        "taken": np.bincount(kept, minlength=200).astype(np.uint32),
        "kept": np.array([len(kept)], np.uint32),
        "dropped": np.array([len(odd) - len(kept)], np.uint32),
    }


def none_dropped(row: np.ndarray) -> dict[str, np.ndarray]:
    """Return the same, but nothing as dropped."""
    return reference(row) | {"dropped": np.zeros(1, np.uint32)}


def case(name: str, row: np.ndarray, hidden: bool = False) -> Case:
    """Return a case of this row."""
    return Case(name, {"row": row.astype(np.uint32), "count": np.uint32(len(row))}, hidden=hidden)


RANDOM = np.random.default_rng(1)
CASES = (
    case("24 odd numbers among 100", RANDOM.permutation(np.concatenate([np.arange(1, 49, 2), np.arange(0, 152, 2)]))),
    case("45 times a 7: more than fit", RANDOM.permutation(np.repeat([7, 10], 45))),
    case("none odd", np.arange(0, 80, 2), hidden=True),
    case("as many as fit", RANDOM.permutation(np.repeat([3, 6], [32, 20])), hidden=True),
)
MISTAKES = (
    Mistake("none dropped", "What found no place is not counted as dropped.", none_dropped),
    Mistake(
        "first 64", "Only the first 64 numbers of the row are looked at, one for each thread.", lambda row: reference(row[:64])
    ),
)
