"""Run lessons on this machine's device, as a worker does."""

import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest
import slangpy as spy

from splatscope.gpu.device import open_device
from splatscope.textbook.contents import find_lesson
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import Lesson
from splatscope.textbook.query import RecordingQuery
from splatscope.tracing.job import KernelJob

MOST_KEPT = 24  # recordings, each of some megabytes


class KeptExperiment(Experiment):
    """An experiment that records a job once, for all the tests that read its recording."""

    def __init__(self, device: spy.Device):
        super().__init__(device)
        self._kept: OrderedDict[bytes, RecordingQuery] = OrderedDict()

    def record(self, job: KernelJob) -> RecordingQuery:
        """Return the job's recording, made by the first test that asks for it."""
        key = pickle.dumps(job)
        query = self._kept.pop(key, None)
        self._kept[key] = query = super().record(job) if query is None else query
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return query


@pytest.fixture(scope="session")
def experiment() -> Experiment:
    return KeptExperiment(open_device())


@pytest.fixture(scope="session")
def record_lesson(experiment: Experiment) -> Callable[..., tuple[Lesson, RecordingQuery]]:
    """Return `record_lesson("bitonic-sort", count=13)`, which gives the lesson with these parameters and its figure's recording."""

    def record(stem: str, **values: Any) -> tuple[Lesson, RecordingQuery]:
        lesson = find_lesson(stem)(**values)
        return lesson, experiment.record(lesson.job())

    return record
