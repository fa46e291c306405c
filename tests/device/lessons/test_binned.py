"""The section on the fast kernels: its lists against NumPy, its questions, its claim and what it counts."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from splatscope.lessons.binned.lesson import COLUMNS, COUNT, ROWS, RUN, RUN_COUNT, TILE, TILES, run_state
from splatscope.splat.trainer import Trainer
from splatscope.textbook.contents import find_lesson
from splatscope.textbook.experiment import Experiment

Told = Callable[..., tuple[Any, Any]]
CASES = [{}, {"size": 0.5, "seed": 0}, {"size": 8.0}, {"size": 5.0, "seed": 42}, {"size": 1.5, "seed": 99}]


def least_distances(raw: np.ndarray) -> np.ndarray:
    """d² to the nearest point of the rectangle between a tile's outermost pixels, by a dense search: (Gaussians, tiles)."""
    x, y, first, second, angle = raw[:5].astype(float)
    grid = np.linspace(0, TILE - 1, 141)
    corners = np.array([(column * TILE, row * TILE) for row in range(ROWS) for column in range(COLUMNS)], float)
    dx = corners[None, :, 0, None] + grid - x[:, None, None]  # Gaussian, tile, point
    dy = corners[None, :, 1, None] + grid - y[:, None, None]
    c, s = np.cos(angle)[:, None, None, None], np.sin(angle)[:, None, None, None]
    sizes = 0.3 + np.exp([first, second])[:, :, None, None, None]
    along = (c * dx[..., None, :] + s * dy[..., :, None]) / sizes[0]
    across = (-s * dx[..., None, :] + c * dy[..., :, None]) / sizes[1]
    return (along**2 + across**2).min(axis=(2, 3))


def pairs(raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which Gaussians surely overlap which tiles, and which may: (Gaussians, tiles) each."""
    cutoff = 2 * np.log(255 / (1 + np.exp(-raw[8].astype(float))))[:, None]
    nearest = least_distances(raw)
    return nearest < 0.999 * cutoff, nearest < 1.03 * cutoff + 0.03


def lists_of(query: Any) -> list[list[int]]:
    parts, lists = query.output("tileList"), query.output("lists")
    return [lists[begin : begin + length, 0].tolist() for begin, length in parts]


@pytest.mark.parametrize("values", CASES)
def test_each_tile_has_the_gaussians_whose_ellipse_reaches_it(record_lesson: Told, values: dict[str, Any]) -> None:
    lesson, query = record_lesson("binned", **values)
    surely, maybe = pairs(lesson._scene())
    for tile, ids in enumerate(lists_of(query)):
        assert len(set(ids)) == len(ids)
        assert set(np.flatnonzero(surely[:, tile])) <= set(ids) <= set(np.flatnonzero(maybe[:, tile]))
    parts = query.output("tileList")
    order = parts[np.argsort(parts[:, 0], kind="stable")]
    taken = order[order[:, 1] > 0]
    np.testing.assert_array_equal(taken[:, 0], np.r_[0, np.cumsum(taken[:, 1])[:-1]])  # side by side, without a hole
    assert not query.findings


@pytest.mark.parametrize("values", CASES)
def test_what_is_drawn_is_what_memory_holds(record_lesson: Told, values: dict[str, Any]) -> None:
    lesson, query = record_lesson("binned", **values)
    facts, lists = lesson.facts(query), query.output("lists")
    np.testing.assert_array_equal([part[1:] for part in facts["parts"]], query.output("tileList"))
    np.testing.assert_array_equal([row[1:] for row in facts["numbered"]], query.output("duplicatesOf"))
    assert sorted(place for _, place, *_ in facts["placed"]) == list(range(len(facts["placed"])))
    for _, place, gaussian, number in facts["placed"]:
        np.testing.assert_array_equal(lists[place], [gaussian, number])
        first, count = query.output("duplicatesOf")[gaussian]
        assert first <= number < first + count
    counts = np.bincount([tile for _, tile in facts["counted"]], minlength=TILES)
    np.testing.assert_array_equal(counts, query.output("tileList")[:, 1])
    assert not query.output("tileCount").any()  # cleared for the next iteration


@pytest.mark.parametrize("values", CASES)
def test_answers_are_counted_from_memory(record_lesson: Told, values: dict[str, Any]) -> None:
    lesson, query = record_lesson("binned", **values)
    missed, tests = lesson.missed(query), lesson.tests(query)
    assert int(missed.value) == int(tests.value) - query.output("tileList")[:, 1].sum()
    x, y, first, second, angle, *_, logit = lesson._scene().astype(float)
    cutoff = 2 * np.log(255 / (1 + np.exp(-logit)))
    sizes = 0.3 + np.exp([first, second])
    half = [
        np.sqrt(cutoff * ((f(angle) * sizes[0]) ** 2 + (g(angle) * sizes[1]) ** 2)) for f, g in ((np.cos, np.sin), (np.sin, np.cos))
    ]
    spans = [
        np.clip(np.floor((at + reach) / TILE) + 1, 0, most) - np.clip(np.floor((at - reach) / TILE), 0, most)
        for at, reach, most in ((x, half[0], COLUMNS), (y, half[1], ROWS))
    ]
    assert int(tests.value) == int((spans[0] * spans[1]).sum())
    for answer in (missed, tests):
        assert answer.value in answer.options
        assert len(set(answer.options)) == len(answer.options) <= 4
        assert set(answer.wrong) == set(answer.options) - {answer.value}
        assert answer.step in lesson.stops(query)


def test_the_pictures_differ_by_a_few_steps(experiment: Experiment) -> None:
    verdict = find_lesson("binned")().same_picture(experiment)
    assert verdict.holds is True
    largest = float(verdict.ran.split("difference **")[1].split("**")[0])
    assert 0.01 < largest < 12


def test_a_real_run_saves_most_tests(experiment: Experiment) -> None:
    bars = find_lesson("binned")().pairs(experiment)
    sample, fast, met = bars.amounts
    assert sample == RUN_COUNT * (-(-RUN[0] // 8)) * (-(-RUN[1] // 4))
    assert sample > 20 * fast > 20 * met > 0
    trainer = Trainer(experiment.device, run_state("binned"))
    trainer.look()
    if trainer.kernels.tile[0] == TILE:  # a device with wide waves may choose larger tiles
        assert int(trainer.kernels.list_lengths().sum()) == met


def test_the_times_are_of_all_kernels_of_an_iteration(experiment: Experiment) -> None:
    sample, fast, words = find_lesson("binned")().times(experiment).shows
    assert [row[0] for row in sample.rows[:-1]] == [
        f"`{name}`" for name in ("clearDerivativesMain", "computeDerivativesMain", "updateBlobsMain")
    ]
    assert [row[0] for row in fast.rows[:-1]] == [
        f"`{name}`" for name in ("allocateMain", "scatterMain", "binnedDerivativesMain", "binnedUpdateMain")
    ]
    for shown in (sample, fast):
        assert float(shown.rows[-1][1]) == pytest.approx(sum(float(row[1]) for row in shown.rows[:-1]), abs=0.03)
        assert all(row[2] for row in shown.rows[:-1])
    assert re.search(r"about \d+ times as fast", words.text)
    assert COUNT == 8
