"""A kernel whose text fixes the width of waves was not looked at on others; one that is right at any width is left alone."""

import re

import numpy as np
import pytest

from splatscope.api.recording import Recording
from splatscope.gpu.device import adapter_of, open_device
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check

SCAN = """uint p = WavePrefixSum(l + 1); if ((l & MASK) == MASK) s[l >> SHIFT] = p + l + 1;
    GroupMemoryBarrierWithGroupSync();
    for (uint i = 0; i < (l >> SHIFT); i++) p += s[i];
    data[l] = p;"""
USES = "if (l / NAME < 2) data[l] = WaveActiveSum(l);"


def checked(body: str, head: str = "", attribute: str = "") -> Recording:
    kernel = f"""{head}
RWStructuredBuffer<uint> data; groupshared uint s[64];
[shader("compute")] {attribute} [numthreads(64, 1, 1)]
void t(uint l : SV_GroupIndex) {{ {body} }}
"""
    return Recording(record_and_check(open_device(), KernelJob(kernel, records=100_000, inputs={"data": np.zeros(64, np.uint32)})))


def width_said(found: Recording) -> list[int]:
    assert found.findings == []
    return [int(match[1]) for words in found.missed if (match := re.search(r"on waves of (\d+) was not looked at", words))]


@pytest.fixture
def own() -> int:
    width = adapter_of(open_device()).wave_size
    if width != 8:
        pytest.skip("These kernels are written for waves of 8.")
    return width


def scan(width: int) -> str:
    return SCAN.replace("MASK", str(width - 1)).replace("SHIFT", str(width.bit_length() - 1))


@pytest.mark.parametrize(("asked", "others"), [("8", []), ("32", [32]), ("16, 64", [16]), ("4, 64", []), ("4, 64, 32", [])])
def test_a_width_that_the_driver_did_not_give_is_named(asked, others, own):
    assert width_said(checked("data[l] = WaveActiveSum(l);", attribute=f"[WaveSize({asked})]")) == others
    assert width_said(checked("data[l] = WaveActiveSum(l);", "static const int N = 32;", "[WaveSize(N)]")) == [32]


def test_the_width_that_another_entry_point_asks_for_is_not_this_ones(own):
    source = """RWStructuredBuffer<uint> data;
        [shader("compute")] [WaveSize(32)] [numthreads(32, 1, 1)] void asks(uint l : SV_GroupIndex) { data[l] = WaveActiveSum(l); }
        [shader("compute")] [numthreads(64, 1, 1)] void t(uint l : SV_GroupIndex) { data[l] = WaveActiveSum(l); }"""
    inputs = {"data": np.zeros(64, np.uint32)}
    said = {
        entry: width_said(Recording(record_and_check(open_device(), KernelJob(source, entry=entry, inputs=inputs))))
        for entry in ("asks", "t")
    }
    assert said == {"asks": [32], "t": []}


@pytest.mark.parametrize("name", ["WAVE_SIZE", "WarpSize", "SIMD_WIDTH", "kWaveLaneCount", "LANES_PER_WAVE"])
def test_a_constant_that_is_named_after_waves_fixes_their_width(name, own):
    assert width_said(checked(USES.replace("NAME", name), f"static const uint {name} = 32;")) == [32]
    assert width_said(checked(USES.replace("NAME", name), f"static const uint {name} = 8;")) == []
    assert width_said(checked(USES.replace("NAME", name), f"#define {name} 16")) == [16]


@pytest.mark.parametrize(
    "body",
    [
        "data[l] = WaveActiveSum(l);",  # it is never used
        "data[l] = WaveGetLaneCount() == WAVE_SIZE ? WaveActiveSum(l) : l;",  # a question
        "data[l] = l / WAVE_SIZE;",  # no waves
    ],
)
def test_a_constant_that_decides_nothing_is_left_alone(body, own):
    assert width_said(checked(body, "static const uint WAVE_SIZE = 32;")) == []


def test_one_lane_that_narrower_waves_do_not_have(own):
    body = "uint lane = WaveGetLaneIndex(); uint n = WaveActiveSum(l); data[l] = n; if (lane == LAST) data[l] = 0;"
    assert width_said(checked(body.replace("LAST", "31"))) == [32]
    assert width_said(checked(body.replace("LAST", "7"))) == []
    assert width_said(checked(body.replace("LAST", "WaveGetLaneCount() - 1"))) == []


def test_a_scan_that_takes_the_sum_of_one_thread_in_32(own):
    wrong, right = checked(scan(32)), checked(scan(8))
    assert (width_said(wrong), width_said(right)) == ([32], [])
    sums = np.r_[0, np.cumsum(np.arange(64) + 1)[:-1]]
    assert right.recorded.outputs["data"].tolist() == sums.tolist()
    assert wrong.recorded.outputs["data"].tolist() != sums.tolist()


@pytest.mark.parametrize(
    "body",
    [
        "bool any = WaveActiveAnyTrue(l > 3); if (l % 32 == 0) data[l] = any;\n else data[l] = any + 1;",
        "uint n = WaveActiveSum(l); data[l] = n; if (l % 16 == 0) s[l / 16] = l;",
        "uint w = WaveGetLaneCount(), n = WaveActiveSum(l); if (l % 32 == 0) data[l] = n / w;\n else data[l] = n;",
    ],
)
def test_what_one_thread_in_so_many_does_otherwise_is_left_alone(body, own):
    assert width_said(checked(body)) == []


def ballot_notes(body: str) -> list[str]:
    return [note for note in checked(body).notes if ".x alone is used" in note]


def test_a_ballot_of_which_the_first_32_lanes_are_used_is_noted():
    assert len(ballot_notes("data[l] = countbits(WaveActiveBallot(l > 3).x);")) == 1
    assert len(ballot_notes("uint4 b = WaveActiveBallot(l > 3); data[l] = countbits(b.x);")) == 1
    assert not ballot_notes("uint4 b = WaveActiveBallot(l > 3); data[l] = countbits(b.x) + countbits(b.y);")
    assert not ballot_notes("uint4 b = WaveActiveBallot(l > 3); data[l] = b[l & 3];")
