"""An exclusive scan of each block of a row, and the sums of the blocks."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake

BLOCK = 32


def reference(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return the sum before each number within its block, and the blocks' sums."""
    blocks = _blocks(numbers)
    before = np.cumsum(blocks, axis=1, dtype=np.uint32) - blocks
    return {"before": before.reshape(-1)[: len(numbers)], "blockSums": blocks.sum(axis=1, dtype=np.uint32)}


def _blocks(numbers: np.ndarray) -> np.ndarray:
    return np.pad(numbers, (0, -len(numbers) % BLOCK)).reshape(-1, BLOCK)


def _inclusive(numbers: np.ndarray) -> dict[str, np.ndarray]:
    right = reference(numbers)
    return right | {"before": right["before"] + numbers}


def _last_left_out(numbers: np.ndarray) -> dict[str, np.ndarray]:
    blocks = _blocks(numbers)
    return reference(numbers) | {"blockSums": blocks[:, :-1].sum(axis=1, dtype=np.uint32)}


def _whole_row(numbers: np.ndarray) -> dict[str, np.ndarray]:
    return reference(numbers) | {"before": np.cumsum(numbers, dtype=np.uint32) - numbers}


def _no_sums(numbers: np.ndarray) -> dict[str, np.ndarray]:
    right = reference(numbers)
    return right | {"blockSums": np.zeros_like(right["blockSums"])}


def _numbers(seed: int, count: int, most: int = 10) -> dict[str, np.ndarray | np.uint32]:
    return {"numbers": np.random.default_rng(seed).integers(1, most, count, dtype=np.uint32), "count": np.uint32(count)}


CASES = (
    Case("64 numbers, two blocks", _numbers(1, 64), groups=(2, 1, 1)),
    Case("75 numbers, the last block with 11", _numbers(2, 75), groups=(3, 1, 1), hidden=True),
    Case("33 large numbers, the last block with one", _numbers(3, 33, most=100_000_000), groups=(2, 1, 1), hidden=True),
)
MISTAKES = (
    Mistake("inclusive", "The sums in `before` include each number itself.", _inclusive),
    Mistake("last left out", "The sum of each block leaves out its last number.", _last_left_out),
    Mistake("whole row", "The sums go on from block to block: each block is to begin with 0.", _whole_row),
    Mistake("no sums", "`before` is right, but the sums of the blocks are not written.", _no_sums),
)
LIMITS = (
    Limit("reads", most=BLOCK, name="numbers", why="Each thread reads its own number, once."),
    Limit("accesses", most=56, why="The work is for all threads: one alone leaves the others idle."),
)
