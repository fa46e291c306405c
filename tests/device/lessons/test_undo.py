"""The section on undoing a blend: its figure, questions and claims, against the NumPy twin."""

import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reference
from splatscope.textbook.contents import find_lesson

Undo = find_lesson("undo")
few = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
some_alphas = st.lists(st.floats(0, 0.9), min_size=8, max_size=8)


def states(lesson, dtype=np.float64):
    """What the pixel goes through by the twin: values (count + 1, 4) and how many layers it took."""
    layers = lesson.job().inputs["layers"].astype(dtype)
    layers[:, 3] = np.minimum(layers[:, 3], dtype(lesson.job().inputs["maxWeight"]))
    value, count, through = np.array([0, 0, 0, 1], dtype), np.array(0), []
    for layer in layers:
        through.append(value)
        value, count = reference.transform_pixel_state(value, count, layer)
    return np.array([*through, value]), int(count)


@few
@given(alphas=some_alphas, count=st.integers(1, 8))
def test_the_states_there_are_the_twins_and_come_back(record_lesson, alphas, count):
    lesson, query = record_lesson("undo", alphas=alphas, count=count)
    through, blended = states(lesson)
    np.testing.assert_allclose(query.output("forward"), through, rtol=3e-6, atol=1e-7)
    np.testing.assert_allclose(query.output("backward"), through, rtol=3e-6, atol=1e-6)
    assert lesson.undone(query).value == str(blended)
    assert lesson.facts(query)["blended"] == blended


@few
@given(alphas=some_alphas)
def test_what_stands_between_is_the_distance_in_floats(record_lesson, alphas):
    lesson, query = record_lesson("undo", alphas=alphas)
    was, back = query.output("forward")[:-1], query.output("backward")[:-1]
    apart = query.output("apart")
    np.testing.assert_array_equal(apart[:, 3], back[:, 3].view(np.int32) - was[:, 3].view(np.int32))
    np.testing.assert_allclose(apart[:, :3], (back[:, :3] - was[:, :3]) * 2**24)
    assert lesson.exact(query).value == f"{np.sum(was[:, 3] == back[:, 3])} of 6"


def test_options_hold_the_answer_and_nothing_impossible(record_lesson):
    for count in (1, 2, 8):
        lesson, query = record_lesson("undo", count=count)
        for answer in (lesson.undone(query), lesson.exact(query)):
            assert answer.value in answer.options
            assert len(set(answer.options)) == len(answer.options) > 1
            assert all(int(option.split()[0]) <= count for option in answer.options)


def test_each_stop_shows_one_more_state(record_lesson):
    lesson, query = record_lesson("undo", count=5)
    stops = lesson.stops(query)
    assert len(stops) == 10
    forward, backward = (query.steps(kind="write", name=name) for name in ("forward", "backward"))
    for number, stop in enumerate(stops, 1):
        assert np.sum(forward <= stop) == 1 + min(number, 5)
        assert np.sum(backward <= stop) == (0 if number <= 5 else number - 4)


def test_alpha_one_without_the_clamp_is_not_a_number(record_lesson):
    alphas = [1.0] + [0.3] * 7
    lesson, query = record_lesson("undo", alphas=alphas, clamped=False)
    assert np.isnan(query.output("backward")[0]).all()
    assert np.isfinite(query.output("backward")[1:]).all()
    assert lesson.undone(query).value == "1"
    assert any(finding.kind == "nan" for finding in query.findings)
    _, query = record_lesson("undo", alphas=alphas, clamped=True)
    assert np.isfinite(query.output("backward")).all()
    assert not query.findings


@pytest.mark.parametrize(("name", "holds"), [("inverse_exact", None), ("guard_prevents", False)])
def test_claims(experiment, name, holds):
    assert getattr(Undo(), name)(experiment).holds is holds


def test_the_error_of_the_inverse_is_as_small_as_the_page_says(experiment):
    off = Undo()._many(experiment, np.linspace(0.005, 0.01, 4096), np.full(4096, 500))["off"].max(axis=0)
    assert 0 < off[0] < 1e-5
    assert 0 < off[1] < 5e-6


def test_one_bit_of_alpha_costs_what_the_page_says(experiment):
    same, other = (
        {curve.label: curve for curve in Undo().by_alpha(experiment).curves}[label] for label in ("the same α", "α one ulp off")
    )
    assert np.nanmax(same.y) < 3e-6
    steep = other.x < 1e-3
    expected = 2.0**-24 / other.x[steep]
    assert np.all(other.y[steep] > 0.7 * expected)
    assert np.all(other.y[steep] < 1.5 * expected)


def test_without_the_guard_transmittance_is_lost(experiment):
    curves = {curve.label: curve for curve in Undo().without_guard(experiment).curves}
    assert np.nanmax(curves["with it"].y) < 1e-5
    assert np.nanmax(curves["without the limit"].y) == 1


def test_the_table_ends_with_a_loss(experiment):
    rows = Undo().clamp(experiment).rows
    assert [row[2] for row in rows] == ["1.0", "1.0", "1.0", "NaN"]


def test_a_picture_is_lost_where_a_layer_of_alpha_one_was_not_clamped(experiment):
    x, y, radius, alpha = sys.modules[Undo.__module__].DISCS[2]
    assert alpha == 1
    across, down = np.meshgrid(np.arange(64), np.arange(24))
    inside = np.hypot(across - x, down - y) < radius
    picture, clamped, whole = Undo().taken_off(experiment).pictures
    assert (picture.pixels[inside] != 255).any(axis=1).all()
    assert (clamped.pixels == 255).all()
    assert (whole.pixels == np.where(inside[..., None], 0, 255)).all()
    assert clamped.caption.endswith(": 0 of 1,536 pixels lost")
    assert whole.caption.endswith(f": {inside.sum()} of 1,536 pixels lost")
