"""A wait for a later workgroup is told alike, whichever of the others the luck of a run lets go on."""

import pytest

from splatscope.gpu.device import open_device
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check

KERNEL = """RWStructuredBuffer<Atomic<uint>> gate; RWStructuredBuffer<uint> passed;
[shader("compute")] [numthreads(1, 1, 1)]
void main(uint3 group : SV_GroupID)
{
    if (group.x == RAISER)
        gate[0].store(7);
    while (gate[0].load() != 7) {}
    passed[group.x] = 1;
}
"""
COUNTING = """RWStructuredBuffer<Atomic<uint>> gate; RWStructuredBuffer<uint> passed;
[shader("compute")] [numthreads(1, 1, 1)]
void main(uint3 group : SV_GroupID)
{
    uint looks = 0, now = 0;
    if (group.x == RAISER)
        gate[0].store(7);
    LOOP
    passed[group.x] = now;
}
"""
PATIENT = "while (true) { now = gate[0].load(); if (now == 7) break; looks++; }"
LIMITED = "for (; looks < LIMIT && now != 7; looks++) now = gate[0].load();"


def said(raiser: int) -> list[str]:
    job = KernelJob(KERNEL.replace("RAISER", str(raiser)), groups=(3, 1, 1), records=4_000_000)
    return [finding.message for finding in record_and_check(open_device(), job, between_groups=True, follow=True).findings]


def test_a_wait_for_a_later_group_is_one_finding_that_names_the_first_who_waits():
    for _ in range(3):
        (message,) = said(2)
        assert message.startswith("Thread 0 of group 0 (thread 0 of all) waits in the loop on line 7 for gate[0]")
        assert "thread 0 of group 2 (thread 2 of all) changes" in message
        assert "a device may begin that group only when this one has ended." in message


def test_a_wait_for_the_first_group_is_in_order():
    assert said(0) == []


def test_a_wait_that_nobody_ends_is_said_to_be_so():
    (message,) = said(9)
    assert message.endswith("for gate[0], which stays 0: no thread changes it.")


def kinds(loop: str, raiser: int, groups: int = 2) -> tuple[list[str], bool]:
    source = COUNTING.replace("RAISER", str(raiser)).replace("LOOP", loop)
    job = KernelJob(source, groups=(groups, 1, 1), records=4_000_000)
    verdict = record_and_check(open_device(), job, between_groups=True, follow=True).verdict
    return [finding.kind for finding in verdict.findings], not verdict.missed


@pytest.mark.parametrize("loop", [PATIENT, LIMITED.replace("LIMIT", "4000000000u"), LIMITED.replace("LIMIT", "3000")])
def test_a_counter_in_a_wait_for_a_later_group_hides_nothing(loop):
    assert any(kinds(loop, raiser=1) == (["group-order"], True) for _ in range(6))  # a device begins groups when it likes
    assert kinds(loop, raiser=0) == ([], True)


def test_a_count_that_looks_at_a_cell_is_no_wait():
    assert kinds("for (; looks < 300; looks++) if (gate[0].load() == 9) now++;", raiser=1) == ([], True)


def test_a_wait_with_a_limit_is_not_endless():
    assert kinds(LIMITED.replace("LIMIT", "3000"), raiser=9) == ([], True)
    assert kinds(LIMITED.replace("LIMIT", "300000"), raiser=9) == ([], False)
    assert kinds(PATIENT, raiser=9) == (["livelock"], True)
