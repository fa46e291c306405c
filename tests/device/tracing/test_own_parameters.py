"""System values and specialization constants are no inputs, and an index inside an element says what was done there."""

import numpy as np
import pytest

from splatscope.gpu.device import open_device
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check
from splatscope.tracing.recording import Recording

KERNEL = """[SpecializationConstant] const uint ROUNDS = 4;
[vk::constant_id(2)] const float SCALE = 0.5;
struct Ids { uint lane : SV_GroupIndex; uint3 id : SV_DispatchThreadID; }
struct Bin { float low[4]; float high; }
RWStructuredBuffer<float> left; RWStructuredBuffer<Bin> bins;
[shader("compute")] [numthreads(8, 1, 1)]
void main(Ids ids, uniform uint more)
{
    left[ids.id.x] = ROUNDS * SCALE + more;
    BODY
}
"""


def checked(body: str = "", **inputs: np.ndarray) -> Recording:
    given = {"left": np.zeros(8, np.float32), "bins": np.zeros(40, np.float32)} | inputs
    return record_and_check(open_device(), KernelJob(KERNEL.replace("BODY", body), inputs=given))


def test_neither_system_values_in_a_struct_nor_specialization_constants_are_given():
    recording = checked()
    assert recording.verdict.not_given == ("more",)
    assert recording.arrays["left"].tolist() == [2.0] * 8
    assert checked(more=np.array([3], np.uint32)).arrays["left"].tolist() == [5.0] * 8


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("bins[ids.lane].low[ids.lane] = 1;", "Thread 4 writes bins.low[4] "),
        ("left[ids.lane] = bins[ids.lane].low[ids.lane];", "Thread 4 reads bins.low[4] "),
        ("bins[ids.lane].low[ids.lane] += 1;", "Thread 4 writes bins.low[4] "),
    ],
)
def test_an_index_inside_of_an_element_says_what_is_done_there(body: str, what: str):
    messages = [finding.message for finding in checked(body).findings if finding.kind == "out-of-bounds"]
    assert [message for message in messages if message.startswith(what)], messages


def test_a_struct_with_anything_but_system_values_is_a_uniform():
    source = KERNEL.replace("SV_DispatchThreadID; }", "SV_DispatchThreadID; uint other; }").replace("BODY", "")
    recording = record_and_check(open_device(), KernelJob(source))
    assert {"ids.lane", "ids.id", "ids.other"} <= set(recording.uniforms)
