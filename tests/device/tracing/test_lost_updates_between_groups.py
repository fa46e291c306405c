"""Updates that workgroups lose in another order, though these ran one after another; and those that something orders."""

import pytest

from splatscope.gpu.device import open_device
from splatscope.tracing.checks import Finding, find
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import record

KERNEL = """RWStructuredBuffer<Atomic<uint>> sums; RWStructuredBuffer<uint> state; RWStructuredBuffer<uint> output;
groupshared uint chosen;
[shader("compute")] [numthreads(4, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID)
{
    uint old = 0;
    BODY
}
"""
UPDATE = "uint now = sums[0].load(); sums[0].store(now + 1 + group.x);"
WRONG = {
    "plain": f"if (lane == 0) {{ {UPDATE} }}",
    "in one statement": "if (lane == 0) { sums[0].store(sums[0].load() + 2); }",
    "a cell by number": "if (lane < 1) { uint at = group.x & 1; uint now = sums[at].load(); sums[at].store(now * 2 + 1); }",
    "behind a barrier": f"chosen = 3; GroupMemoryBarrierWithGroupSync(); if (lane == 2) {{ {UPDATE} }}",
    "before it waits": f"if (lane == 0) {{ {UPDATE} while (sums[1].load() > 0) {{}} }}",
    "HLSL": "if (lane == 0) { uint now; InterlockedAdd(state[0], 0, now); InterlockedExchange(state[0], now + 1, old); }",
}
RIGHT = {
    "one operation": "if (lane == 0) sums[0].add(1);",
    "a lock": f"if (lane == 0) {{ while (sums[1].compareExchange(0, 1) != 0) {{}} {UPDATE} sums[1].store(0); }}",
    "a lock in a do loop": f"""if (lane == 0) {{
        do {{ InterlockedCompareExchange(state[1], 0, 1, old); }} while (old != 0);
        {UPDATE} InterlockedExchange(state[1], 0, old); }}""",
    "a lock of the whole group": f"""if (lane == 0) while (sums[1].compareExchange(0, 1) != 0) {{}}
        AllMemoryBarrierWithGroupSync();
        if (lane == 1) {{ {UPDATE} }}
        AllMemoryBarrierWithGroupSync();
        if (lane == 0) sums[1].store(0);""",
    "turns": "if (lane == 0 && sums[0].load() == group.x) { uint now = sums[0].load(); sums[0].store(now + 1); }",
    "chosen": f"""if (lane == 0) chosen = sums[1].add(1);
        GroupMemoryBarrierWithGroupSync();
        if (chosen == 3 && lane == 1) {{ {UPDATE} }}""",
    "a cell of its own": "if (lane == 0) { uint at = sums[7].add(1) % 4; uint now = sums[at].load(); sums[at].store(now + 1); }",
    "one group": f"if (lane == 0 && group.x == 2) {{ {UPDATE} }}",
    "the same value": "if (lane == 0) { uint now = sums[0].load(); sums[0].store(now + 0); }",
}


def lost(body: str) -> list[Finding]:
    job = KernelJob(KERNEL.replace("BODY", body), groups=(4, 1, 1), all_groups=True, records=400_000)
    return [finding for finding in find(record(open_device(), job).trace) if finding.kind == "lost-update"]


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG)
def test_an_update_that_nothing_orders_may_be_lost(body):
    (finding,) = lost(body)
    assert set(finding.threads) <= {0, 2}
    assert finding.is_between_groups


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
def test_an_update_that_something_orders_is_none(body):
    assert lost(body) == []


def test_it_is_said_to_be_predicted():
    (finding,) = lost(WRONG["behind a barrier"])
    assert "find the same" in finding.message or "Predicted, not seen." in finding.message
