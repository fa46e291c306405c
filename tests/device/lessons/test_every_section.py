"""What holds for every section, of a recording that this device makes: for those that ship none, and one that does."""

import pytest

from helpers.book import SHIPPED
from helpers.section_rules import check_answers, check_conclusion, check_stops, check_threads, quizzes_of
from splatscope.services.lessons import _with_answers
from splatscope.textbook.contents import lesson_names

ADDED = [stem for stem in lesson_names() if stem not in dict(SHIPPED)]


@pytest.mark.parametrize("stem", ["blending", *ADDED])
def test_its_recording_keeps_the_rules_for_all_sections(record_lesson, stem):
    lesson, query = record_lesson(stem)
    recording = _with_answers(lesson, query, None, quizzes_of(type(lesson)), "")
    check_stops(recording)
    check_threads(lesson.figure, recording, query.recording.trace)
    check_answers(recording)
    if says := lesson.conclusion(query):
        check_conclusion(says)
