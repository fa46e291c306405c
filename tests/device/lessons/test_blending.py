"""The section on blending: its scene against the NumPy twin, its questions and claims."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reference
from splatscope.lessons.blending.lesson import HEIGHT, PAPER, SHAPES, WIDTH, blends, raw
from splatscope.textbook.contents import find_lesson
from splatscope.textbook.experiment import Experiment
from splatscope.web.lesson_page.lesson_form import set_parameter

Told = Callable[..., tuple[Any, Any]]

layer = st.fixed_dictionaries(
    {
        "colour": st.integers(0, 0xFFFFFF).map(lambda n: f"#{n:06x}"),
        "alpha": st.floats(0, 1, width=16),
        "shape": st.integers(0, len(SHAPES) - 1),
    }
)
stacks = st.lists(layer, min_size=1, max_size=len(SHAPES), unique_by=lambda one: one["shape"])
pixels = st.tuples(st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1)).map(list)
few = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def states(layers: list[dict[str, Any]], pixel: list[int]) -> np.ndarray:
    """(layers + 1, 4): the state of a pixel before the first layer and after each."""
    found, count = [np.array([0.0, 0, 0, 1])], np.array(0)
    scene = reference.load_direct(raw(layers).astype(float))
    for blob in range(len(layers)):
        state, count = reference.transform_pixel_state(
            found[-1], count, reference.evaluate(scene, blob, np.array([pixel], float))[0]
        )
        found.append(state)
    return np.array(found)


@few
@given(stacks, pixels)
def test_the_scene_is_what_the_twin_blends(record_lesson: Told, layers: list[dict[str, Any]], pixel: list[int]) -> None:
    lesson, query = record_lesson("blending", layers=layers, pixel=pixel)
    expected, found = states(layers, pixel), blends(query)
    np.testing.assert_allclose([one["before"] for one in found], expected[:-1], atol=2e-6)
    np.testing.assert_allclose([one["after"] for one in found], expected[1:], atol=2e-6)
    assert lesson.stops(query) == [one["end"] for one in found]
    np.testing.assert_allclose(lesson.facts(query)["over"], expected[-1, :3] + expected[-1, 3], atol=4e-6)


def test_every_pixel_is_drawn(record_lesson: Told) -> None:
    lesson, query = record_lesson("blending")
    pixels = np.stack(np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT)), -1).reshape(-1, 2)
    expected = reference.render_list(reference.load_direct(raw(lesson.layers).astype(float)), np.arange(4), pixels)
    np.testing.assert_allclose(query.output("picture")[..., :3].reshape(-1, 3), expected, atol=4e-6)


@few
@given(stacks, pixels)
def test_answers_are_the_twins(record_lesson: Told, layers: list[dict[str, Any]], pixel: list[int]) -> None:
    lesson, query = record_lesson("blending", layers=layers, pixel=pixel)
    light = states(layers, pixel)[:, 3]
    light, now = states(layers[::-1], pixel)[:, 3], light[-1]
    shares = np.append((light[:-1] - light[1:])[::-1], light[-1])  # once the stack is turned over
    heaviest, paper = lesson.heaviest(query), lesson.paper(query)
    covers = -1 if heaviest.value == PAPER else int(heaviest.value.split()[1]) - 1
    assert shares[covers] == pytest.approx(shares.max(), abs=1e-5)
    expected = "just as much" if abs(light[-1] - now) < 1e-6 else "less than now" if light[-1] < now else "more than now"
    assert paper.value == expected
    for answer in (heaviest, paper):
        assert answer.value in answer.options
        assert len(set(answer.options)) == len(answer.options) <= 4
        assert answer.step in (0, *lesson.stops(query))


def test_the_list_is_not_blended_back_to_front(experiment: Experiment) -> None:
    verdict = find_lesson("blending")().back_to_front(experiment)
    assert not verdict.holds
    assert "red first, then blue: **(0.5, 0, 0.25)" in verdict.ran
    assert "blue first, then red: **(0.25, 0, 0.5)" in verdict.ran


def test_both_directions_give_one_picture(experiment: Experiment) -> None:
    assert find_lesson("blending")().painter(experiment).holds is True


def test_a_layer_weighs_less_the_farther_back_it_stands(experiment: Experiment) -> None:
    lesson = find_lesson("blending")()
    light = states(lesson.layers, lesson.pixel)[:, 3]
    np.testing.assert_allclose(lesson.places(experiment).amounts, 0.99 * light, atol=2e-6)


@pytest.mark.parametrize(
    "layers",
    [
        [],
        [{"colour": "red", "alpha": 0.5, "shape": 0}],
        [{"colour": "#ff0000", "alpha": 1.5, "shape": 0}],
        [{"colour": "#ff0000", "alpha": 0.5, "shape": 99}],
        [{"colour": "#ff0000", "alpha": 0.5, "shape": 0.5}],
        [{"colour": "#ff0000", "alpha": 0.5, "shape": 1}, {"colour": "#00ff00", "alpha": 0.5, "shape": 1}],
        [{"colour": "#ff0000", "alpha": float("nan"), "shape": 0}],
        ["#ff0000"],
        "none",
    ],
)
def test_only_layers_are_taken(layers: Any) -> None:
    with pytest.raises(ValueError, match="Layers does not allow this value: 1 to 8 layers"):
        set_parameter(find_lesson("blending")(), "layers", layers)
