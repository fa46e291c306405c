"""The sentences of the section on premultiplied colour, against the NumPy twin."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reference
from splatscope.lessons.premultiply.lesson import SIZE, background

Told = Callable[..., tuple[Any, Any]]

CASES = [
    {},
    {"a": 0.0, "over": "white"},
    {"a": 1.0, "over": "black"},
    {"r": 0.0, "g": 0.0, "b": 0.0, "a": 0.3},
    {"r": 0.0, "g": 0.004, "b": 0.0, "a": 0.5},
    {"r": 0.1, "g": 0.3, "b": 0.9, "a": 0.25, "over": "checkerboard"},
    {"r": 0.2, "g": 0.1, "b": 0.15, "a": 0.8, "over": "black"},
]
NUMBERS = re.compile(r"(?<![\dα])\d+\.\d+")


def numbers(sentence: str) -> list[float]:
    return [float(number) for number in NUMBERS.findall(sentence)]


def behind(lesson: Any) -> np.ndarray:
    """The colour behind the pixel in the middle."""
    packed = background(lesson.over, *SIZE).reshape(SIZE[1], SIZE[0])[SIZE[1] // 2, SIZE[0] // 2]
    return np.array([(packed >> shift) & 255 for shift in (0, 8, 16)]) / 255


@pytest.mark.parametrize("values", CASES)
def test_each_value_is_what_the_twin_has(record_lesson: Told, values: dict[str, Any]) -> None:
    lesson, query = record_lesson("premultiply", **values)
    sentences = lesson.sentences(query)
    assert len(sentences) == len(lesson.stops(query)) == 5
    assert all(len(sentence) <= 150 for sentence in sentences)
    colour, alpha = lesson.layer()[:3].astype(float), float(lesson.layer()[3])
    premultiplied = reference.pre_mult(lesson.layer().astype(float))[:3]
    through = (1 - alpha) * behind(lesson)
    straight, wrong, right, rest, last = sentences
    np.testing.assert_allclose(numbers(straight)[:4], [*colour, alpha], atol=0.006)
    assert f"{alpha:.0%} of the pixel" in straight
    np.testing.assert_allclose(numbers(wrong), colour, atol=0.006)
    np.testing.assert_allclose(numbers(right), premultiplied, atol=0.006)
    if alpha == 1:
        assert "nothing of" in rest
    else:
        np.testing.assert_allclose(numbers(rest), [1 - alpha, *through], atol=0.006)
    assert lesson.over in rest
    check_last(last, colour, alpha, premultiplied + through, colour + through)


def check_last(sentence: str, colour: np.ndarray, alpha: float, with_it: np.ndarray, without: np.ndarray) -> None:
    """Check what the last sentence says of the two sums."""
    excess = without - with_it
    if sentence.startswith("Both sums agree"):
        assert excess.max() == 0
        assert ("α = 1" in sentence) == (alpha == 1)
        assert ("black layer" in sentence) == (alpha != 1 and not colour.any())
        np.testing.assert_allclose(numbers(sentence), with_it, atol=0.006)
    elif "less than 0.01" in sentence:
        assert 0 < excess.max() < 0.01
        np.testing.assert_allclose(numbers(sentence)[:3], with_it, atol=0.006)
    else:
        channel = ("red", "green", "blue").index(re.match(r"With `preMult`, (\w+) is", sentence)[1])
        assert excess[channel] == pytest.approx(excess.max())
        np.testing.assert_allclose(numbers(sentence), [with_it[channel], without[channel], excess[channel]], atol=0.006)
        assert ("cuts it off" in sentence) == (without[channel] > 1.005)


def test_the_cases_bring_all_that_can_be_said(record_lesson: Told) -> None:
    said = " ".join(lesson.sentences(query)[-1] for lesson, query in (record_lesson("premultiply", **case) for case in CASES))
    for words in ("α = 1 needs", "black layer", "less than 0.01", "too much by", "cuts it off"):
        assert words in said


def test_the_figure_opens_one_press_before_its_sums_are_complete(record_lesson: Told) -> None:
    lesson, query = record_lesson("premultiply")
    assert lesson.opening(query) == lesson.stops(query)[-2] < len(query)


@pytest.mark.parametrize("values", CASES)
def test_each_wrong_option_says_why(record_lesson: Told, values: dict[str, Any]) -> None:
    lesson, query = record_lesson("premultiply", **values)
    for answer in (lesson.excess(query), lesson.clipped(query)):
        assert 2 <= len(answer.options) == len(set(answer.options)) <= 4
        assert set(answer.wrong) == set(answer.options) - {answer.value}
        assert answer.question
