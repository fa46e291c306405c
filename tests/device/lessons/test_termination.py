"""The section on termination: its scene against the NumPy twin, its questions and claims."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reference
from splatscope.lessons.termination.lesson import MOST, walked
from splatscope.textbook.contents import find_lesson
from splatscope.textbook.experiment import Experiment

Told = Callable[..., tuple[Any, Any]]

few = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
counts, alphas = st.integers(1, MOST), st.integers(2, 98).map(lambda n: n / 100)


def light(count: int, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """T before the first layer and after each, in float32 as the device counts it: as the program has it, and with every layer."""
    found = np.ones((2, count + 1), np.float32)
    left = np.float32(1) - np.float32(alpha)
    for i in range(count):
        found[0, i + 1] = found[0, i] if found[0, i] < np.float32(reference.OPAQUE) else found[0, i] * left
        found[1, i + 1] = found[1, i] * left
    return found[0], found[1]


@few
@given(counts, alphas)
def test_the_scene_is_what_the_twin_blends(record_lesson: Told, count: int, alpha: float) -> None:
    lesson, query = record_lesson("termination", count=count, alpha=alpha)
    program, every = light(count, alpha)
    found = walked(query)
    np.testing.assert_allclose([one["before"] for one in found], program[:-1], rtol=1e-5)
    np.testing.assert_allclose([one["after"] for one in found], program[1:], rtol=1e-5)
    np.testing.assert_allclose([one["open"] for one in found], every[1:], rtol=1e-5)
    np.testing.assert_allclose(
        [one["adds"] for one in found], 255 * alpha * every[:-1], rtol=1e-3, atol=1e-4
    )  # a difference near 1
    assert [one["end"] for one in found] == lesson.stops(query)
    assert all(one["adds"] < 1 for one in found if not one["blended"])


@pytest.mark.parametrize(("count", "alpha"), [(45, 0.15), (15, 0.15), (64, 0.15), (128, 0.5), (1, 0.99), (7, 0.9)])
def test_answers_are_the_twins(record_lesson: Told, count: int, alpha: float) -> None:
    lesson, query = record_lesson("termination", count=count, alpha=alpha)
    blended = int(np.sum(light(count, alpha)[0][:-1] >= reference.OPAQUE))
    missing, evaluated = lesson.missing(query), lesson.evaluated(query)
    through, every = light(count, alpha)
    assert float(missing.value.split()[0]) == pytest.approx(255 * (through[-1] - every[-1]), abs=0.0051)
    assert evaluated.value == str(count)
    assert lesson.facts(query)["finalCount"] == blended
    for answer in (missing, evaluated):
        assert answer.value in answer.options
        assert len(set(answer.options)) == len(answer.options) <= 4
        assert 0 < answer.step <= len(query)


def test_what_is_left_out_adds_less_than_a_step_unless_colours_are_brighter_than_white(experiment: Experiment) -> None:
    lesson = find_lesson("termination")()
    verdict = lesson.unseen(experiment)
    assert verdict.holds is None
    said = (float(number.replace(",", "")) for number in re.findall(r"\*\*([\d.,]+)\*\*", verdict.ran)[1:])
    most, one, more, opaque, lose, trained_most = said
    assert 0.5 < most < 1
    assert one > 1_000  # of 2,000 stacks
    assert more == 0
    assert opaque > lose > 0
    assert 1 < trained_most < 10
    layers = np.random.default_rng(2).random((20, 50, 4), np.float32)
    found = experiment.run(lesson._stacks(layers))
    program, every = (np.tile([0.0, 0, 0, 1], (20, 1)) for _ in range(2))
    number = np.zeros(20, int)
    for i in range(50):
        program, number = reference.transform_pixel_state(program, number, layers[:, i].astype(float))
        every = reference.alpha_blend(every, layers[:, i].astype(float))
    np.testing.assert_array_equal(found["finalCount"], number)
    np.testing.assert_allclose(found["pixel"], program, atol=1e-6)
    np.testing.assert_allclose(found["difference"], every - program, atol=1e-6)


def test_the_loop_fetches_every_layer_and_the_verdict_follows_the_times_beside_it(experiment: Experiment) -> None:
    verdict = find_lesson("termination")().saves(experiment)
    assert verdict.holds is not True
    assert "**8** blended, **64** fetched" in verdict.ran
    without, limit, leave = map(float, re.findall(r"\*\*([\d.]+)\*\*\u2009ms", verdict.ran))
    shares = [int(share) / 100 for share in re.findall(r"(\d+)%", verdict.said)]
    assert (len(shares) == 2) == (verdict.holds is None) == ("saves no time" not in verdict.said)
    if verdict.holds is None:
        assert shares[0] == pytest.approx(1 - limit / without, abs=0.02)  # of times that are rounded to 0.01 ms
    assert shares[-1] == pytest.approx(1 - leave / without, abs=0.02)


def test_the_three_kernels_draw_one_picture(experiment: Experiment) -> None:
    lesson = find_lesson("termination")()
    drawn = {entry: experiment.run(lesson._tiles(entry))["picture"] for entry in ("withLimit", "withoutLimit", "withBreak")}
    np.testing.assert_array_equal(drawn["withLimit"], drawn["withBreak"])
    np.testing.assert_allclose(drawn["withLimit"][..., :3], drawn["withoutLimit"][..., :3], atol=1 / 255)
    assert drawn["withLimit"][..., 3].max() < 64 < drawn["withoutLimit"][..., 3].min()  # so a break has much to save


@pytest.mark.parametrize("alpha", [0.15, 0.9])
def test_only_with_the_limit_does_it_come_back(experiment: Experiment, alpha: float) -> None:
    limited, unlimited = find_lesson("termination")(alpha=alpha).way_back(experiment).curves
    np.testing.assert_allclose(limited.y, 1, atol=1e-5)
    assert unlimited.y[0] == pytest.approx(1, abs=1e-6)
    assert not np.isclose(unlimited.y[-1], 1)  # 0, or beyond the chart
