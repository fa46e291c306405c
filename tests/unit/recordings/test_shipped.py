"""Shipped recordings are complete, were made on a GPU and on a software device, and answer their lessons' queries."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from helpers.book import BOOK, SHIPPED
from helpers.section_rules import quizzes_of
from splatscope.paths import LESSONS
from splatscope.recordings import shipped as recorded
from splatscope.services import lessons
from splatscope.services.lessons import LessonRequest
from splatscope.textbook.contents import find_lesson
from splatscope.tracing.trace import Trace

# Where the plain kernel has other last digits: a GPU's compiler fuses products and sums, but not across what is recorded.
ROUNDED = {("autodiff", "gpu"), ("scenes", "gpu")}


def sources_now(stem):
    job = find_lesson(stem)().job()
    return job.program().texts


@pytest.mark.parametrize(("stem", "shipped"), SHIPPED)
def test_it_opens_and_the_page_can_ask_it(stem, shipped):
    lesson = find_lesson(stem)
    job, quizzes = lesson().job(), quizzes_of(lesson)
    assert recorded.open_current(stem, job, shipped), "changed since: make it anew with tools/make_shipped_recordings.py"
    shown = lessons._open_shipped(LessonRequest.of(lesson()), quizzes, shipped)
    trace = Trace.load((LESSONS / stem / recorded.FILES[shipped]).read_bytes())
    assert shown.packed.meta["events"] == len(trace) > 0
    made_on = {kind: recorded.open_recorded(stem, job, kind).recording.trace.info.adapter for name, kind in SHIPPED if name == stem}
    assert shown.shipped_from == made_on.get("gpu", "")
    assert shown.packed.meta["same_as_plain"] == ((stem, shipped) not in ROUNDED)
    assert set(shown.answers) == set(quizzes)
    assert shown.stops == sorted(shown.stops)
    assert 0 < shown.opening <= len(trace)
    if shipped == "gpu":
        assert trace.info.wave_size == 32


@pytest.mark.parametrize("stem", BOOK)
def test_every_section_of_the_book_ships_both(stem):
    """One that is added may ship neither: its page waits for a worker."""
    assert [shipped for name, shipped in SHIPPED if name == stem] == list(recorded.FILES)


def test_a_recording_of_other_inputs_or_other_code_is_not_current():
    stem = BOOK[0]
    job = find_lesson(stem)().job()
    assert recorded.open_current(stem, job)
    name = next(iter(job.inputs))
    other = np.asarray(job.inputs[name]).copy()
    other.reshape(-1).view(np.uint8)[0] ^= 1
    assert not recorded.open_current(stem, replace(job, inputs=job.inputs | {name: other}))
    assert not recorded.open_current(stem, replace(job, inputs={}))
    assert not recorded.open_current(stem, replace(job, source=job.source + "\n// later"))
    assert not recorded.open_current("no-such-section", job)


def test_a_lesson_in_its_first_state_opens_without_a_worker_and_no_other_does():
    lesson = find_lesson("bitonic-sort")
    opened = asyncio.run(lessons.open_at_once(lesson(), quizzes_of(lesson)))
    assert opened.stops
    assert opened.packed.data
    assert asyncio.run(lessons.open_at_once(lesson(count=9), ())) is None


def test_a_changed_kernel_is_not_taken_for_the_recorded_one():
    stem = BOOK[0]
    sources = sources_now(stem)
    first = next(iter(sources))
    assert recorded.device_of(stem, sources) != ""
    assert recorded.device_of(stem, sources | {first: sources[first] + "\n// later"}) == ""
    assert recorded.device_of("no-such-section", sources) == ""
