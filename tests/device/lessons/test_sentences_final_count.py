"""The sentences of the section on the final count, against the NumPy twin."""

import re

import numpy as np
import pytest

import reference
from helpers.numbers_in_text import NUMBER, value_of

CASES = [
    {},
    {"guarded": False},
    {"count": 1, "alpha": 0.99},
    {"count": 16, "alpha": 0.99},
    {"count": 16, "alpha": 0.99, "guarded": False},
    {"alpha": 0.3},
    {"alpha": 0.3, "guarded": False},
    {"count": 12, "alpha": 0.7},
]
THERE = re.compile(
    rf"There: T = {NUMBER} is (not )?below 1/255, so layer (\d+) is (blended|left out)\. `finalCount` (becomes|stays) (\d+)\."
)
BACK = re.compile(
    r"Back: `index` (\d+) is (not )?above `finalCount` (\d+), so layer (\d+) is "
    r"(?:(skipped): it was never blended|undone\. `finalCount` becomes (\d+))\."
)
ANYWAY = re.compile(
    r"Back, without the test: layer (\d+) is undone(, but was never blended)?\. "
    rf"T is {NUMBER}, (?:as it was|and should be {NUMBER})\. "
    r"`finalCount` (?:becomes (\d+)|falls below zero: ([\d,]+))\."
)


def walk(lesson) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[int]]:
    """T and count at each place of the list, on the way there and on the way back."""
    layers = lesson.job().inputs["layers"].astype(float)
    value, count = np.array([0.0, 0, 0, 1]), np.array(0)
    light, counts = [1.0], [0]
    for layer in layers:
        value, count = reference.transform_pixel_state(value, count, layer)
        light.append(value[3])
        counts.append(int(count))
    back, back_counts = [value[3]], [int(count)]
    for index in range(len(layers), 0, -1):
        if lesson.guarded:
            value, count = reference.undo_pixel_state(value, count, index, layers[index - 1])
        else:
            value, count = reference.undo_alpha_blend(value, layers[index - 1]), count - 1
        back.append(value[3])
        back_counts.append(int(count))
    return np.array(light), np.array(counts), np.array(back[::-1]), back_counts[::-1]


def close(text: str, value: float) -> bool:
    return value_of(text) == pytest.approx(value, rel=0.006)


@pytest.mark.parametrize("values", CASES)
def test_each_step_is_told_as_the_twin_takes_it(record_lesson, values):
    lesson, query = record_lesson("final-count", **values)
    sentences = lesson.sentences(query)
    light, counts, back, back_counts = walk(lesson)
    assert len(sentences) == len(lesson.stops(query)) == 2 * lesson.count
    assert all(len(sentence) <= 150 for sentence in sentences)
    for i, sentence in enumerate(sentences[: lesson.count]):
        transmittance, no, layer, done, becomes, count = THERE.fullmatch(sentence).groups()
        blended = counts[i + 1] > counts[i]
        assert close(transmittance, light[i])
        assert bool(no) == (light[i] >= reference.OPAQUE) == blended == (done == "blended") == (becomes == "becomes")
        assert (int(layer), int(count)) == (i + 1, counts[i + 1])
    for i, sentence in zip(reversed(range(lesson.count)), sentences[lesson.count :], strict=True):
        if lesson.guarded:
            check_back(sentence, i + 1, back_counts[i + 1], back_counts[i])
        else:
            check_anyway(sentence, i + 1, counts[i + 1] == counts[i], back[i], light[i], back_counts[i])


def check_back(sentence: str, layer: int, after: int, before: int) -> None:
    """Check a step of the way back, with the test in its place."""
    index, no, count, number, skipped, becomes = BACK.fullmatch(sentence).groups()
    assert int(index) == int(number) == layer
    assert int(count) == after
    assert bool(no) == (layer <= after) == (not skipped) == (before < after)
    if not skipped:
        assert int(becomes) == before == after - 1


def check_anyway(sentence: str, layer: int, never: bool, is_now: float, was: float, count: int) -> None:
    """Check a step of the way back, with the test taken out."""
    number, never_blended, transmittance, should, becomes, below = ANYWAY.fullmatch(sentence).groups()
    assert int(number) == layer
    assert bool(never_blended) == never
    assert close(transmittance, is_now)
    assert bool(should) == (abs(is_now - was) > 0.01 * was)
    assert not should or close(should, was)
    assert bool(below) == (count < 0)
    assert int((becomes or below).replace(",", "")) == count % 2**32


def test_a_layer_that_was_blended_is_never_said_to_be_left_out(record_lesson):
    """As the page once did with the test taken out, of layers 7 to 1."""
    lesson, query = record_lesson("final-count", guarded=False)
    never = [sentence for sentence in lesson.sentences(query) if "never blended" in sentence]
    assert len(never) == 1
    assert "layer 8 " in never[0]


@pytest.mark.parametrize("values", CASES)
def test_the_figure_opens_with_the_first_step_back(record_lesson, values):
    lesson, query = record_lesson("final-count", **values)
    opening = lesson.opening(query)
    assert opening in lesson.stops(query)
    assert np.sum(query.steps(kind="write", name="thereCount") <= opening) == lesson.count + 1
    assert np.sum(query.steps(kind="write", name="backCount") <= opening) == 2  # the end of the list, and one step back


@pytest.mark.parametrize("values", CASES)
def test_each_wrong_option_says_why(record_lesson, values):
    lesson, query = record_lesson("final-count", **values)
    for answer in (lesson.skips(query), lesson.element(query)):
        assert 2 <= len(answer.options) == len(set(answer.options)) <= 4
        assert set(answer.wrong) == set(answer.options) - {answer.value}
        assert f"{lesson.count} layers of α = {lesson.alpha:g}" in answer.question
