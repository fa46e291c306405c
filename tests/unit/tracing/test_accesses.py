"""Which accesses touch the same memory, by parts of an element."""

import numpy as np
import pytest

from helpers.traces import run_info
from splatscope.tracing.checks.analysis.accesses import accesses
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace


def touched(matrix: str, parts: list[tuple[str, str]]) -> list[dict[int, int]]:
    """Values by address of writes to parts of a matrix, one for each (path, type); the words of each value are 1, 2, …"""
    sites = [Site("", 0, 0, "nothing")]
    sites += [Site("k.slang", 2, 1, "write", "m", "f", type_text, path, "shared", ("4",)) for path, type_text in parts]
    event, zeros = np.arange(len(parts), dtype=np.uint32), np.zeros(len(parts), np.uint32)
    words = np.tile(np.arange(1, 17, dtype=np.uint32), (len(parts), 1))
    trace = Trace(run_info(f"groupshared {matrix} m[4];\n"), sites, zeros, event + 1, event, zeros, words, zeros)
    table = accesses(trace, "shared", np.ones(len(parts), bool), Sources.of(trace))
    assert table.valued.all()
    mine = [table.take(table.event == number) for number in event]
    return [dict(zip(one.address.tolist(), one.value.tolist(), strict=True)) for one in mine]


@pytest.mark.parametrize(("rows", "columns"), [(2, 3), (3, 2), (3, 3), (4, 1), (1, 4), (2, 4)])
def test_a_matrix_has_a_scalar_for_each_row_and_column(rows, columns):
    matrix = f"float{rows}x{columns}"
    scalars = [(f"[{row}].{'xyzw'[column]}", "float") for row in range(rows) for column in range(columns)]
    whole, *parts = touched(matrix, [("", matrix), *scalars, *((f"[{row}]", f"float{columns}") for row in range(rows))])
    by_scalar, by_row = parts[: len(scalars)], parts[len(scalars) :]
    assert sorted(whole.values()) == list(range(1, rows * columns + 1))
    addresses = [address for part in by_scalar for address in part]
    assert len(addresses) == len(set(addresses)) == rows * columns
    assert set(addresses) == set(whole)
    assert [whole[address] for address in addresses] == list(range(1, rows * columns + 1))  # row by row
    for row, part in enumerate(by_row):
        assert part == dict(zip(addresses[row * columns : (row + 1) * columns], range(1, columns + 1), strict=True))
