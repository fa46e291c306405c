"""64 keys sorted."""

import numpy as np

from splatscope.exercises.task import Case, Mistake


def reference(keys: np.ndarray) -> dict[str, np.ndarray]:
    """Return the keys in ascending order."""
    return {"sorted": np.sort(keys)}


def network(keys: np.ndarray, most: int = 64, least: int = 1, turn: bool = True) -> dict[str, np.ndarray]:
    """Return what a bitonic network leaves with groups of up to `most` keys and places at least `least` apart.

    If `turn` is false, all pairs are ordered upwards.
    """
    row = keys.copy()
    k = 2
    while k <= most:
        j = k // 2
        while j >= least:
            for low in (place for place in range(64) if not place & j):
                pair = sorted((row[low], row[low ^ j]))
                row[[low, low ^ j]] = pair[::-1] if turn and low & k else pair
            j //= 2
        k *= 2
    return {"sorted": row}


def shuffled(seed: int, below: int) -> np.ndarray:
    """Return 64 random keys."""
    return np.random.default_rng(seed).integers(0, below, 64, dtype=np.uint32)


CASES = (
    Case("64 keys in random order", {"keys": shuffled(1, 1000)}),
    Case("keys that fall", {"keys": np.arange(64, 0, -1, dtype=np.uint32)}, hidden=True),
    Case("many equal keys", {"keys": shuffled(2, 5)}, hidden=True),
)
MISTAKES = (
    Mistake("falling", "The keys are sorted, but the largest comes first.", lambda keys: {"sorted": np.sort(keys)[::-1]}),
    Mistake(
        "all upwards",
        "Each pair is ordered upwards. A merge needs one half that rises and one that falls.",
        lambda keys: network(keys, turn=False),
    ),
    Mistake("two halves", "The last merge is missing: one half rises, the other falls.", lambda keys: network(keys, most=32)),
    Mistake(
        "no neighbours",
        "Places next to each other never meet: the passes with j = 1 are missing.",
        lambda keys: network(keys, least=2),
    ),
)
