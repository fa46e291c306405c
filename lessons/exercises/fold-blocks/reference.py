"""Blocks, each added to its mirror image."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake


def reference(strip: np.ndarray) -> dict[str, np.ndarray]:
    """Return the sum of each number and the one that lies opposite in its block."""
    blocks = strip.reshape(-1, 32)
    return {"folded": (blocks + blocks[:, ::-1]).reshape(-1)}


CASES = (
    Case("the numbers 1 to 64 squared", {"strip": np.arange(1, 65, dtype=np.int32) ** 2}, groups=(2, 1, 1)),
    Case(
        "96 numbers, some negative",
        {"strip": np.random.default_rng(1).integers(-500, 500, 96).astype(np.int32)},
        groups=(3, 1, 1),
        hidden=True,
    ),
    Case("a single block", {"strip": np.random.default_rng(2).integers(-500, 500, 32).astype(np.int32)}, hidden=True),
)
MISTAKES = (
    Mistake("own twice", "Each number is added to itself, not to the one opposite.", lambda strip: {"folded": 2 * strip}),
    Mistake(
        "only turned",
        "Each block is turned around, but nothing is added.",
        lambda strip: {"folded": np.ascontiguousarray(strip.reshape(-1, 32)[:, ::-1]).reshape(-1)},
    ),
    Mistake(
        "first block",
        "Every workgroup folds the first block: its own number is missing from the index into strip.",
        lambda strip: {"folded": np.tile(reference(strip[:32])["folded"], len(strip) // 32)},
    ),
    Mistake(
        "whole strip",
        "The strip is folded as a whole. Each block of 32 is to be folded in itself.",
        lambda strip: {"folded": strip + strip[::-1]},
    ),
)
LIMITS = (
    Limit("reads", most=32, name="strip", why="Read each number once, and hand it over through shared memory."),
    Limit("accesses", most=16, why="The work is for all threads: one alone leaves the others idle."),
)
