"""A table of products."""

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake


def reference(down: np.ndarray, across: np.ndarray) -> dict[str, np.ndarray]:
    """Return the outer product, row by row."""
    return {"table": np.outer(down, across).astype(np.int32)}


CASES = (
    Case(
        "6 rows, 20 columns",
        {
            "down": np.arange(1, 7, dtype=np.int32),
            "across": np.arange(1, 21, dtype=np.int32),
            "rows": np.uint32(6),
            "columns": np.uint32(20),
        },
        groups=(3, 1, 1),
    ),
    Case(
        "17 rows, 5 columns, some numbers negative",
        {
            "down": np.arange(-8, 9, dtype=np.int32),
            "across": np.array([3, -1, 0, 7, -5], np.int32),
            "rows": np.uint32(17),
            "columns": np.uint32(5),
        },
        groups=(1, 3, 1),
        hidden=True,
    ),
    Case(
        "16 rows, 16 columns",
        {
            "down": np.arange(16, dtype=np.int32) + 3,
            "across": 40 - np.arange(16, dtype=np.int32),
            "rows": np.uint32(16),
            "columns": np.uint32(16),
        },
        groups=(2, 2, 1),
        hidden=True,
    ),
)
MISTAKES = (
    Mistake(
        "column by column",
        "The products are right, but they lie column by column. The table must lie row by row.",
        lambda down, across: {"table": np.outer(down, across).astype(np.int32).T.reshape(len(down), len(across))},
    ),
    Mistake(
        "sums",
        "These are sums. The task is to multiply.",
        lambda down, across: {"table": np.add.outer(down, across).astype(np.int32)},
    ),
    Mistake(
        "one row",
        "Every row is the same: the number at the left of the row is not used, but the first one.",
        lambda down, across: {"table": np.outer(np.full_like(down, down[0]), across).astype(np.int32)},
    ),
    Mistake(
        "first tile",
        "Only the first 8 rows and columns are filled: the index that the threads use starts again at 0 in each workgroup.",
        lambda down, across: {"table": _first_tile(down, across)},
    ),
)


def _first_tile(down: np.ndarray, across: np.ndarray) -> np.ndarray:
    table = np.outer(down, across).astype(np.int32)
    table[8:], table[:, 8:] = 0, 0
    return table


LIMITS = (Limit("accesses", most=12, why="The work is for all threads: one alone leaves the others idle."),)
