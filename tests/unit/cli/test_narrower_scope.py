"""What is tried next after a kernel took its process with it: the same rule in a fork and on a worker."""

import asyncio
import functools

import pytest

from splatscope.cli import trace as trace_command
from splatscope.cli.errors import CallError
from splatscope.cli.trace import JOB_SECONDS
from splatscope.cli.trace_batch import _recorded
from splatscope.processes import ChildCrashed
from splatscope.tracing.job import narrower_scope
from splatscope.workers.connection import JobTimeout, WorkerLost

KERNEL = '[shader("compute")] [numthreads(1, 1, 1)] void main() {}'


@pytest.mark.parametrize(
    ("scope", "timed_out", "then"),
    [
        ("all", False, "entry"),
        ("entry", False, "nothing"),
        ("nothing", False, None),
        ("all", True, "nothing"),
        ("entry", True, "nothing"),
        ("nothing", True, None),
    ],
)
def test_a_crash_calls_for_the_next_scope_and_a_timeout_for_the_last(scope, timed_out, then):
    assert narrower_scope(scope, timed_out=timed_out) == then


class FailingPool:
    """Fails as it is told, a run at a time, and answers once it has no more failures."""

    def __init__(self, *failures: Exception) -> None:
        self.failures, self.tried = list(failures), []

    async def run(self, _function, _job, scope, *, limit):
        self.tried.append((scope, limit))
        if self.failures:
            raise self.failures.pop(0)
        return {"ok": True}


@pytest.mark.parametrize(
    ("failures", "tried"),
    [
        ((), [("all", JOB_SECONDS)]),
        ((WorkerLost(), WorkerLost()), [("all", JOB_SECONDS), ("entry", JOB_SECONDS), ("nothing", JOB_SECONDS / 4)]),
        ((JobTimeout(),), [("all", JOB_SECONDS), ("nothing", JOB_SECONDS / 4)]),
        ((WorkerLost(), JobTimeout()), [("all", JOB_SECONDS), ("entry", JOB_SECONDS), ("nothing", JOB_SECONDS / 4)]),
    ],
)
def test_a_batch_job_is_recorded_as_far_as_workers_survive_it(failures, tried):
    pool = FailingPool(*failures)
    assert asyncio.run(_recorded(pool, {})) == {"ok": True}
    assert pool.tried == tried


def test_a_batch_job_that_no_worker_survives_fails_as_the_last_of_them_did():
    pool = FailingPool(WorkerLost(), WorkerLost(), WorkerLost("the last"))
    with pytest.raises(WorkerLost, match="the last"):
        asyncio.run(_recorded(pool, {}))


@pytest.mark.parametrize("crashes", [0, 1, 2])
def test_a_file_is_recorded_as_far_as_its_process_survives_it(monkeypatch, tmp_path, crashes):
    assert trace_crashing(monkeypatch, tmp_path, crashes) == (0, ["all", "entry", "nothing"][: crashes + 1])


def test_a_file_that_no_process_survives_is_an_error_that_names_the_death(monkeypatch, tmp_path):
    with pytest.raises(CallError, match=r"kernel\.slang cannot be run: .* \(SIGSEGV\)"):
        trace_crashing(monkeypatch, tmp_path, 3)


def trace_crashing(monkeypatch: pytest.MonkeyPatch, folder, crashes: int) -> tuple[int, list[str]]:
    """Trace a file whose process crashes so many times; return the exit status and the scopes that were tried."""
    file, tried = folder / "kernel.slang", []
    file.write_text(KERNEL)

    def call(function, _limit):
        tried.append(function.args[0].instrument_scope)
        if len(tried) <= crashes:
            raise ChildCrashed(11)
        return 0

    monkeypatch.setattr(trace_command, "call_in_fork", call)
    monkeypatch.setattr(trace_command, "prepare_for_recording", lambda: None)
    monkeypatch.setattr(trace_command, "open_device", functools.cache(lambda: None))  # none is open
    return trace_command.trace(file, "", "1", "0", [], None, as_json=True), tried
