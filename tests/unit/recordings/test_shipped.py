"""Shipped recordings are complete, were made on a GPU, and answer their lessons' queries."""

import inspect

import pytest

from splatscope.paths import LESSONS
from splatscope.recordings import shipped as recorded
from splatscope.services import lessons
from splatscope.services.lessons import LessonRequest
from splatscope.slang.modules import load_modules
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.textbook.results import Answer
from splatscope.tracing.trace import Trace

STEMS = sorted(file.parent.name for file in LESSONS.glob("*/recording.npz"))


def sources_now(stem):
    job = find_lesson(stem)().job()
    return {module.file: module.original for module in load_modules(job.source, job.file, job.include)}


def is_current(stem):
    return recorded.device_of(stem, sources_now(stem)) != ""


@pytest.mark.parametrize("stem", STEMS)
def test_it_opens_and_the_page_can_ask_it(stem):
    assert is_current(stem), "its kernel was changed since: make it anew with tools/make_shipped_recordings.py"
    lesson = find_lesson(stem)
    quizzes = tuple(
        name
        for name, method in vars(lesson).items()
        if inspect.isfunction(method) and method.__annotations__.get("return") is Answer
    )
    shown = lessons._open_shipped(LessonRequest.of(lesson()), quizzes)
    trace = Trace.load((LESSONS / stem / "recording.npz").read_bytes())
    assert shown.packed.meta["events"] == len(trace) > 0
    assert shown.shipped_from == shown.packed.meta["adapter"]
    assert trace.header["wave_size"] == 32
    assert shown.packed.meta["same_as_plain"]
    assert set(shown.answers) == set(quizzes)
    assert shown.stops == sorted(shown.stops)


def test_every_section_ships_one():
    assert list(lesson_names()) == STEMS


def test_a_changed_kernel_is_not_taken_for_the_recorded_one():
    stem = STEMS[0]
    sources = sources_now(stem)
    first = next(iter(sources))
    assert recorded.device_of(stem, sources) != ""
    assert recorded.device_of(stem, sources | {first: sources[first] + "\n// later"}) == ""
    assert recorded.device_of("no-such-section", sources) == ""
