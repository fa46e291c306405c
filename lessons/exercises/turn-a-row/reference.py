"""A row turned around."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake


def reference(row: np.ndarray) -> dict[str, np.ndarray]:
    """Return the row back to front."""
    return {"turned": row[::-1]}


CASES = (
    Case("64 numbers in order", {"row": np.arange(64, dtype=np.uint32)}),
    Case("64 random numbers", {"row": np.random.default_rng(1).integers(0, 1000, 64, dtype=np.uint32)}, hidden=True),
)
MISTAKES = (
    Mistake("unturned", "The row comes out as it went in: each thread takes its own number.", lambda row: {"turned": row}),
    Mistake("one off", "The row is turned, but one place too far.", lambda row: {"turned": np.roll(row[::-1], 1)}),
)
LIMITS = (Limit("barriers", most=1, why="One barrier does it."),)
