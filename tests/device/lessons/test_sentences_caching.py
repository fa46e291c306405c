"""The sentences of the section on what a backward pass keeps, against the NumPy twin and the recording's own bits."""

import re

import numpy as np
import pytest

import reference
from helpers.numbers_in_text import NUMBER, value_of

CASES = [
    {},
    {"count": 1},
    {"count": 10, "opacity": 1.0},  # opaque before the last layers
    {"count": 5, "opacity": 0.05, "seed": 3},
    {"count": 10, "opacity": 0.9, "seed": 11},
    {"count": 7, "seed": 9999},
]
THERE = re.compile(rf"There: the state before layer (\d+), with T = {NUMBER}, goes into `kept\[(\d+)\]`\. Then the layer is (.*)\.")
SKIPPED = re.compile(r"Back: layer (\d+) was never blended\. Both ways pass the gradient on as it is, and ∂L/∂α is 0\.")
BACK = re.compile(
    rf"Back: before layer (\d+), `kept\[(\d+)\]` says T = {NUMBER}; the undo finds the same, (.*)\. "
    rf"∂L/∂α is {NUMBER} by both, (.*)\."
)


def walk(lesson) -> tuple[np.ndarray, list[bool]]:
    """T before each layer, and whether each is blended."""
    g = reference.load_direct(lesson.raw().astype(float))
    value, count = np.array([0.0, 0, 0, 1]), np.array(0)
    light, blended = [], []
    for blob in range(lesson.count):
        light.append(value[3])
        value, more = reference.transform_pixel_state(value, count, reference.evaluate(g, blob, np.array([[3.0, 1.0]]))[0])
        blended.append(bool(more > count))
        count = more
    return np.array(light), blended


def check_apart(words: str, one: float, other: float) -> None:
    """Check what is said of two floats that should be equal."""
    if words == "to the last bit":
        assert one == other
    else:
        off = value_of(re.fullmatch(rf"to within {NUMBER}", words)[1])
        assert off == pytest.approx(abs(float(one) - float(other)), rel=0.51)  # one digit
        assert off > 0


@pytest.mark.parametrize("values", CASES)
def test_each_turn_is_told_as_it_was(record_lesson, values):
    lesson, query = record_lesson("caching", **values)
    sentences = lesson.sentences(query)
    light, blended = walk(lesson)
    kept, undone, by_kept, by_undo = (query.output(name) for name in ("kept", "undone", "dByKept", "dByUndo"))
    assert len(sentences) == len(lesson.stops(query)) == 2 * lesson.count
    assert all(len(sentence) <= 150 for sentence in sentences)
    for i, sentence in enumerate(sentences[: lesson.count]):
        layer, before, cell, then = THERE.fullmatch(sentence).groups()
        assert (int(layer), int(cell)) == (i + 1, i)
        assert value_of(before) == pytest.approx(light[i], rel=0.006, abs=1e-6)
        assert then == ("blended" if blended[i] else "left out: T is below 1/255")
    for i, sentence in zip(reversed(range(lesson.count)), sentences[lesson.count :], strict=True):
        if not blended[i]:
            assert int(SKIPPED.fullmatch(sentence)[1]) == i + 1
            assert by_kept[i, 3] == by_undo[i, 3] == 0
            continue
        layer, cell, before, state, slope, bits = BACK.fullmatch(sentence).groups()
        assert (int(layer), int(cell)) == (i + 1, i)
        assert value_of(before) == pytest.approx(light[i], rel=0.006, abs=1e-6)
        assert value_of(slope) == pytest.approx(by_kept[i, 3], rel=0.006)
        check_apart(state, undone[i, 3], kept[i, 3])
        check_apart(bits, by_undo[i, 3], by_kept[i, 3])


def test_the_cases_bring_all_that_can_be_said(record_lesson):
    said = " ".join(" ".join(lesson.sentences(query)) for lesson, query in (record_lesson("caching", **case) for case in CASES))
    for words in ("is blended", "is left out", "never blended", "to the last bit", "to within"):
        assert words in said


@pytest.mark.parametrize("values", CASES)
def test_the_figure_opens_on_the_way_back(record_lesson, values):
    lesson, query = record_lesson("caching", **values)
    opening = lesson.opening(query)
    assert opening in lesson.stops(query)
    read = np.sum(query.steps(kind="read", name="kept") <= opening)
    left_out = query.last("state.finalCount", 0, lesson.stops(query)[lesson.count - 1]) < lesson.count
    assert read == (0 if left_out else 1 + lesson.count // 2)


@pytest.mark.parametrize("values", CASES)
def test_each_wrong_option_says_why(record_lesson, values):
    lesson, query = record_lesson("caching", **values)
    for answer in (lesson.waits(query), lesson.keeps(query)):
        assert 2 <= len(answer.options) == len(set(answer.options)) <= 4
        assert set(answer.wrong) == set(answer.options) - {answer.value}
        assert answer.question
