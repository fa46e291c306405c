"""The section on scenes: projection, sort and blend against NumPy, its questions and claims."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from splatscope.lessons.scenes.lesson import AWAY, COUNT, FOCAL, HEIGHT, ORDERS, WIDTH, out_of_order
from splatscope.splat.duck import DUCK, NAMES, numbers
from splatscope.textbook.contents import find_lesson
from splatscope.textbook.experiment import Experiment

Told = Callable[..., tuple[Any, Any]]
CASES = [
    {},
    {"turn": 180, "tilt": 5, "pixel": [48, 20]},
    {"turn": 90, "tilt": 80, "pixel": [0, 0]},
    {"turn": -120, "tilt": -10, "pixel": [95, 63], "order": "as listed"},
]


def turned(quaternion: np.ndarray) -> np.ndarray:
    """Return the matrices of unit quaternions x y z w: (N, 3, 3)."""
    x, y, z, w = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    ).transpose(2, 0, 1)


def seen_from(turn: float, tilt: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return depths (N,), centres (N, 2) and covariances (N, 2, 2) on the picture, with matrices as the papers have them."""
    values = numbers().astype(float)
    a, b = np.radians((turn, tilt))
    forward = -np.array((np.cos(b) * np.sin(a), np.sin(b), np.cos(b) * np.cos(a)))
    right = np.array((np.cos(a), 0, -np.sin(a)))
    world = np.array((right, np.cross(forward, right), forward))
    x, y, z = world @ (values[:3] + AWAY * forward[:, None])
    centers = np.array(((WIDTH - 1) / 2 + FOCAL * x / z, (HEIGHT - 1) / 2 + FOCAL * y / z)).T
    zero = np.zeros_like(z)
    jacobian = np.array(((FOCAL / z, zero, -FOCAL * x / z**2), (zero, FOCAL / z, -FOCAL * y / z**2))).transpose(2, 0, 1)
    axes = turned(values[6:10]) * values[3:6].T[:, None, :]
    flat = jacobian @ world @ axes
    return z, centers, flat @ flat.transpose(0, 2, 1) + 0.09 * np.eye(2)


def painted(turn: float, tilt: float, order: np.ndarray) -> np.ndarray:
    """Return the picture over white, (H, W, 3), as a renderer of one pixel after the other paints it."""
    _, centers, covariances = seen_from(turn, tilt)
    values = numbers().astype(float)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    light, through = np.zeros((HEIGHT, WIDTH, 3)), np.ones((HEIGHT, WIDTH))
    for i in order:
        d = np.stack((x - centers[i, 0], y - centers[i, 1]), axis=-1)
        alpha = np.minimum(0.99, values[13, i] * np.exp(-0.5 * np.einsum("hwi,ij,hwj->hw", d, np.linalg.inv(covariances[i]), d)))
        alpha = np.where(through < 1 / 255, 0, alpha)
        light += (through * alpha)[..., None] * values[10:13, i]
        through = through * (1 - alpha)
    return light + through[..., None]


@pytest.mark.parametrize("values", CASES)
def test_threads_flatten_as_the_papers_say(record_lesson: Told, values: dict[str, Any]) -> None:
    lesson, query = record_lesson("scenes", **values)
    facts = lesson.facts(query)
    depths, centers, covariances = seen_from(lesson.turn, lesson.tilt)
    np.testing.assert_allclose(facts["depths"], depths, atol=2e-4)
    np.testing.assert_allclose(facts["centers"], centers, atol=2e-2)
    arrows = np.array(facts["arrows"])
    np.testing.assert_allclose(np.einsum("gai,gaj->gij", arrows, arrows) + 0.09 * np.eye(2), covariances, rtol=2e-3, atol=5e-2)
    assert not query.findings


@pytest.mark.parametrize("values", CASES)
def test_the_picture_is_that_of_a_list_in_this_order(record_lesson: Told, values: dict[str, Any]) -> None:
    lesson, query = record_lesson("scenes", **values)
    depths, _, _ = seen_from(lesson.turn, lesson.tilt)
    order = np.argsort(depths, kind="stable") if lesson.order == ORDERS[0] else np.arange(COUNT)
    assert lesson.facts(query)["order"] == order.tolist()
    picture = query.output("picture")[..., :3]
    assert np.abs(picture - painted(lesson.turn, lesson.tilt, order)).max() < 0.02  # a pixel may stop a layer earlier or later


@pytest.mark.parametrize("values", CASES)
def test_what_is_said_is_what_happened(record_lesson: Told, values: dict[str, Any]) -> None:
    lesson, query = record_lesson("scenes", **values)
    facts, said = lesson.facts(query), lesson.sentences(query)
    depths = np.array(facts["depths"])
    assert NAMES[int(depths.argmin())] in said[0]
    assert f"{depths.max():.2f} away" in said[1]
    names = [re.match(r"(.+): \d+ of 32 pixels? takes? some of it", line) for line in said[6:-1]]
    alphas = np.array(facts["alphas"])
    assert len(names) == len(lesson.stops(query)) - 7
    visible = {capital(NAMES[facts["order"][turn]]) for turn in range(COUNT) if (alphas[:, turn] >= 1 / 255).any()}
    assert {one[1] for one in names} <= visible
    assert lesson.conclusion(query).startswith(f"{len(names)} of 32 Gaussians")
    assert lesson.shown(query).value == str(len(names))
    assert lesson.nearest(query).value == NAMES[int(depths.argmin())]


def capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def test_another_side_needs_another_order(experiment: Experiment) -> None:
    lesson = find_lesson("scenes")()
    assert lesson.anew(experiment).holds is True
    curve = lesson.swaps(experiment).curves[0]
    assert curve.y[curve.x == 0] == [0]
    assert curve.y.max() > COUNT * (COUNT - 1) // 4


@pytest.mark.parametrize("values", [{}, {"turn": 100, "tilt": 60}])
def test_the_program_for_photographs_draws_the_flattened_scene(experiment: Experiment, values: dict[str, Any]) -> None:
    assert find_lesson("scenes")(**values).same(experiment).holds is True


def test_pairs_are_counted() -> None:
    assert out_of_order(np.array([2, 0, 1]), np.array([1.0, 2.0, 0.5])) == 0
    assert out_of_order(np.array([0, 1, 2]), np.array([1.0, 2.0, 0.5])) == 2


def test_a_flat_gaussian_is_close_to_what_rays_find_and_not_the_same(experiment: Experiment) -> None:
    verdict = find_lesson("scenes")().exact(experiment)
    most = float(re.search(r"difference: \*\*([\d.]+)\*\*", verdict.ran)[1])
    assert verdict.holds is False
    assert 1 / 255 < most < 0.2


def test_the_duck_is_of_unit_quaternions_and_positive_sizes() -> None:
    values = numbers()
    assert values.shape == (14, len(DUCK))
    np.testing.assert_allclose(np.linalg.norm(values[6:10], axis=0), 1, atol=1e-6)
    assert (values[3:6] > 0).all()
    assert ((values[10:14] >= 0) & (values[10:14] <= 1)).all()
