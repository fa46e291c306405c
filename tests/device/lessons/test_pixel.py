"""A pixel of a trained picture: as its kernel sees it, against NumPy, and in the sections that can show it."""

import pytest

from helpers.section_rules import check_answers, check_conclusion, check_stops, check_threads, quizzes_of
from splatscope.services.lessons import LessonRequest, _with_answers
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.textbook.pixel import AT, PUBLISHED, SAMPLE, sample_picture, see_pixel

FOLLOWING = [stem for stem in lesson_names() if find_lesson(stem).from_pixel is not None]


@pytest.fixture(scope="module")
def seen(experiment):
    return see_pixel(experiment, sample_picture(), AT)


@pytest.mark.parametrize("stem", FOLLOWING)
@pytest.mark.parametrize("at", PUBLISHED[:2])
def test_a_section_with_a_pixel_keeps_the_rules_for_all_sections(experiment, stem, at):
    lesson = LessonRequest.of(find_lesson(stem)(picture=SAMPLE, at=list(at))).lesson_on(experiment)
    query = experiment.record(lesson.job())
    recording = _with_answers(lesson, query, None, quizzes_of(type(lesson)), "")
    check_stops(recording)
    check_threads(lesson.figure, recording, query.recording.trace)
    check_answers(recording)
    assert {finding.kind for finding in query.findings} <= {"benign-race"}
    if says := lesson.conclusion(query):
        check_conclusion(says)
