"""The progress of a recording is reported from a worker and from inside the sandbox to the waiting page."""

import asyncio
from itertools import pairwise

import numpy as np
import pytest

from splatscope.services.recordings import record_source
from splatscope.tracing.job import KernelJob
from splatscope.tracing.progress import STAGES, progress_to, report_progress, words
from splatscope.web.stepper.stepper import Stepper
from splatscope.workers import connection as connection
from splatscope.workers.pool import Pool

DOUBLING = """
RWStructuredBuffer<uint> numbers;
[shader("compute")]
[numthreads(8, 1, 1)]
void doubleMain(uint lane : SV_GroupIndex)
{
    numbers[lane] *= MULTIPLE;
}
"""


@pytest.mark.parametrize("trusted", [True, False])
def test_stages_come_in_order(monkeypatch, trusted):
    monkeypatch.setattr(connection, "PROGRESS_DELAY", 0.0)
    heard = []
    source = DOUBLING.replace("MULTIPLE", "2" if trusted else "3")

    async def run():
        pool = Pool()
        try:
            job = KernelJob(source, groups=(2, 1, 1), inputs={"numbers": np.ones(16, np.uint32)})
            return await record_source(pool, job, trusted=trusted, on_progress=heard.append)
        finally:
            await pool.close()

    assert not asyncio.run(run()).meta.get("error")
    assert heard  # on a busy machine, a stage that lasts no time may be passed over
    assert all(before < after for before, after in pairwise(heard))
    assert set(heard) <= set(range(len(STAGES)))


def test_nobody_needs_to_listen():
    report_progress(0)
    heard = []
    with progress_to(heard.append):
        report_progress(1)
        with progress_to(None):
            report_progress(2)
        report_progress(3)
    report_progress(4)
    assert heard == [1, 3]


def test_a_stepper_hears_of_the_recording_it_waits_for_alone():
    stepper = Stepper()
    first = stepper.progress_callback()
    stepper.wait()
    first(2)
    assert stepper.busy == words(2) == "Recording, 3 of 5: running it, once the driver has compiled it …"
    second = stepper.progress_callback()
    first(3)
    assert stepper.busy == words(2)
    second(4)
    assert stepper.busy == words(4)
    stepper.busy = ""  # it has come
    second(4)
    assert stepper.busy == ""
