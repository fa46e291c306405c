"""Kernels are run on waves of other widths, too, and what they leave otherwise there is a finding."""

import os
from dataclasses import replace

import numpy as np
import pytest

from splatscope.gpu.device import adapter_of, open_device
from splatscope.gpu.wave_width import lanes_of, waves_of
from splatscope.tracing import other_widths
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check
from splatscope.tracing.recording import Recording, record, run_guarded

KERNEL = """StructuredBuffer<uint> given; RWStructuredBuffer<uint> left; groupshared uint sums[64];
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint thread : SV_GroupIndex)
{
    uint wave = thread / WaveGetLaneCount();
BODY
}
"""
SUM = """    uint sum = WaveActiveSum(given[thread]);
    if (WaveIsFirstLane())
        sums[wave] = sum;
    GroupMemoryBarrierWithGroupSync();
"""
RIGHT = """    for (uint i = 0; i < 64 / WaveGetLaneCount() && thread == 0; i++)
        left[0] += sums[i];"""
IN_A_BRANCH = """    if (thread < 32)
    {
        uint sum = WaveActiveSum(given[thread]);
        if (thread == 0)
            left[0] = sum;
    }"""
SECOND_LEVEL = """    if (wave == 0)
    {
        uint all = WaveActiveSum(thread < 64 / WaveGetLaneCount() ? sums[thread] : 0);
        if (thread == 0)
            left[0] = all;
    }"""
PREFIXES = """    uint before = WavePrefixSum(thread < 64 / WaveGetLaneCount() ? sums[thread] : 0);
    GroupMemoryBarrierWithGroupSync();
    if (thread < 64 / WaveGetLaneCount())
        sums[thread] = before;
    GroupMemoryBarrierWithGroupSync();
    left[thread] = sums[wave];"""
GIVEN = {"given": np.arange(64, dtype=np.uint32), "left": np.zeros(64, np.uint32)}


@pytest.fixture(autouse=True)
def on_waves_of_8():
    if not adapter_of(open_device()).is_software or lanes_of(open_device()) != 8:
        pytest.skip("Only the software driver has several widths; these kernels are for waves of 8.")


def checked(source: str, **options) -> Recording:
    inputs = {name: array for name, array in GIVEN.items() if f" {name};" in source}
    return record_and_check(
        open_device(), KernelJob(source, **{"inputs": inputs} | options), between_groups=True, other_widths=True
    )


def messages(source: str, **options) -> list[str]:
    return [finding.words for finding in checked(source, **options).findings]


@pytest.mark.parametrize("lanes", [4, 16])
def test_a_device_has_the_other_width_for_as_long_as_it_is_asked_to(lanes: int):
    device, setting = open_device(), os.environ.get("LP_NATIVE_VECTOR_WIDTH")
    body = "sums[thread] = WaveActiveCountBits(true); GroupMemoryBarrierWithGroupSync(); left[thread] = sums[63 - thread];"
    job = KernelJob(KERNEL.replace("BODY", body), inputs={"left": np.zeros(64, np.uint32)})
    with waves_of(device, lanes) as has_settled:
        assert has_settled
        assert (lanes_of(device), adapter_of(device).wave_size) == (lanes, lanes)
        outputs = run_guarded(device, job)
        assert outputs is not None
        assert outputs["left"].tolist() == 64 * [lanes]
    assert record(device, job).outputs["left"].tolist() == 64 * [8]
    assert lanes_of(device) == 8
    assert os.environ.get("LP_NATIVE_VECTOR_WIDTH") == setting


def test_a_device_returns_to_its_width_after_an_error():
    device = open_device()
    with pytest.raises(ValueError, match="nothing"), waves_of(device, 4):
        raise ValueError("nothing")
    assert lanes_of(device) == 8
    assert run_guarded(device, KernelJob(KERNEL.replace("BODY", "    left[thread] = WaveActiveCountBits(true);")))["left"][0] == 8


