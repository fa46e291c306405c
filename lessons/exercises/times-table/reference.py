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
        "rows wide",
        "From one row to the next the index steps by `rows`. A row has `columns` entries: row · columns + column.",
        lambda down, across: {"table": _rows_wide(down, across)},
        leads_to=("race", "benign-race", "out-of-bounds"),
    ),
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


def _rows_wide(down: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Return what is left of row · rows + column; of the places that two threads write or more, nobody knows what."""
    rows, columns = len(down), len(across)
    at = np.add.outer(np.arange(rows) * rows, np.arange(columns))
    written = np.bincount(at[at < rows * columns], minlength=rows * columns)
    table = np.zeros(rows * columns, np.int32)
    table[at[at < rows * columns]] = np.outer(down, across)[at < rows * columns]
    return np.ma.masked_array(table, written > 1).reshape(rows, columns)


def _first_tile(down: np.ndarray, across: np.ndarray) -> np.ndarray:
    table = np.outer(down, across).astype(np.int32)
    table[8:], table[:, 8:] = 0, 0
    return table


LIMITS = (Limit("accesses", most=12, why="The work is for all threads: one alone leaves the others idle."),)
