"""A sort of the keys of one workgroup."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake

PLACES = 64


def reference(keys: np.ndarray) -> dict[str, np.ndarray]:
    """Return the keys from small to large."""
    return {"sorted": np.sort(keys)}


def _network(keys: np.ndarray, last: int = PLACES, directions: bool = True) -> dict[str, np.ndarray]:
    """Return what a bitonic network leaves that ends with groups of `last`, or that sorts every pair upwards."""
    row = np.concatenate([keys, np.full(PLACES - len(keys), 0xFFFFFFFF, np.uint32)])
    k = 2
    while k <= last:
        j = k // 2
        while j:
            for i in range(PLACES):
                upwards = (i & k) == 0 or not directions
                if i & j == 0 and (row[i] > row[i ^ j]) == upwards:
                    row[[i, i ^ j]] = row[[i ^ j, i]]
            j //= 2
        k *= 2
    return {"sorted": row[: len(keys)]}


def _keys(keys: np.ndarray) -> dict[str, np.ndarray | np.uint32]:
    return {"keys": keys.astype(np.uint32), "count": np.uint32(len(keys))}


CASES = (
    Case("64 keys", _keys(np.random.default_rng(1).permutation(100)[:64])),
    Case("50 keys, some of them equal", _keys(np.random.default_rng(2).integers(0, 20, 50)), hidden=True),
    Case("64 keys from large to small", _keys(np.arange(64)[::-1]), hidden=True),
    Case(
        "30 keys of 32 bits, some of them close together",
        _keys(2**32 - 2 - np.random.default_rng(3).permutation(60)[:30] ** 5),
        hidden=True,
    ),
)
MISTAKES = (
    Mistake("unsorted", "The keys are in the order in which they came.", lambda keys: {"sorted": keys}),
    Mistake("downwards", "The keys are sorted from large to small.", lambda keys: {"sorted": np.sort(keys)[::-1]}),
    Mistake(
        "last merge",
        "The last merge is missing: one half rises and the other falls.",
        lambda keys: _network(keys, last=PLACES // 2),
    ),
    Mistake(
        "one direction",
        "All pairs are put in ascending order, so the halves never form a sequence that rises and then falls.",
        lambda keys: _network(keys, directions=False),
    ),
)
LIMITS = (
    Limit("reads", most=3200, why="A network of 21 passes needs fewer."),
    Limit("accesses", most=160, why="The work is for all threads: one alone leaves the others idle."),
)
