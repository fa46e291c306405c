"""The sentences of the section on blending, against the NumPy twin."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reference
from splatscope.lessons.blending.lesson import raw

Told = Callable[..., tuple[Any, Any]]

NUMBER = r"(\d\.\d+)"
SHARE = r"(\d+\.\d)%"
COVERED = re.compile(
    rf"covers {SHARE} of the {NUMBER} that came through: {NUMBER} of the pixel\. T is {NUMBER} now\."
    rf"|covers less than (0\.001) of the pixel: α is {NUMBER} here, and T was {NUMBER}\. T is {NUMBER} now\."
    rf"|is left out: T was {NUMBER}, less than 1/255, so the pixel counts as opaque\."
)


def stack(*alphas: float) -> list[dict[str, Any]]:
    """Layers of these opacities, each with a shape of its own."""
    return [{"colour": "#336699", "alpha": alpha, "shape": shape} for shape, alpha in enumerate(alphas)]


CASES = [
    {},
    {"layers": stack(0.5)},
    {"layers": stack(0.0)},
    {"layers": stack(1, 1, 1, 1, 1, 1, 1, 1), "pixel": [20, 13]},  # opaque before the last layer
    {"layers": stack(0.3, 0.0, 1, 0.6), "pixel": [17, 13]},
    {"layers": stack(0.7, 0.2, 0.9), "pixel": [0, 29]},  # far outside
]


def states(layers: list[dict[str, Any]], pixel: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """α of each layer at a pixel, T before the first and after each, and whether each is blended."""
    value, count = np.array([0.0, 0, 0, 1]), np.array(0)
    scene = reference.load_direct(raw(layers).astype(float))
    alphas, light, blended = [], [1.0], []
    for blob in range(len(layers)):
        gval = reference.evaluate(scene, blob, np.array([pixel], float))[0]
        value, more = reference.transform_pixel_state(value, count, gval)
        alphas.append(gval[3])
        light.append(value[3])
        blended.append(bool(more > count))
        count = more
    return np.array(alphas), np.array(light), np.array(blended)


@pytest.mark.parametrize("values", CASES)
def test_each_layer_is_said_to_cover_what_the_twin_says(record_lesson: Told, values: dict[str, Any]) -> None:
    lesson, query = record_lesson("blending", **values)
    sentences = lesson.sentences(query)
    alphas, light, blended = states(lesson.layers, lesson.pixel)
    assert len(sentences) == len(lesson.stops(query)) == len(alphas)
    for i, sentence in enumerate(sentences):
        assert len(sentence) <= 150
        number, verb = re.fullmatch(r"Layer (\d+) (.*)", sentence).groups()
        assert int(number) == i + 1
        found = COVERED.match(verb)
        alpha, before, share, after, less, faint, was, now, opaque = (x and float(x) for x in found.groups())
        close = pytest.approx
        if opaque is not None:
            assert not blended[i]
            assert opaque == close(light[i], abs=6e-5)
            assert light[i] < 1 / 255
            continue
        assert blended[i]
        if less is not None:
            assert light[i] - light[i + 1] < less
            assert (faint, was, now) == (close(alphas[i], abs=6e-5), close(light[i], abs=6e-4), close(light[i + 1], abs=6e-4))
        else:
            assert (alpha / 100, before) == (close(alphas[i], abs=6e-4), close(light[i], abs=6e-4))
            assert (share, after) == (close(light[i] - light[i + 1], abs=6e-4), close(light[i + 1], abs=6e-4))
    paper = re.search(rf"White paper covers the last {NUMBER}\.$", sentences[-1])
    assert float(paper[1]) == pytest.approx(light[-1], abs=6e-4)
    assert not any("paper" in sentence for sentence in sentences[:-1])


def test_the_cases_bring_all_that_can_be_said(record_lesson: Told) -> None:
    said = " ".join(" ".join(lesson.sentences(query)) for lesson, query in (record_lesson("blending", **case) for case in CASES))
    for words in ("that came through", "less than 0.001", "is left out"):
        assert words in said


def test_the_figure_opens_at_a_layer_that_gets_less_than_its_alpha(record_lesson: Told) -> None:
    lesson, query = record_lesson("blending")
    assert lesson.opening(query) == lesson.stops(query)[1]
    lesson, query = record_lesson("blending", layers=stack(0.5))
    assert lesson.opening(query) == lesson.stops(query)[0] > 0


def test_the_answer_says_what_its_layer_is_called_once_the_stack_is_turned_over(record_lesson: Told) -> None:
    lesson, query = record_lesson("blending")
    asked = lesson.heaviest(query)
    assert asked.value == "layer 4"
    assert "there it is layer 1" in asked.because
    _, turned = record_lesson("blending", layers=lesson.layers[::-1])
    _, light, _ = states(lesson.layers[::-1], lesson.pixel)
    assert (light[:-1] - light[1:]).argmax() == 0  # the figure's layer 1
    assert lesson.sentences(turned)[0].startswith("Layer 1 covers 56.6%")


@pytest.mark.parametrize("values", CASES)
def test_each_wrong_option_says_why(record_lesson: Told, values: dict[str, Any]) -> None:
    lesson, query = record_lesson("blending", **values)
    alphas, *_ = states(lesson.layers, lesson.pixel)
    for answer in (lesson.heaviest(query), lesson.paper(query)):
        assert 2 <= len(answer.options) == len(set(answer.options)) <= 4
        assert set(answer.wrong) == set(answer.options) - {answer.value}
        assert all(f"{alpha:.2f}" in answer.question for alpha in alphas)
    _, light, _ = states(lesson.layers[::-1], lesson.pixel)
    shares = [*(light[:-1] - light[1:])[::-1], light[-1]]  # once the stack is turned over
    value = lesson.heaviest(query).value
    assert shares[-1 if "paper" in value else int(value.split()[1]) - 1] == pytest.approx(max(shares), abs=1e-5)
