"""What is tried next after a kernel took its process with it: the same rule in a fork and on a worker."""

import asyncio

import pytest

from splatscope.api import record as api_record
from splatscope.api.record import KernelTimeout, RecordError
from splatscope.cli.trace_batch import _recorded
from splatscope.processes import ChildCrashed, ChildStalled, ChildTimeout
from splatscope.tracing.job import JOB_SECONDS, KernelJob, narrower_scope
from splatscope.tracing.progress import COMPILING, INSTRUMENTING, RUNNING
from splatscope.workers.connection import JobTimeout, WorkerLost

KERNEL = '[shader("compute")] [numthreads(1, 1, 1)] void main() {}'
JOB = KernelJob(KERNEL)


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


@pytest.mark.parametrize(
    ("failures", "tried"),
    [
        ([], [("all", 60)]),
        ([ChildCrashed(11)], [("all", 60), ("entry", 60)]),
        ([ChildCrashed(11)] * 2, [("all", 60), ("entry", 60), ("nothing", 60)]),
        ([INSTRUMENTING], [("all", 60), ("entry", 30)]),
        ([INSTRUMENTING, ChildCrashed(11)], [("all", 60), ("entry", 30), ("nothing", 30)]),
    ],
)
def test_a_kernel_is_recorded_as_far_as_its_worker_survives_it(monkeypatch, failures, tried):
    worker = FailingWorker(*failures)
    monkeypatch.setattr(api_record, "run_on_worker", worker.run)
    assert api_record.record_on_worker(JOB, "", 60, False) == "recorded"
    assert worker.tried == tried


@pytest.mark.parametrize(
    ("failures", "error", "words"),
    [
        ([ChildCrashed(11)] * 3, RecordError, r"kernel\.slang cannot be recorded: the compiler or the driver crashes \(SIGSEGV\)"),
        ([COMPILING], RecordError, "the compiler needs more than 60 s for it"),
        ([INSTRUMENTING] * 3, RecordError, "more than 60 s for what records it"),
        ([RUNNING], KernelTimeout, "did not end within 60 s"),
        ([ChildStalled("the worker stood still")], RecordError, r"kernel\.slang cannot be recorded: the worker stood still\."),
    ],
)
def test_a_kernel_that_cannot_be_recorded_says_at_which_stage(monkeypatch, failures, error, words):
    monkeypatch.setattr(api_record, "run_on_worker", FailingWorker(*failures).run)
    with pytest.raises(error, match=words):
        api_record.record_on_worker(JOB, "", 60, False)


class FailingWorker:
    """Crashes, or reaches a stage at which it is killed for its time, as it is told; answers once it has no more failures."""

    def __init__(self, *failures: Exception | int) -> None:
        self.failures, self.tried = list(failures), []

    def run(self, _function, job, _adapter, _between_groups, _seconds, *, limit, kind, on_progress):
        self.tried.append((job.instrument_scope, limit))
        if not self.failures:
            return "recorded"
        failure = self.failures.pop(0)
        if isinstance(failure, int):
            on_progress(failure)
            raise ChildTimeout("too long")
        raise failure
