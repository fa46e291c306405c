"""A finding says where in one way, however many workgroups were recorded."""

import splatscope
from splatscope.tracing.checks import Finding

KERNEL = """groupshared uint total;
RWStructuredBuffer<uint> o;
[shader("compute")] [numthreads(8, 1, 1)]
void main(uint3 g : SV_GroupID, uint t : SV_GroupIndex)
{
    if (g.x == FIRST && t == 0)
        total = 1;
    if (g.x == FIRST && t == 5)
        total = 2;
    GroupMemoryBarrierWithGroupSync();
    o[g.x * 8 + t] = g.x == FIRST ? total : 0;
    if (BOUND)
        o[400 + t] = 1;
}
"""


def found(first: int, bound: str) -> dict[str, Finding]:
    source = KERNEL.replace("FIRST", str(first)).replace("BOUND", bound)
    recording = splatscope.record(source=source, groups=4, vars={"o.count": 32})
    return {finding.kind: finding for finding in recording.findings}


def test_threads_are_numbered_within_their_groups_as_the_message_says():
    race = found(3, "false")["race"]
    assert (race.groups, sorted(race.threads)) == ([(3, 0, 0)] * 2, [0, 5])
    assert (race.group, race.thread) == ((3, 0, 0), race.threads[0])
    assert f"Thread {race.thread} of group 3 (thread {24 + race.thread} of all)" in race.message


def test_a_race_in_another_group_changes_nothing():
    outside = "g.x == 3 && t == 6"
    alone, beside = found(9, outside)["out-of-bounds"], found(0, outside)["out-of-bounds"]
    assert (alone.group, alone.thread) == (beside.group, beside.thread) == ((3, 0, 0), 6)
    assert alone.as_dict()["thread"] == 6
