"""More workgroups than can be recorded at once are recorded in parts: what is found is the same as at once."""

import pytest

from splatscope.api.recording import Recording
from splatscope.gpu.device import open_device
from splatscope.tracing import record_and_check as module
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check

HEAD = """RWStructuredBuffer<uint> output; RWStructuredBuffer<uint> count; groupshared uint tile[8];
[shader("compute")] [numthreads(8, 1, 1)]
void main(uint3 id : SV_DispatchThreadID, uint l : SV_GroupIndex, uint3 group : SV_GroupID)
{
"""
GROUPS = 24
FEW = 5 * 8 * 90  # records
FAULTS = {  # by name: what line 5 does, the kind of finding, and the groups that it may name
    "none": ("output[id.x] = l; InterlockedAdd(count[0], 1);", None, ()),
    "in the last group": ("output[group.x == 23 ? 4000 + l : id.x] = l;", "out-of-bounds", (23,)),
    "in the first group": ("output[group.x == 0 ? 4000 + l : id.x] = l;", "out-of-bounds", (0,)),
    "within a group in the middle": ("uint to = group.x == 13 ? 0 : l; tile[to] = l; output[id.x] = tile[to];", "race", (13,)),
    "between neighbours": ("output[group.x == 12 ? id.x - 8 : id.x] = id.x;", "race", (11, 12)),
    "between the ends": ("output[group.x == 23 ? l : id.x] = id.x;", "race", (0, 23)),
    "between two in the middle": ("if (group.x == 18) output[5 * 8 + l] = 3; else output[id.x] = id.x;", "race", (5, 18)),
    "a barrier in one": ("if (group.x == 17 && l > 3) return; GroupMemoryBarrierWithGroupSync();", "barrier-divergence", (17,)),
}


def checked(body: str, declared: str = "", seconds: float = 1e9) -> Recording:
    job = KernelJob(f"{declared}{HEAD}    {body}\n}}\n", groups=(GROUPS, 1, 1), records=FEW)
    return Recording(record_and_check(open_device(), job, between_groups=True, follow=True, seconds=seconds))


@pytest.fixture
def small_parts(monkeypatch):
    """Let 4 or 5 workgroups of the kernels above be what fits, in place of some thousands."""
    monkeypatch.setattr(module, "MOST_WIDE", FEW)


@pytest.mark.parametrize("name", FAULTS)
def test_parts_find_what_is_found_at_once(name, small_parts):
    body, kind, groups = FAULTS[name]
    found = checked(body)
    assert [finding.kind for finding in found.findings] == [kind] * bool(kind), [f.message for f in found.findings]
    named = {x for finding in found.findings for x, _, _ in finding.groups if len(groups) > 1 or not finding.events}
    assert named <= set(groups)
    assert found.missed == []


@pytest.mark.parametrize(
    ("line", "is_run"),
    [("picture[uint2(id.x, 0)] = 1;", True), ("picture[uint2(id.x, 0)] = 1; tile[group.x == 23 ? 9 : l] = 1;", False)],
)
def test_the_plain_kernel_is_run_if_only_a_texel_is_outside(small_parts, line, is_run):
    found = checked(f"{line} output[id.x] = l;", "RWTexture2D<float> picture; ")
    assert {finding.name for finding in found.findings} >= {"picture"}
    assert {finding.kind for finding in found.findings} == {"out-of-bounds"}
    assert found.recorded.same_as_plain is (True if is_run else None)


def test_what_there_was_no_time_for_is_missed(small_parts):
    found = checked(FAULTS["none"][0], seconds=0)
    (missed,) = found.missed
    assert missed.startswith(f"Of {GROUPS} workgroups ")
    assert missed.endswith(" were looked at in the time. Allow more seconds (timeout=, --timeout), or dispatch fewer workgroups.")
