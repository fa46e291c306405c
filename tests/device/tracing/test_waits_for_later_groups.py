"""A wait for a later workgroup is told alike, whichever of the others the luck of a run lets go on."""

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
