"""What every section of the book does: it opens at a moment, says each step, and teaches by its questions and claims."""

import re

import pytest

from helpers.book import SHIPPED
from helpers.section_rules import check_answers, check_stops, check_threads, quizzes_of
from splatscope.paths import LESSONS
from splatscope.recordings.shipped import FILES, open_current
from splatscope.services.lessons import LessonRequest, _open_shipped
from splatscope.textbook.contents import find_lesson, lesson_names, text_of
from splatscope.textbook.markdown import parse

SECTIONS = lesson_names()
HTML = re.compile(r"</(?!svg|text)\w|<(?:br|hr|img|wbr)\b|&#?\w+;|\bfrom html\b")  # but no SVG
# A section that ships no recording is judged by one that a device makes: tests/device/lessons/test_every_section.py.


def opened(stem, shipped):
    lesson = find_lesson(stem)
    if not open_current(stem, lesson().job(), shipped):
        pytest.fail("its kernel or its inputs were changed since: make its recordings anew with tools/make_shipped_recordings.py")
    return _open_shipped(LessonRequest.of(lesson()), quizzes_of(lesson), shipped)


@pytest.mark.parametrize(("stem", "shipped"), SHIPPED)
def test_the_line_shown_at_a_stop_is_of_a_thread_that_its_sentence_names(stem, shipped):
    lesson = find_lesson(stem)
    trace = open_current(stem, lesson().job(), shipped).recording.trace
    check_threads(lesson.figure, opened(stem, shipped), trace)


@pytest.mark.parametrize(("stem", "shipped"), SHIPPED)
def test_each_stop_has_a_sentence_and_the_figure_opens_at_one(stem, shipped):
    check_stops(opened(stem, shipped))


@pytest.mark.parametrize(("stem", "shipped"), SHIPPED)
def test_each_wrong_option_of_a_question_says_why_it_is_wrong(stem, shipped):
    check_answers(opened(stem, shipped))


@pytest.mark.parametrize("stem", SECTIONS)
def test_each_claim_says_where_it_is_from(stem):
    claims = [block for block in parse(text_of(stem)) if block.kind == "claim"]
    assert claims, "text.md has no claim"
    for claim in claims:
        words, _, source = claim.text.strip().partition("\nFrom: ")
        assert words
        assert len(source) > 5, f"the claim {claim.args[0]} needs a last line “From: …”"


@pytest.mark.parametrize("stem", SECTIONS)
def test_a_model_returns_markdown_and_no_html(stem):
    assert HTML.findall((LESSONS / stem / "lesson.py").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("stem", SECTIONS)
def test_a_formula_has_equations_alone(stem):
    lines = [line.strip() for block in parse(text_of(stem)) if block.kind == "formula" for line in block.text.splitlines()]
    assert [line for line in lines if line and not line.startswith("= ")] == []


@pytest.mark.parametrize("shipped", FILES)
@pytest.mark.parametrize(("stem", "name"), [("background", "edge"), ("final-count", "skips"), ("final-count", "element")])
def test_a_question_is_not_answered_by_itself_or_by_what_stands_beside_it(stem, name, shipped):
    recording = opened(stem, shipped)
    answer = recording.answers[name]
    beside = recording.sentences[recording.stops.index(recording.opening)] + answer.question
    assert not re.search(rf"(?<![\d.]){re.escape(answer.value)}(?![\d.]*\d)", beside), (answer.value, beside)
    assert "finalCount` ends at" not in answer.question
