"""Run lessons on this machine's device, as a worker does."""

from collections.abc import Callable
from typing import Any

import pytest

from splatscope.gpu.device import open_device
from splatscope.textbook.contents import find_lesson
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import Lesson
from splatscope.textbook.query import RecordingQuery


@pytest.fixture(scope="session")
def experiment() -> Experiment:
    return Experiment(open_device())


@pytest.fixture(scope="session")
def record_lesson(experiment: Experiment) -> Callable[..., tuple[Lesson, RecordingQuery]]:
    """Return `record_lesson("bitonic-sort", count=13)`, which gives the lesson with these parameters and its figure's recording."""

    def record(stem: str, **values: Any) -> tuple[Lesson, RecordingQuery]:
        lesson = find_lesson(stem)(**values)
        return lesson, experiment.record(lesson.job())

    return record
