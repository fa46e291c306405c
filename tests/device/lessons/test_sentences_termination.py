"""The sentences of the section on termination, against a float32 twin."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Told = Callable[..., tuple[Any, Any]]

LIMIT = np.float32(1 / 255)
CASES = [(45, 0.15), (15, 0.15), (128, 0.5), (1, 0.99), (2, 0.99), (7, 0.01), (128, 0.05)]
BLENDED = re.compile(r"Layer (\d+) is blended and counted: T falls from ([\d.]+) to ([\d.]+)\.(.*)")
LEFT_OUT = re.compile(r"T = ([\d.]+) is below 1/255, so layer (\d+) is left out and not counted\.(.*)")


def light(count: int, alpha: float) -> np.ndarray:
    """T before the first layer and after each: (count + 1,) float32."""
    found = np.ones(count + 1, np.float32)
    for i in range(count):
        found[i + 1] = found[i] if found[i] < LIMIT else found[i] * (np.float32(1) - np.float32(alpha))
    return found


@pytest.mark.parametrize(("count", "alpha"), CASES)
def test_each_layer_is_said_to_be_blended_or_left_out_as_the_twin_does(record_lesson: Told, count: int, alpha: float) -> None:
    lesson, query = record_lesson("termination", count=count, alpha=alpha)
    sentences, expected = lesson.sentences(query), light(count, alpha)
    assert len(sentences) == len(lesson.stops(query)) == count
    for i, sentence in enumerate(sentences):
        before, after = expected[i : i + 2]
        assert len(sentence) <= 150
        if before < LIMIT:
            was, number, rest = LEFT_OUT.fullmatch(sentence).groups()
            adds = 255 * alpha * (1 - alpha) ** i
            if "less than" in rest:
                assert "0.001" in rest
                assert adds < 0.001
            else:
                assert float(re.search(r"added ([\d.]+) of a step of 1/255", rest)[1]) == pytest.approx(adds, abs=0.001)
        else:
            number, was, left, rest = BLENDED.fullmatch(sentence).groups()
            assert float(left) == pytest.approx(after, rel=0.006)
            assert ("is opaque now" in rest) == (after < LIMIT)
            assert ("never became opaque" in rest) == (i == count - 1 and after >= LIMIT)
        assert int(number) == i + 1
        assert float(was) == pytest.approx(before, rel=0.006)


@pytest.mark.parametrize(("count", "alpha"), CASES)
def test_the_figure_opens_at_the_first_layer_that_is_left_out(record_lesson: Told, count: int, alpha: float) -> None:
    lesson, query = record_lesson("termination", count=count, alpha=alpha)
    opaque = np.flatnonzero(light(count, alpha)[:-1] < LIMIT)
    assert lesson.opening(query) == lesson.stops(query)[opaque[0] if len(opaque) else -1]


def test_with_the_first_inputs_the_pixel_terminates(record_lesson: Told) -> None:
    lesson, query = record_lesson("termination")
    assert lesson.facts(query)["finalCount"] == 35
    assert len(lesson.stops(query)) == 45


@pytest.mark.parametrize(("count", "alpha"), CASES)
def test_each_wrong_option_says_why(record_lesson: Told, count: int, alpha: float) -> None:
    lesson, query = record_lesson("termination", count=count, alpha=alpha)
    for answer in (lesson.missing(query), lesson.evaluated(query)):
        assert 2 <= len(answer.options) == len(set(answer.options)) <= 4
        assert set(answer.wrong) == set(answer.options) - {answer.value}
        assert f"{count} layers of α = {alpha:g}" in answer.question
