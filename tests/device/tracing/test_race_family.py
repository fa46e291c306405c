"""A family of kernels with a verdict known by construction: each gets its own findings and no others.

Half of them, drawn once and for all, are run; with ALL_RACES=1 in the environment all of them, which takes some minutes.
"""

import os
import random

import pytest

from helpers.race_family import Case, cases
from splatscope.api.recording import Recording
from splatscope.gpu.device import open_device
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check

ALL = cases()
RUN = ALL if os.environ.get("ALL_RACES") else random.Random(7).sample(ALL, len(ALL) // 2)


@pytest.mark.parametrize("case", RUN, ids=lambda case: case.name)
def test_the_verdict_is_right(case: Case):
    job = KernelJob(case.source, groups=(case.groups, 1, 1), records=300_000, loop_budget=5000)
    checked = Recording(record_and_check(open_device(), job, between_groups=True))
    found = {finding.kind for finding in checked.findings}
    assert found == case.kinds, [finding.message for finding in checked.findings]
    assert checked.missed == []


def test_there_are_enough_of_both():
    kinds = [bool(case.kinds) for case in ALL]
    assert (kinds.count(True) >= 150, kinds.count(False) >= 150) == (True, True)
