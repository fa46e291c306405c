"""The section on premultiplied colour: its scene against the NumPy twin, its questions and claims."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reference
from splatscope.lessons.premultiply.lesson import BACKGROUNDS, ENLARGED, SIZE, SPRITE, TEXELS, background, disc, pixel
from splatscope.textbook.contents import find_lesson
from splatscope.textbook.experiment import Experiment

Told = Callable[..., tuple[Any, Any]]

shares = st.floats(0, 1, width=16)
layers = st.fixed_dictionaries({name: shares for name in "rgba"} | {"over": st.sampled_from(BACKGROUNDS)})
few = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def colours(name: str, width: int, height: int) -> np.ndarray:
    """A background as (height, width, 3) floats."""
    packed = background(name, width, height).reshape(height, width)
    return np.stack([(packed >> shift) & 255 for shift in (0, 8, 16)], -1) / 255


def over(layer: np.ndarray, behind: np.ndarray, premultiplied: bool) -> np.ndarray:
    """Straight layers (…, 4) over colours (…, 3), with their multiplication or without."""
    weight = layer[..., 3:] if premultiplied else 1
    return weight * layer[..., :3] + (1 - layer[..., 3:]) * behind


@few
@given(layers)
def test_the_scene_is_what_the_twin_blends(record_lesson: Told, values: dict[str, Any]) -> None:
    lesson, query = record_lesson("premultiply", **values)
    layer, nothing = np.array([values[name] for name in "rgba"]), np.array([0.0, 0, 0, 1])
    found = pixel(query)
    np.testing.assert_allclose(found["right"], reference.alpha_blend(nothing, layer), atol=1e-6)
    np.testing.assert_allclose(found["wrong"], [*layer[:3], 1 - layer[3]], atol=1e-6)
    for z, name in enumerate(BACKGROUNDS):
        behind = colours(name, *SIZE)
        gval = np.zeros((*behind.shape[:2], 4))
        gval[6:-6, 6:-6] = layer
        np.testing.assert_allclose(query.output("premultiplied")[z, ..., :3], over(gval, behind, True), atol=1e-6)
        np.testing.assert_allclose(query.output("straight")[z, ..., :3], over(gval, behind, False), atol=1e-6)
    assert lesson.stops(query) == sorted(set(lesson.stops(query)))


@few
@given(layers)
def test_answers_are_the_twins(record_lesson: Told, values: dict[str, Any]) -> None:
    lesson, query = record_lesson("premultiply", **values)
    layer = np.array([values[name] for name in "rgba"])
    excess, clipped = lesson.excess(query), lesson.clipped(query)
    assert float(excess.value) == pytest.approx((1 - layer[3]) * layer[1], abs=0.00501)
    behind = colours(values["over"], *SIZE)[SIZE[1] // 2, SIZE[0] // 2]
    sums = over(layer, behind, False)
    assert np.sum(sums > 1 + 3e-6) <= int(clipped.value) <= np.sum(sums > 1 - 3e-6)
    for answer in (excess, clipped):
        assert answer.value in answer.options
        assert len(set(answer.options)) == len(answer.options) <= 4


def test_it_glows_and_nothing_turns_dark(experiment: Experiment) -> None:
    verdict = find_lesson("premultiply")().dark_halo(experiment)
    assert not verdict.holds
    assert "**0** are darker" in verdict.ran
    assert "**19,200** are brighter" in verdict.ran


def test_the_mistake_falls_as_alpha_grows(experiment: Experiment) -> None:
    lesson = find_lesson("premultiply")(r=0.8)
    alphas = lesson.sweep(experiment).curves[0].x
    np.testing.assert_allclose(lesson.sweep(experiment).curves[2].y, (1 - alphas) * 0.8, atol=1e-6)
    assert not lesson.extremes(experiment).holds


def test_the_soft_disc_is_what_the_twin_blends(experiment: Experiment) -> None:
    lesson = find_lesson("premultiply")(over="checkerboard")
    width, height = SPRITE
    y, x = np.mgrid[:height, :width] + 0.5
    t = np.clip((np.hypot(x - width / 2, y - height / 2) / (height / 2) - 0.35) / 0.55, 0, 1)
    gval = np.concatenate([np.broadcast_to([1.0, 0.2, 0.2], (height, width, 3)), 0.5 * (1 - reference.ease(t))[..., None]], -1)
    behind = colours("checkerboard", width, height)
    for premultiply in (True, False):
        found = lesson._soft_disc(experiment, "checkerboard", premultiply)
        np.testing.assert_allclose(found, over(gval, behind, premultiply), atol=1e-5)


def test_only_straight_texels_make_a_halo(experiment: Experiment) -> None:
    lesson = find_lesson("premultiply")()
    assert lesson.filtering(experiment).holds
    texels = disc((1.0, 0.2, 0.2, 1.0)).reshape(TEXELS, TEXELS, 4).astype(float)
    place = (np.arange(ENLARGED) + 0.5) * TEXELS / ENLARGED - 0.5
    near = np.clip(1 - np.abs(place[:, None] - np.arange(TEXELS)), 0, None)  # of each texel, in each pixel
    average = np.einsum("yi,xj,ijc->yxc", near, near, texels)
    white = np.ones((ENLARGED, ENLARGED, 3))
    found = {way: lesson._enlarged(experiment, (1.0, 0.2, 0.2, 1.0), "white", way) for way in (True, False)}
    np.testing.assert_allclose(found[False], over(average, white, True), atol=1e-5)  # premultiplied after the average
    np.testing.assert_allclose(found[True], over(average, white, False), atol=1e-5)  # these texels are premultiplied as they are
