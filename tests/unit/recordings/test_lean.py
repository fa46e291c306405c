"""A recording without what others hold, too: the browser reads it as before, with the sources beside it."""

import json
import zlib
from pathlib import Path

import numpy as np
import pytest

from splatscope.recordings.wire import head_of, lean

PACKED = (Path(__file__).parents[2] / "js" / "reduction.bin").read_bytes()


def columns(packed):
    """The columns of a packed recording, by name."""
    raw = zlib.decompress(packed)
    start = 4 + int.from_bytes(raw[:4], "little")
    table = json.loads(raw[4:start])["columns"]
    return {name: np.frombuffer(raw, dtype, count, start + at).tolist() for name, (dtype, at, count) in table.items()}


@pytest.mark.parametrize("outputs", [True, False])
def test_all_but_the_sources_stays_and_the_outputs_where_they_are_asked_for(outputs):
    small, sources = lean(PACKED, outputs=outputs)
    before, after = head_of(PACKED), head_of(small)
    assert sources == before["sources"]
    assert list(after["sources"]) == list(sources)
    assert not any(after["sources"].values())
    left_out = {"sources", "columns", "outputs"} if not outputs else {"sources", "columns"}
    assert {name: one for name, one in after.items() if name not in left_out} == {
        name: one for name, one in before.items() if name not in left_out
    }
    kept = {name: one for name, one in columns(PACKED).items() if outputs or not name.startswith("output")}
    assert columns(small) == kept
    assert len(small) < len(PACKED)
