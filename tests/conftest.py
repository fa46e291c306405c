"""How all tests are run: those of a file in one process, long files first, and Hypothesis's examples without a clock."""

import os
import signal
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

# By itself Hypothesis fails an example that takes 200 ms, and one that is slow to make: on a busy machine that is any of them.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# What outlives a server is none of the user's own, nor of another run of the tests.
_state = tempfile.TemporaryDirectory(prefix="splatscope-tests-", ignore_cleanup_errors=True)  # of all processes of a run
os.environ.setdefault("XDG_STATE_HOME", _state.name)
# The code that Slang generates is kept for all processes and for the next run. Drivers keep what they make of it on their own.
os.environ.setdefault("SPLATSCOPE_SHADER_CACHE", str(Path(__file__).parents[1] / "build" / "shader_cache"))


# A run in the background ignores this signal, and so would all that tests start, also where a test sends it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


class FileScheduling(LoadFileScheduling):
    """Keeps the tests of a file in one process, which has compiled their kernels and made their fixtures.

    Not by marks: pytest-xdist 3.8 does not see `xdist_group` under pytest 9.2.
    """

    def remove_node(self, node: WorkerController) -> str | None:
        """Give the work of a process that crashed to others, but neither the files that it had finished nor the test that ended it.

        By itself pytest-xdist 3.8 queues these too. A process that is handed such a file waits for its tests forever, and the test
        would end one process after another.
        """
        files = self.assigned_work.pop(node)
        unfinished = [(file, test) for file, tests in files.items() for test, is_done in tests.items() if not is_done]
        if not unfinished:
            return None
        file, crashed = unfinished[0]
        files[file][crashed] = True
        self.workqueue.update((file, tests) for file, tests in files.items() if not all(tests.values()))
        for other in self.assigned_work:
            self._reschedule(other)
        return crashed


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """Forget what the functions of a file have kept, such as recordings, once its last test has ended."""
    if nextitem is None or nextitem.module is not item.module:
        for kept in vars(item.module).values():
            if hasattr(kept, "cache_clear") and kept.__module__ == item.module.__name__:
                kept.cache_clear()


SECONDS = "splatscope/seconds"  # in pytest's cache: how long each file took in the last run of several processes
_seconds: Counter[str] = Counter()


def file_of(nodeid: str) -> str:
    """Return the file of a test."""
    return nodeid.partition("::")[0]


def pytest_collection_modifyitems(config, items):
    """Begin with the files that took longest, so that none of them runs alone at the end. Unknown files go by their tests."""
    if hasattr(config, "workerinput") and hasattr(config, "cache"):
        length: dict[str, float] = {**Counter(file_of(item.nodeid) for item in items), **config.cache.get(SECONDS, {})}
        items.sort(key=lambda item: -length[file_of(item.nodeid)])


def pytest_runtest_logreport(report):
    """Add up how long a file takes."""
    _seconds[file_of(report.nodeid)] += report.duration


def pytest_sessionfinish(session):
    """Keep how long the files took."""
    config = session.config
    if config.getoption("numprocesses", None) and hasattr(config, "cache"):
        config.cache.set(SECONDS, config.cache.get(SECONDS, {}) | _seconds)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Use the scheduler above, which takes files in the order in which they are collected."""
    config.option.loadscopereorder = False
    return FileScheduling(config, log)