def test_a_kernel_that_runs_without_records_stays_within_bounds_and_ends():
    device = open_device()
    outside = KERNEL.replace("BODY", "    sums[thread + 1000000] = 1; left[thread + 100000000] = 1; left[thread] = 5;")
    assert set(run_guarded(device, KernelJob(outside, inputs={"left": np.zeros(64, np.uint32)}))["left"].tolist()) == {5}
    endless = KERNEL.replace("BODY", "    while (left[0] == 0) {}")
    assert run_guarded(device, KernelJob(endless, inputs={"left": np.zeros(64, np.uint32)}, loop_budget=1000)) is None


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (IN_A_BRANCH, "left[0] is 6 on waves of 4, and 28 on waves of 8: thread 0 writes it on line 10."),
        (SUM + SECOND_LEVEL, "left[0] is 120 on waves of 4, and 2,016 on waves of 8: thread 0 writes it on line 14."),
        (SUM + PREFIXES, "left[4] is 6 on waves of 4, and 0 on waves of 8: thread 4 writes it on line 15."),
    ],
    ids=["in a branch", "second level", "prefixes"],
)
def test_what_differs_is_a_finding(body: str, message: str):
    source = KERNEL.replace("BODY", body)
    assert not record_and_check(open_device(), KernelJob(source, inputs=GIVEN), between_groups=True).findings
    assert messages(source) == [f"wave-width: {message}"]


@pytest.mark.parametrize("groups", [(1, 1, 1), (3, 1, 1)])
def test_nothing_is_said_of_a_kernel_that_is_right_on_both(groups: tuple[int, int, int]):
    source = (
        KERNEL.replace("BODY", SUM + RIGHT)
        .replace("left[0]", "left[group]")
        .replace("GroupIndex)", "GroupIndex, uint group : SV_GroupID)")
    )
    assert not messages(source, groups=groups)
    assert checked(source, groups=groups).verdict.summary == "Nothing found"


def test_a_finding_tells_the_workgroup_of_its_thread():
    source = KERNEL.replace("BODY", IN_A_BRANCH)
    recording = checked(source, groups=(2, 1, 1), group=(1, 0, 0), inputs={"given": GIVEN["given"]})
    (finding,) = [finding for finding in recording.findings if finding.kind == "wave-width"]
    assert list(zip(finding.groups, finding.threads, strict=True)) == [((1, 0, 0), 0)]


def test_an_element_that_another_workgroup_writes_has_the_line_alone():
    body = "    if (group > 0 && thread < 32)\n        left[group] = WaveActiveSum(thread);"
    source = KERNEL.replace("BODY", body).replace("GroupIndex)", "GroupIndex, uint group : SV_GroupID)")
    recording = record_and_check(open_device(), KernelJob(source, groups=(2, 1, 1)), other_widths=True)
    (finding,) = recording.findings
    assert finding.message == "left[1] differs on waves of 4 from what it is on waves of 8."


def test_a_store_out_of_bounds_there_is_seen_by_what_it_leaves():
    source = (
        KERNEL.replace("sums[64]", "sums[8]").replace("numthreads(64, 1, 1)", "numthreads(8, 8, 1)").replace("BODY", SUM + RIGHT)
    )
    (finding,) = messages(source)
    assert finding.startswith("wave-width: left[0] is ")


def test_what_goes_wrong_on_wider_waves_alone_is_seen():
    body = "    if (WaveGetLaneCount() < 16 || thread > 0)\n        left[thread] = WaveActiveAllTrue(true) ? 1 : 0;"
    (finding,) = messages(KERNEL.replace("BODY", body))
    assert finding == "wave-width: left[0] is 0 on waves of 16, and 1 on waves of 8: thread 0 writes it on line 7."


def test_a_sum_in_another_order_is_no_difference():
    source = KERNEL.replace("BODY", SUM + RIGHT).replace("uint>", "float>").replace("uint sum", "float sum")
    given = {"given": np.random.default_rng(3).normal(size=64).astype(np.float32), "left": np.zeros(64, np.float32)}
    assert not messages(source, inputs=given)


@pytest.mark.parametrize(
    ("declared", "body"),
    [("[WaveSize(32)] ", IN_A_BRANCH), ("RWBuffer<uint> texels; ", IN_A_BRANCH.replace("left[0] = sum;", "texels[0] = sum;"))],
    ids=["a width of its own", "a texel buffer"],
)
def test_some_kernels_are_not_run_there(declared: str, body: str):
    place = "[numthreads" if "Wave" in declared else "groupshared"
    assert not messages(KERNEL.replace(place, declared + place).replace("BODY", body))


