"""The section on one Gaussian: its picture and its pixel against the NumPy twin, its questions, its claim and what it shows."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reference
from splatscope.lessons.gaussian.lesson import (
    CROWD_AT,
    FISH,
    HEIGHT,
    HIGH,
    LOW,
    NOTICED,
    PHOTOGRAPH_COUNTS,
    WIDTH,
    away,
    fish,
    raw,
    seen,
)
from splatscope.textbook.contents import find_lesson
from splatscope.textbook.experiment import Experiment
from splatscope.web.lesson_page.lesson_form import set_parameter

Told = Callable[..., tuple[Any, Any]]

nine = st.tuples(*(st.floats(low, high) for low, high in zip(LOW, HIGH, strict=True))).map(list)
pixels = st.tuples(st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1)).map(list)
few = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ALL = np.stack(np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT)), -1).reshape(-1, 2).astype(float)


def scene(numbers: list[float]) -> reference.Gaussians:
    return reference.load_direct(raw(numbers).astype(float))


def distances(numbers: list[float], at: np.ndarray) -> np.ndarray:
    """The distance of pixels from the centre in sizes, by the eigenvectors of the covariance: (n,)."""
    x, y, first, second, angle, *_ = (float(np.float32(number)) for number in numbers)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    covariance = turn @ np.diag((0.3 + np.exp([first, second])) ** 2) @ turn.T
    offset = at - [x, y]
    return np.sqrt(np.einsum("ni,ij,nj->n", offset, np.linalg.inv(covariance), offset))


@few
@given(nine, pixels)
def test_the_pixel_finds_what_the_twin_finds(record_lesson: Told, numbers: list[float], pixel: list[int]) -> None:
    lesson, query = record_lesson("gaussian", numbers=numbers, pixel=pixel)
    found = seen(query)
    straight = reference.evaluate(scene(numbers), 0, np.array([pixel], float))[0]
    np.testing.assert_allclose([found["alpha"], found["layer"]], straight[3], atol=2e-5)
    np.testing.assert_allclose(found["light"], 1 - straight[3], atol=2e-5)
    np.testing.assert_allclose(found["color"], straight[:3] * straight[3] + 1 - straight[3], atol=4e-5)
    np.testing.assert_allclose(found["distance"], distances(numbers, np.array([pixel]))[0], rtol=2e-4, atol=1e-5)
    np.testing.assert_allclose(np.hypot(*found["turned"]), np.hypot(*found["offset"]), rtol=1e-4, atol=1e-5)
    assert lesson.stops(query) == sorted(set(lesson.stops(query)))


@few
@given(nine)
def test_every_pixel_is_painted_and_lies_on_the_bell_curve(record_lesson: Told, numbers: list[float]) -> None:
    lesson, query = record_lesson("gaussian", numbers=numbers)
    expected = reference.render_list(scene(numbers), np.arange(1), ALL)
    np.testing.assert_allclose(query.output("picture")[..., :3].reshape(-1, 3), expected, atol=4e-5)
    dots = np.array(lesson.facts(query)["dots"]).reshape(-1, 3)
    near = np.sort(distances(numbers, ALL))
    near = near[near <= 4]
    assert len(dots) == min(240, len(near)) or abs(len(dots) - len(near)) <= 2  # a pixel may lie at 4.0 but for rounding
    np.testing.assert_allclose(dots[:, 1], np.exp(-0.5 * dots[:, 0] ** 2), atol=3e-3)
    np.testing.assert_allclose(dots[:, 2], dots[:, 1] * seen(query)["opacity"], atol=2e-3)


@few
@given(nine, pixels)
def test_answers_are_the_twins(record_lesson: Told, numbers: list[float], pixel: list[int]) -> None:
    lesson, query = record_lesson("gaussian", numbers=numbers, pixel=pixel)
    reach, paper = lesson.reach(query), lesson.paper(query)
    named = re.search(r"pixel \((\d+), (\d+)\)", paper.question)
    asked = [int(named[1]), int(named[2])] if named else pixel
    alpha = reference.evaluate(scene(numbers), 0, np.array([asked], float))[0][3]
    chosen = reference.evaluate(scene(numbers), 0, np.array([pixel], float))[0][3]
    assert bool(named) == (not 0.05 <= chosen <= 0.95) or min(abs(chosen - 0.05), abs(chosen - 0.95)) < 1e-4
    assert int(paper.value[:-1]) == pytest.approx(100 * (1 - alpha) ** 2, abs=0.51)
    painted = reference.render_list(scene(numbers), np.arange(1), ALL)
    changed = int(reach.value.replace(",", ""))
    assert (painted < 1 - 0.51 / 255).any(axis=1).sum() <= changed <= (painted < 1 - 0.49 / 255).any(axis=1).sum()
    for answer in (reach, paper):
        assert answer.value in answer.options
        assert len(set(answer.options)) == len(answer.options) <= 4
        assert set(answer.wrong) == set(answer.options) - {answer.value}
    assert reach.step == len(query)  # the end, whose sentence gives the number
    assert paper.step == 0, "the figure cannot show two Gaussians"


def test_the_question_of_the_reach_has_four_answers_at_first(record_lesson: Told) -> None:
    lesson, query = record_lesson("gaussian")
    reach = lesson.reach(query)
    inside = {name: int((distances(lesson.numbers, ALL) <= sizes).sum()) for name, sizes in (("one", 1), ("two", 2))}
    assert {f"{inside['one']:,}", f"{inside['two']:,}", "2,400"} == set(reach.wrong)


def test_a_soft_brush_can_paint_edges(experiment: Experiment) -> None:
    verdict = find_lesson("gaussian")().sharp(experiment)
    assert verdict.holds is True
    photograph, drawn = (int(text.replace(",", "")) for text in verdict.ran.split("**")[1::2])
    assert photograph > 1000
    assert drawn > photograph / 2


def test_far_more_pixels_notice_a_moved_bell_than_a_moved_disc(experiment: Experiment) -> None:
    lesson = find_lesson("gaussian")()
    bell, bell_change, disc, disc_change = (one.pixels for one in lesson.edge(experiment).pictures)
    expected = reference.evaluate(scene(lesson.numbers), 0, ALL)[:, 3].reshape(HEIGHT, WIDTH)
    np.testing.assert_allclose(bell, expected, atol=2e-5)
    np.testing.assert_array_equal(disc > 0, bell > bell_full(lesson) / 2)
    assert (np.abs(bell_change) > NOTICED).sum() > 50 * (np.abs(disc_change) > NOTICED).sum()
    assert set(np.unique(np.round(np.abs(disc_change), 4))) <= {0, np.float32(np.round(bell_full(lesson), 4))}


def bell_full(lesson: Any) -> float:
    return 1 / (1 + np.exp(-lesson.numbers[8]))


def test_ten_gaussians_are_a_fish(experiment: Experiment) -> None:
    shown = find_lesson("gaussian")().ten(experiment)
    assert len(shown.scenes) == len(FISH) == 10
    last = shown.scenes[-1].pictures[0].pixels.astype(int)
    expected = reference.render_list(reference.load_direct(fish(10).astype(float)), np.arange(10), points(last))
    np.testing.assert_allclose(last.reshape(-1, 3), 255 * expected, atol=1.01)
    assert last[29, 46, 0] > last[29, 46, 2] + 50  # the body is orange
    assert last[10, 10, 2] > last[10, 10, 0] + 50  # in a blue sea


def points(picture: np.ndarray) -> np.ndarray:
    return np.stack(np.meshgrid(np.arange(picture.shape[1]), np.arange(picture.shape[0])), -1).reshape(-1, 2).astype(float)


def test_a_thousand_random_gaussians_come_nearer_to_the_photograph(experiment: Experiment) -> None:
    shown = find_lesson("gaussian")().thousand(experiment)
    assert len(shown.scenes) == len(CROWD_AT)
    target = shown.scenes[0].pictures[0].pixels.astype(float)
    wrong = [np.abs(scene.pictures[1].pixels - target).mean() / 255 for scene in shown.scenes]
    assert wrong == sorted(wrong, reverse=True)
    assert wrong[0] > 0.2
    assert wrong[-1] < 0.04
    for off, words in zip(wrong, shown.words, strict=True):
        assert int(words.split("off by ")[1].split("%")[0]) == pytest.approx(100 * off, abs=0.7)


def test_the_photograph_comes_near_with_all_of_its_gaussians(experiment: Experiment) -> None:
    shown = find_lesson("gaussian")().photograph(experiment)
    *drawn, photograph = (scene.pictures[0].pixels.astype(float) for scene in shown.scenes)
    assert len(drawn) == len(PHOTOGRAPH_COUNTS)
    wrong = [np.abs(picture - photograph).mean() / 255 for picture in drawn]
    assert wrong[-1] < 0.05 < wrong[0]
    assert f"{photograph.size:,} numbers" in shown.words[-1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("numbers", [1.0] * 8),
        ("numbers", [1.0] * 8 + [5.0]),
        ("numbers", [1.0] * 8 + ["1"]),
        ("numbers", [float("nan")] * 9),
        ("numbers", [True] * 9),
        ("pixel", [WIDTH, 0]),
        ("pixel", [0, -1]),
        ("pixel", [0.5, 0]),
    ],
)
def test_what_no_gaussian_has_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=find_lesson("gaussian").param[name].label):
        set_parameter(find_lesson("gaussian")(), name, value)


@pytest.mark.parametrize(
    ("offset", "words"),
    [
        ((9, 2), "9.0 pixels to the right of the centre and 2.0 below it"),
        ((-9, -2), "9.0 pixels to the left of the centre and 2.0 above it"),
        ((0.04, -2), "2.0 pixels above the centre"),
        ((-0.3, 0.01), "0.3 pixels to the left of the centre"),
        ((0, 0), "in the centre"),
    ],
)
def test_where_a_pixel_lies_is_said_in_words(offset: tuple[float, float], words: str) -> None:
    assert away(*offset) == words
