"""Recording ahead: what is recorded, in which order, and when."""

import asyncio
import logging

import pytest

from splatscope.gpu.device import DeviceError
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.textbook.input_grid import input_grid
from splatscope.web.lesson_page import record_ahead
from splatscope.workers.errors import NO_WORKER, NoWorker, WorkerError


@pytest.fixture
def recorded(monkeypatch) -> list[tuple[str, dict]]:
    """What is recorded, in order: sections with the inputs that are not at their defaults. Nothing has begun yet."""
    found = []

    async def record_lesson(pool, lesson, quizzes, *, background):
        assert background
        changed = {name: value for name, value in lesson.param.values().items() if value != type(lesson).param[name].default}
        found.append((lesson.stem(), changed))
        if lesson.stem() == "cas":
            raise WorkerError("The worker was lost.")

    monkeypatch.setattr(record_ahead, "record_lesson", record_lesson)
    monkeypatch.setattr(record_ahead, "_running", [])
    monkeypatch.delenv(record_ahead.WHEN, raising=False)
    return found


async def _begin(times: int = 1) -> None:
    for _ in range(times):
        record_ahead.begin()
    await asyncio.gather(*record_ahead._running)


def test_all_published_inputs_are_recorded_once_and_the_defaults_of_all_sections_first(recorded, caplog):
    with caplog.at_level(logging.INFO):
        asyncio.run(_begin(times=2))
    names = [name for name, _ in recorded]
    assert tuple(names[: len(lesson_names())]) == lesson_names()
    assert {name: names.count(name) for name in lesson_names()} == {
        name: len(input_grid(find_lesson(name))) for name in lesson_names()
    }
    lost = len(input_grid(find_lesson("cas")))
    assert f"{len(recorded) - lost} recordings have been made ahead. {lost} are missing: cas ({lost})." in caplog.text


def test_recording_ahead_waits_for_workers_and_gives_nothing_up(recorded, monkeypatch, caplog):
    asked = []

    async def record_lesson(pool, lesson, quizzes, *, background):
        asked.append(lesson.stem())
        if 3 <= len(asked) < 6:
            raise NoWorker(NO_WORKER)

    monkeypatch.setattr(record_ahead, "record_lesson", record_lesson)
    monkeypatch.setattr(record_ahead, "PAUSE", 0)
    with caplog.at_level(logging.INFO):
        asyncio.run(_begin())
    assert asked[2:6] == [lesson_names()[2]] * 4
    assert f"{len(asked) - 3} recordings have been made ahead. None is missing." in caplog.text
    assert caplog.text.count("waits for a worker") == 1
    assert "`" not in NO_WORKER


def test_recording_ahead_waits_for_visitors(recorded, monkeypatch):
    unused, slept = iter([0.0, 2.0, *[9.0] * 10_000]), []

    async def sleep(seconds: float) -> None:
        assert not recorded
        slept.append(seconds)

    monkeypatch.setattr(record_ahead.worker_pool, "seconds_unused", lambda: next(unused))
    monkeypatch.setattr(record_ahead.asyncio, "sleep", sleep)
    asyncio.run(_begin())
    assert slept == [record_ahead.QUIET, record_ahead.QUIET - 2]
    assert recorded


def test_a_machine_without_a_device_is_asked_once(recorded, monkeypatch, caplog):
    asked = []

    async def record_lesson(pool, lesson, quizzes, *, background):
        asked.append(lesson)
        raise DeviceError("No GPU could be opened.")

    monkeypatch.setattr(record_ahead, "record_lesson", record_lesson)
    asyncio.run(_begin())
    assert len(asked) == 1
    assert "Nothing more is recorded ahead: No GPU could be opened." in caplog.text


def test_nothing_is_recorded_ahead_where_it_is_not_wanted(recorded, monkeypatch):
    monkeypatch.setenv(record_ahead.WHEN, record_ahead.NEVER)
    asyncio.run(_begin())
    assert recorded == []
