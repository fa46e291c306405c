"""What every section of the book does: it opens at a moment, says each step, and teaches by its questions and claims."""

import inspect
import re

import pytest

from splatscope.recordings.shipped import FILES, open_current
from splatscope.services.lessons import LessonRequest, _open_shipped
from splatscope.textbook.contents import find_lesson, lesson_names, text_of
from splatscope.textbook.markdown import parse
from splatscope.textbook.results import Answer

SECTIONS = lesson_names()
LONGEST = 170  # characters of a sentence: two lines under the drawing


def opened(stem, shipped):
    lesson = find_lesson(stem)
    if not open_current(stem, lesson().job(), shipped):
        pytest.fail("its kernel or its inputs were changed since: make its recordings anew with tools/make_shipped_recordings.py")
    methods = ((name, method) for name, method in vars(lesson).items() if inspect.isfunction(method))
    quizzes = tuple(name for name, method in methods if method.__annotations__.get("return") is Answer)
    return _open_shipped(LessonRequest.of(lesson()), quizzes, shipped)


def threads_named(sentence: str) -> set[int]:
    """The threads that a sentence is about: “Threads 8 to 15”, “Threads 1, 4 and 5”, “thread 0”."""
    spans = re.findall(r"[Tt]hreads (\d+) to (\d+)", sentence)
    lists = re.findall(r"[Tt]hreads (\d+(?:, \d+)* and \d+)", sentence)
    single = re.findall(r"[Tt]hread (\d+)", sentence)
    return (
        {thread for first, last in spans for thread in range(int(first), int(last) + 1)}
        | {int(number) for some in lists for number in re.findall(r"\d+", some)}
        | set(map(int, single))
    )


@pytest.mark.parametrize("shipped", FILES)
@pytest.mark.parametrize("stem", SECTIONS)
def test_the_line_shown_at_a_stop_is_of_a_thread_that_its_sentence_names(stem, shipped):
    figure, recording = find_lesson(stem).figure, opened(stem, shipped)
    trace = open_current(stem, find_lesson(stem)().job(), shipped).recording.trace
    strangers = [
        (step, shown, sentence)
        for step, sentence in zip(recording.stops, recording.sentences, strict=True)
        for shown in [figure.thread if figure.thread >= 0 else int(trace.thread[trace.order[step - 1]])]
        if (named := threads_named(sentence)) and shown not in named
    ]
    assert strangers == []


@pytest.mark.parametrize("shipped", FILES)
@pytest.mark.parametrize("stem", SECTIONS)
def test_each_stop_has_a_sentence_and_the_figure_opens_at_one(stem, shipped):
    recording = opened(stem, shipped)
    assert recording.stops
    assert recording.opening in recording.stops
    assert len(recording.sentences) == len(recording.stops)
    for sentence in recording.sentences:
        assert 10 <= len(sentence) <= LONGEST, sentence
        assert sentence[0].isupper() or sentence[0] in "`0123456789∂αΣ", sentence
        assert sentence.rstrip("`)”")[-1] in ".!?", sentence
        assert not re.search(r"None|np\.|\bnan\b|  |\{|\}|array\(", sentence), sentence
        assert sentence.count("`") % 2 == 0, sentence


@pytest.mark.parametrize("stem", SECTIONS)
def test_each_wrong_option_of_a_question_says_why_it_is_wrong(stem):
    answers = opened(stem, "software").answers
    assert answers
    for name, answer in answers.items():
        assert answer.value in answer.options, name
        assert len(set(answer.options)) == len(answer.options) >= 2, (name, answer.options)
        assert set(answer.wrong) == set(answer.options) - {answer.value}, (name, answer.options, list(answer.wrong))
        assert all(len(why) > 15 for why in answer.wrong.values()), name


@pytest.mark.parametrize("stem", SECTIONS)
def test_each_claim_says_where_it_is_from(stem):
    claims = [block for block in parse(text_of(stem)) if block.kind == "claim"]
    assert claims
    for claim in claims:
        words, _, source = claim.text.strip().partition("\nFrom: ")
        assert words
        assert len(source) > 5, claim.args[0]


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
