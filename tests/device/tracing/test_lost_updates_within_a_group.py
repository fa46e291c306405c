"""Updates that threads of a workgroup lose in another order than this run's; and those that something orders."""

import pytest

from splatscope.gpu.device import open_device
from splatscope.tracing.checks import Finding, find
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import record

KERNEL = """RWStructuredBuffer<Atomic<uint>> sums; RWStructuredBuffer<uint> state; RWStructuredBuffer<uint> output;
StructuredBuffer<uint> given;
groupshared Atomic<uint> total, turn;
groupshared uint chosen[64];
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    uint old = 0;
    if (lane == 0) { total.store(0); turn.store(0); }
    chosen[lane] = lane % 7;
    AllMemoryBarrierWithGroupSync();
    BODY
    AllMemoryBarrierWithGroupSync();
    output[lane] = total.load() + chosen[63 - lane];
}
"""
UPDATE = "uint now = total.load(); total.store(now + 1);"
EACH = "for (uint i = 0; i < 64; i++) if (i == lane"
WRONG = {
    "one lane after another": f"{EACH}) {{ {UPDATE} }}",
    "chosen by what was given": f"{EACH} && given[lane] == 0) {{ {UPDATE} }}",
    "chosen by what lies behind a barrier": f"{EACH} && chosen[63 - lane] == 2) {{ {UPDATE} }}",
    "in a buffer": f"{EACH}) {{ uint now = sums[2].load(); sums[2].store(now + 3); }}",
    "HLSL": f"{EACH}) {{ uint now; InterlockedOr(state[0], 0, now); InterlockedExchange(state[0], now + 1, old); }}",
    "before it waits": f"{EACH}) {{ {UPDATE} }} while (turn.load() > 0) {{}}",
}
RIGHT = {
    "one operation": f"{EACH}) total.add(1);",
    "turns at a barrier": f"for (uint i = 0; i < 64; i++) {{ if (i == lane) {{ {UPDATE} }} GroupMemoryBarrierWithGroupSync(); }}",
    "turns by a number": f"if (lane % 8 == 0) {{ while (turn.load() != lane) {{}} {UPDATE} turn.store(lane + 8); }}",
    "a lock of one lane of each eight": f"""if (lane % 8 == 0) {{
        while (turn.compareExchange(0, 1) != 0) {{}} {UPDATE} turn.store(0); }}""",
    "a lock that is tried again": f"""for (bool done = false; !done;) {{
        if (turn.compareExchange(0, 1) == 0) {{ {UPDATE} turn.store(0); done = true; }} }}""",
    "a lock in a do loop": f"""if (lane % 8 == 0) {{
        do {{ old = turn.exchange(1); }} while (old != 0); {UPDATE} turn.store(0); }}""",
    "chosen by a ticket": f"if (turn.add(1) == 5) {{ {UPDATE} }}",
    "a cell of its own": f"{EACH}) {{ uint now = sums[lane].load(); sums[lane].store(now + 1); }}",
    "a cell by ticket": "uint at = turn.add(1) % 64; uint now = sums[at].load(); sums[at].store(now + 1);",
    "lanes of one wave that meet": f"""for (uint i = 0; i < 4; i++) {{
        if (i == lane) {{ {UPDATE} }} chosen[lane] += WaveActiveSum(1); }}""",
    "the same value": f"{EACH}) {{ uint now = total.load(); total.store(now + 0); }}",
    "one thread twice": f"if (lane == 9) {{ for (uint i = 0; i < 3; i++) {{ {UPDATE} }} }}",
}


def lost(body: str, **more) -> list[Finding]:
    job = KernelJob(KERNEL.replace("BODY", body), records=1_000_000, **more)
    return [finding for finding in find(record(open_device(), job).trace) if finding.kind == "lost-update"]


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG)
def test_an_update_that_nothing_orders_may_be_lost(body):
    findings = lost(body)
    assert findings
    assert all(len(set(finding.threads)) == 2 for finding in findings)


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
def test_an_update_that_something_orders_is_none(body):
    assert lost(body) == []


def test_it_is_said_to_be_predicted_and_groups_are_kept_apart():
    findings = lost(WRONG["one lane after another"], groups=(2, 1, 1), all_groups=True)
    assert findings
    assert not any(finding.is_between_groups for finding in findings)
    assert all("find the same" in finding.message or "Predicted, not seen." in finding.message for finding in findings)
