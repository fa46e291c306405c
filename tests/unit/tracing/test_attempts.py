"""What is tried next after a kernel took its process with it: the same rule in a fork and on a worker."""

import pytest

from splatscope.api import record as api_record
from splatscope.api.record import KernelTimeout, RecordError
from splatscope.processes import ChildCrashed, ChildStalled, ChildTimeout
from splatscope.tracing.job import CRASHED, KernelJob
from splatscope.tracing.progress import COMPILING, INSTRUMENTING, RUNNING, SEARCHING
from splatscope.tracing.retries import LEAST_SECONDS, Attempt

KERNEL = '[shader("compute")] [numthreads(1, 1, 1)] void main() {}'
JOB = KernelJob(KERNEL)
ENDLESS = """RWStructuredBuffer<float> o;
float f(float x)
{
    x = spirv_asm { result:$$float = OpFMul $x $x };
    while (x > -1.0) x = x + 1.0;
    return x;
}
[shader("compute")] [numthreads(1, 1, 1)] void main() { o[0] = f(1); }"""


@pytest.mark.parametrize("is_late", [False, True])
def test_the_entry_point_is_given_up_last(is_late):
    scopes, attempt = [], Attempt(60)
    while attempt is not None:
        scopes.append(attempt.scope)
        attempt = attempt.after(is_late=is_late)
    assert scopes == ["all", "entry", "nothing"]


def test_a_busy_machine_gets_twice_the_time_once_and_what_is_left_half_of_it():
    second = Attempt(60).after(is_late=True, may_end=True)
    assert (second.scope, second.limit) == ("all", 120)
    third = second.after(is_late=True, may_end=True)
    assert (third.scope, third.limit) == ("entry", 30)
    assert Attempt(6).after(is_late=True).limit == LEAST_SECONDS


STALLED = ChildStalled("the worker stood still")


class Starved(int):
    """A stage at which a worker is killed that had little of a processor."""


@pytest.mark.parametrize(
    ("failures", "tried"),
    [
        ([], [("all", 60)]),
        ([ChildCrashed(11)], [("all", 60), ("entry", 60)]),
        ([ChildCrashed(11)] * 2, [("all", 60), ("entry", 60), ("nothing", 60)]),
        ([INSTRUMENTING], [("all", 60), ("entry", 30)]),
        ([INSTRUMENTING, ChildCrashed(11)], [("all", 60), ("entry", 30), ("nothing", 30)]),
        ([COMPILING], [("all", 60), ("all", 120)]),
        ([RUNNING], [("all", 60), ("all", 120)]),
        ([SEARCHING], [("all", 60), ("all", 120)]),
        ([STALLED], [("all", 60), ("all", 120)]),
        ([Starved(INSTRUMENTING)], [("all", 60), ("all", 120)]),
        ([Starved(INSTRUMENTING)] * 2, [("all", 60), ("all", 120), ("entry", 30)]),
    ],
)
def test_a_kernel_is_recorded_as_far_as_its_worker_survives_it(monkeypatch, failures, tried):
    worker = FailingWorker(*failures)
    monkeypatch.setattr(api_record, "run_on_worker", worker.run)
    assert api_record.record_on_worker(JOB, "", 60, False) == "recorded"
    assert worker.tried == tried


@pytest.mark.parametrize(
    ("failures", "reason"),
    [
        ([ChildCrashed(11)], CRASHED),
        ([INSTRUMENTING], "its recorded form was not compiled and run within 60 s"),
        ([Starved(INSTRUMENTING)] * 2, "its recorded form was not compiled and run within 120 s"),
        ([INSTRUMENTING, ChildCrashed(11)], CRASHED),
    ],
)
def test_the_reason_tells_a_time_limit_from_a_crash(monkeypatch, failures, reason):
    worker = FailingWorker(*failures)
    monkeypatch.setattr(api_record, "run_on_worker", worker.run)
    api_record.record_on_worker(JOB, "", 60, False)
    assert worker.reason == reason


@pytest.mark.parametrize(
    ("failures", "error", "words"),
    [
        ([ChildCrashed(11)] * 3, RecordError, r"kernel\.slang cannot be recorded: the compiler or the driver crashes \(SIGSEGV\)"),
        ([COMPILING] * 2, RecordError, r"the compiler needs more than 120 s for it\. Allow more seconds \(timeout=, --timeout\)"),
        ([INSTRUMENTING] * 3, RecordError, "more than 60 s for what records it"),
        ([RUNNING] * 2, RecordError, r"it did not end within 120 s, and the machine may be busy\. Allow more seconds"),
        ([STALLED] * 2, RecordError, r"kernel\.slang cannot be recorded: the worker stood still\. Allow more seconds"),
        ([Starved(INSTRUMENTING)] * 4, RecordError, "more than 60 s for what records it"),
    ],
)
def test_a_kernel_that_cannot_be_recorded_says_at_which_stage(monkeypatch, failures, error, words):
    monkeypatch.setattr(api_record, "run_on_worker", FailingWorker(*failures).run)
    with pytest.raises(error, match=words):
        api_record.record_on_worker(JOB, "", 60, False)


def test_a_loop_without_a_budget_that_had_a_processor_is_a_finding_and_not_tried_again(monkeypatch):
    worker = FailingWorker(RUNNING)
    monkeypatch.setattr(api_record, "run_on_worker", worker.run)
    with pytest.raises(KernelTimeout, match=r"did not end within 60 s: the loop on line 5 has no budget"):
        api_record.record_on_worker(KernelJob(ENDLESS), "", 60, False)
    assert worker.tried == [("all", 60)]


def test_a_loop_without_a_budget_in_a_worker_that_had_no_processor_is_no_finding(monkeypatch):
    worker = FailingWorker(Starved(RUNNING), Starved(RUNNING))
    monkeypatch.setattr(api_record, "run_on_worker", worker.run)
    with pytest.raises(
        RecordError, match=r"within 120 s, and the machine may be busy\. The loop on line 5 has no budget\. Allow"
    ) as error:
        api_record.record_on_worker(KernelJob(ENDLESS), "", 60, False)
    assert not isinstance(error.value, KernelTimeout)
    assert worker.tried == [("all", 60), ("all", 120)]


class FailingWorker:
    """Crashes, or reaches a stage at which it is killed for its time, as it is told; answers once it has no more failures."""

    def __init__(self, *failures: Exception | int) -> None:
        self.failures, self.tried = list(failures), []

    def run(self, _function, job, _adapter, _between_groups, _seconds, *, limit, kind, on_progress):
        self.tried.append((job.instrument_scope, limit))
        self.reason = job.scope_reason
        if not self.failures:
            return "recorded"
        failure = self.failures.pop(0)
        if isinstance(failure, int):
            on_progress(failure)
            late = ChildTimeout("too long")
            late.was_starved = isinstance(failure, Starved)
            raise late
        raise failure