@pytest.mark.parametrize(
    ("type_", "value", "words"),
    [
        ("float2", "float2(sum, 0.5)", "left[0] is [6.0, 0.5] on waves of 4, and [28.0, 0.5] on waves of 8"),
        ("Both", "both", "left[0] is (6, 0.25) on waves of 4, and (28, 0.25) on waves of 8"),
        ("half", "half(sum)", "left[0] is 6 on waves of 4, and 28 on waves of 8"),
        ("double", "double(sum) / 4", "left[0] is 1.5 on waves of 4, and 7 on waves of 8"),
    ],
)
def test_the_two_values_are_told_whatever_their_type(type_: str, value: str, words: str):
    source = KERNEL.replace(
        "RWStructuredBuffer<uint> left", f"struct Both {{ uint sum; float rest; }}; RWStructuredBuffer<{type_}> left"
    )
    body = IN_A_BRANCH.replace("left[0] = sum;", f"{{ Both both = {{ sum, 0.25 }}; left[0] = {value}; }}")
    (finding,) = messages(source.replace("BODY", body), inputs={"given": GIVEN["given"]})
    assert finding.startswith(f"wave-width: {words}")


def test_what_a_gpu_cannot_compare_is_told(monkeypatch: pytest.MonkeyPatch):
    device = open_device()
    recording = record(device, KernelJob(KERNEL.replace("BODY", IN_A_BRANCH), inputs=GIVEN))
    monkeypatch.setattr(other_widths, "adapter_of", lambda device: replace(adapter_of(device), is_software=False))
    findings, missed = other_widths.compare_widths(device, recording, [])
    told = (
        "What WaveActiveSum leaves on waves of other widths was not compared: a GPU has one. Check the kernel on “llvmpipe”, too."
    )
    assert (findings, missed) == ([], [told])
    fixed = KERNEL.replace("groupshared", "static const uint WAVE_SIZE = 8; groupshared").replace("BODY", IN_A_BRANCH)
    fixed = fixed.replace("left[0] = sum", "left[0] = sum + WAVE_SIZE")
    assert other_widths.compare_widths(device, record(device, KernelJob(fixed, inputs=GIVEN)), []) == ([], [])


def test_what_is_not_run_or_tells_nothing_is_told():
    texels = KERNEL.replace("groupshared", "RWBuffer<uint> texels; groupshared").replace("BODY", IN_A_BRANCH)
    recording = checked(texels.replace("left[0] = sum;", "texels[0] = sum;"))
    told = (
        "What WaveActiveSum leaves on waves of other widths was not compared: with textures or texel buffers, this device has one."
    )
    assert recording.verdict.missed == (told,)
    zeros = checked(KERNEL.replace("BODY", IN_A_BRANCH), inputs={"left": np.zeros(64, np.uint32)})
    assert other_widths.ZEROS in zeros.verdict.missed
    assert not zeros.findings


APPENDED = """    bool keeps = given[thread] % 3 == 0;
    uint count = WaveActiveCountBits(keeps), base = 0;
    if (LEADER)
        InterlockedAdd(left[0], count, base);
    base = WaveReadLaneFirst(base);
    if (keeps)
        left[1 + base + WavePrefixCountBits(keeps)] = given[thread];"""


def test_what_is_appended_in_another_order_is_no_difference():
    verdict = checked(KERNEL.replace("BODY", APPENDED.replace("LEADER", "WaveIsFirstLane()"))).verdict
    assert (verdict.summary, verdict.missed) == ("Nothing found", ())


def test_other_numbers_that_the_order_of_atomics_may_explain_are_told():
    body = "    uint mine; InterlockedAdd(left[0], WaveActiveCountBits(true), mine);\n    left[1 + thread % 8] = 0;"
    verdict = checked(KERNEL.replace("BODY", body)).verdict
    assert any("differs, which the order of its atomics may explain" in words for words in verdict.missed)
