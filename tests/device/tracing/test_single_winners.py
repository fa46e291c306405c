"""Exchanges that one thread always won are noted: what other winners would do was not seen."""

import pytest

from splatscope.gpu.device import open_device
from splatscope.tracing.checks import find, not_judged
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import record

TAKEN = """RWStructuredBuffer<uint> head; RWStructuredBuffer<uint> output;
[shader("compute")] [numthreads(8, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    for (uint turn = 0; turn < 16; turn++)
    {
        uint found, expected = MINE ? turn : 999;
        InterlockedCompareExchange(head[0], expected, turn + 1, found);
        if (found != expected)
            continue;
        InterlockedAdd(output[lane], 1);
    }
}
"""


@pytest.mark.parametrize(("mine", "notes"), [("lane == 0", 1), ("turn % 8 == lane", 0), ("lane == 0 && turn == 0", 0)])
def test_a_note_says_that_one_thread_always_won(mine, notes):
    source = TAKEN.replace("MINE", mine)
    trace = record(open_device(), KernelJob(source, "k.slang", records=400_000)).trace
    assert find(trace) == []
    sentence = (
        "k.slang, line 8: of 8 threads that tried to change head, thread 0 alone succeeded, 16 times. What happens when several "
        "succeed in turn was not seen."
    )
    assert not_judged(trace)[0] == [sentence] * notes
