"""How the tests that run kernels are run: without the software driver's optimiser, and those of a file in one process."""

import os

import pytest
from xdist.scheduler import LoadFileScheduling

# As `prepare_for_recording` does, for all kernels: it takes longer than all that they run here, and changes no result.
os.environ.setdefault("GALLIVM_PERF", "nopt")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep the tests of a file in one process, which has compiled their kernels and made their fixtures.

    Not by marks: pytest-xdist 3.8 does not see `xdist_group` under pytest 9.2.
    """
    return LoadFileScheduling(config, log)
