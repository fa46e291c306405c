"""How all tests are run: those of a file in one process, and examples that Hypothesis makes up without a clock."""

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

# By itself Hypothesis fails an example that takes 200 ms, and one that is slow to make: on a busy machine that is any of them.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


class FileScheduling(LoadFileScheduling):
    """Keeps the tests of a file in one process, which has compiled their kernels and made their fixtures.

    Not by marks: pytest-xdist 3.8 does not see `xdist_group` under pytest 9.2.
    """

    def remove_node(self, node: WorkerController) -> str | None:
        """Give the work of a process that crashed to others, but not the files that it had finished.

        By itself pytest-xdist 3.8 queues these too. A process that is handed such a file waits for its tests forever.
        """
        files = self.assigned_work[node]
        self.assigned_work[node] = {file: tests for file, tests in files.items() if not all(tests.values())}
        return super().remove_node(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Use the scheduler above."""
    return FileScheduling(config, log)
