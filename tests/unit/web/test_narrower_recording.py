"""A kernel whose recorded form is too much for the compiler: the page records its entry point alone by itself."""

import asyncio
import pickle
from types import SimpleNamespace

import pytest

from splatscope.recordings.packed import PackedRecording
from splatscope.services.drafts.draft import DraftJob
from splatscope.tracing.progress import COMPARING, COMPILING, INSTRUMENTING, RUNNING
from splatscope.web.debugger import run_history
from splatscope.web.debugger.run_history import RunHistory
from splatscope.workers.errors import JobTimeout, WorkerError, WorkerLost

WHOLE = DraftJob({"source": "a;"})


def record(
    monkeypatch, error: WorkerError, stage: int | None, job: DraftJob = WHOLE
) -> tuple[PackedRecording, list[str], list[str]]:
    """Record `job` where all but the entry point alone fails; return the recording, the scopes tried, and what the page said."""
    scopes: list[str] = []
    said: list[str] = []
    error.stage = stage
    error = pickle.loads(pickle.dumps(error))  # as it comes from a worker

    async def record_source(pool, job, adapter="", **_):
        scopes.append(job.instrument_scope)
        if job.instrument_scope == "all":
            raise error
        return PackedRecording({"recording": "entry"})

    monkeypatch.setattr(run_history, "record_source", record_source)
    stepper = SimpleNamespace(progress_callback=lambda: None, wait=said.append)
    history = RunHistory(SimpleNamespace(stepper=stepper, interface={"entry": "main"}))
    return asyncio.run(history._packed(job, "")), scopes, said


@pytest.mark.parametrize(
    ("error", "stage"),
    [
        (WorkerLost("died"), INSTRUMENTING),
        (WorkerLost("died"), RUNNING),
        (WorkerLost("died"), None),
        (JobTimeout("slow"), INSTRUMENTING),
    ],
)
def test_the_entry_point_alone_is_recorded_and_said(monkeypatch, error, stage):
    packed, scopes, said = record(monkeypatch, error, stage)
    assert packed.meta == {"recording": "entry"}
    assert scopes == ["all", "entry"]
    assert "Recording only the entry point" in said[0]


@pytest.mark.parametrize(
    ("error", "stage"),
    [(WorkerLost("died"), COMPILING), (WorkerLost("died"), COMPARING), (JobTimeout("slow"), RUNNING), (JobTimeout("slow"), None)],
)
def test_what_fails_as_it_is_written_is_not_tried_again(monkeypatch, error, stage):
    with pytest.raises(type(error), match=str(error)):
        record(monkeypatch, error, stage)


def test_the_entry_point_alone_is_not_tried_twice(monkeypatch):
    with pytest.raises(WorkerLost):
        record(monkeypatch, WorkerLost("died"), INSTRUMENTING, DraftJob({"source": "a;", "functions": []}))
