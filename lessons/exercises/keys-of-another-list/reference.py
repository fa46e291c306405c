"""Several lists sorted in the same places."""

import numpy as np

from splatscope.exercises.task import Case, Mistake

Lists = dict[str, np.ndarray]


def padded(keys: np.ndarray, lengths: np.ndarray, padding: int | None, unpadded: int = 0) -> Lists:
    """Return the first keys of each list once all 32 places are sorted.

    Those behind the list hold `padding`, or what an earlier list left there if that is None; so do the first `unpadded`.
    """
    places = np.full(32, 0xFFFFFFFF if padding is None else padding, np.uint32)
    result = np.zeros_like(keys)
    for n, length in enumerate(lengths):
        places[:length] = keys[32 * n : 32 * n + length]
        if padding is not None:
            places[length + unpadded :] = padding
        places.sort()
        result[32 * n : 32 * n + length] = places[:length]
    return {"sorted": result}


def reference(keys: np.ndarray, lengths: np.ndarray) -> Lists:
    """Return each list in ascending order, and zeros behind it."""
    return padded(keys, lengths, 0xFFFFFFFF)


def inputs(lengths: list[int], seed: int, below: int = 2**32 - 1) -> dict[str, np.ndarray | np.uint32]:
    """Return lists of random keys, with zeros behind them."""
    keys = np.random.default_rng(seed).integers(1, below, (len(lengths), 32), dtype=np.uint32)
    for row, length in zip(keys, lengths, strict=True):
        row[length:] = 0
    return {"keys": keys.reshape(-1), "lengths": np.array(lengths, np.uint32), "lists": np.uint32(len(lengths))}


CASES = (
    Case("lists of 32, 13 and 20 keys", inputs([32, 13, 20], 1, 3_000_000)),
    Case("a short list first, an empty one, large keys", inputs([5, 0, 31, 1, 16], 2), hidden=True),
)
MISTAKES = (
    Mistake(
        "stale",
        "Keys of an earlier list turn up: they were still in the places behind this list, and were sorted with it.",
        lambda keys, lengths: padded(keys, lengths, None),
    ),
    Mistake(
        "zeros",
        "A shorter list begins with zeros: the padding is smaller than the keys.",
        lambda keys, lengths: padded(keys, lengths, 0),
    ),
    Mistake(
        "small",
        "Some keys are larger than the padding, and end up behind it: this padding is too small.",
        lambda keys, lengths: padded(keys, lengths, 1_000_000),
    ),
    Mistake(
        "one stale",
        "The place right behind the list still holds an old key, which is sorted with the list.",
        lambda keys, lengths: padded(keys, lengths, 0xFFFFFFFF, unpadded=1),
    ),
)
