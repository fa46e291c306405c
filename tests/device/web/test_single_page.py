"""The page of a long recording is small enough to be attached to an issue or a mail."""

import numpy as np

from splatscope.gpu.device import open_device
from splatscope.services.record_and_pack import record_and_pack
from splatscope.tracing.job import KernelJob
from splatscope.web.single_page.single_page import page_of

# The floats are different ones at each event, which is what compresses worst.
CHAOS = """
RWStructuredBuffer<float> data;

[shader("compute")]
[numthreads(64, 1, 1)]
void chaosMain(uint lane : SV_GroupIndex)
{
    float x = (lane + 1) / 67.0;
    for (uint i = 0; i < 540; i++)
    {
        x = 3.9 * x * (1 - x);
        data[lane] = x;
    }
}
"""


def test_the_page_of_100_000_events_is_below_2_mb():
    job = KernelJob(CHAOS, inputs={"data": np.zeros(64, np.float32)}, records=1_000_000)
    _, _, packed = record_and_pack(open_device(), job)
    assert packed.meta["events"] >= 100_000
    assert not packed.meta["truncated"]
    assert len(page_of(packed).encode()) < 2_000_000
