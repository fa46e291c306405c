"""How all tests are run: those of a file in one process, and examples that Hypothesis makes up without a clock."""

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

# By itself Hypothesis fails an example that takes 200 ms, and one that is slow to make: on a busy machine that is any of them.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep the tests of a file in one process, which has compiled their kernels and made their fixtures.

    Not by marks: pytest-xdist 3.8 does not see `xdist_group` under pytest 9.2.
    """
    return LoadFileScheduling(config, log)
