"""The training of one tile against the NumPy twin, what leaving a kernel out does, the gradient map, and the page's claims."""

import re

import numpy as np
import pytest

import reference
from helpers.numbers_in_text import NUMBER, value_of

COUNT, KERNELS = 27, ("clear", "derivatives", "update", "render")
CASES = [{}, {"without": "clear"}, {"without": "derivatives"}, {"without": "update"}, {"without": "render"}, {"iterations": 1}]


def kept(lesson, query) -> tuple[np.ndarray, np.ndarray]:
    """Raw values and gradients, at first and after each kernel: (4 · iterations + 1, 27) each."""
    return np.moveaxis(query.output("kept"), 2, 0)


def gradient(raw: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(27,): by differences of the twin's loss."""
    y, x = np.mgrid[0:4, 0:8]
    pixels = np.stack([x.ravel(), y.ravel()], -1)

    def loss(values: np.ndarray) -> float:
        picture = reference.render_list(reference.load_direct(values.reshape(9, 3)), np.arange(3), pixels)
        return float(((picture - wanted) ** 2).sum() / len(pixels))

    return np.array([(loss(raw + one) - loss(raw - one)) / 2e-5 for one in 1e-5 * np.eye(COUNT)])


@pytest.mark.parametrize("values", CASES)
def test_each_kernel_does_its_part(record_lesson, values):
    lesson, query = record_lesson("training-loop", **values)
    raw, slope = kept(lesson, query)
    wanted = lesson.job().inputs["targetBuffer"][..., :3].reshape(-1, 3)
    p, m, v, held = raw[0].astype(float), np.zeros(COUNT), np.zeros(COUNT), np.zeros(COUNT)
    rates = np.repeat((0.3, 0.3, 0.1, 0.1, 0.1, 0.08, 0.08, 0.08, 0.3), 3)
    for t in range(1, lesson.iterations + 1):
        cleared, added, updated, rendered = range(4 * t - 3, 4 * t + 1)
        held = held if lesson.without == "clear" else np.zeros(COUNT)
        np.testing.assert_allclose(slope[cleared], held, rtol=2e-3, atol=2e-5)
        held = slope[cleared] + (0 if lesson.without == "derivatives" else gradient(p, wanted))
        np.testing.assert_allclose(slope[added], held, rtol=2e-2, atol=5e-5)
        if lesson.without != "update":
            p, m, v = reference.adam(p, m, v, slope[added].astype(float), t, rates)
        np.testing.assert_allclose(raw[updated], p, rtol=1e-4, atol=2e-4)
        np.testing.assert_array_equal(raw[rendered], raw[updated])
        np.testing.assert_array_equal(slope[rendered], slope[added])
        p = raw[updated].astype(float)
        held = slope[added]
    assert query.findings == []


@pytest.mark.parametrize("values", CASES)
def test_the_picture_is_that_of_the_last_values(record_lesson, values):
    lesson, query = record_lesson("training-loop", **values)
    picture = query.output("outputBuffer")[..., :3].reshape(-1, 3)
    if lesson.without == "render":
        assert not picture.any()
        return
    y, x = np.mgrid[0:4, 0:8]
    g = reference.load_direct(query.output("blobsBuffer").astype(float).reshape(9, 3))
    np.testing.assert_allclose(picture, reference.render_list(g, np.arange(3), np.stack([x.ravel(), y.ravel()], -1)), atol=1e-3)


@pytest.mark.parametrize("values", CASES)
def test_there_is_a_stop_for_each_kernel(record_lesson, values):
    lesson, query = record_lesson("training-loop", **values)
    stops, facts = lesson.stops(query), lesson.facts(query)
    assert stops == sorted(stops) == facts["ends"]
    assert len(stops) == 4 * lesson.iterations
    assert np.shape(facts["kept"]) == (2, len(stops) + 1, COUNT)
    writes = query.steps(kind="write", name="blobsBuffer")
    for t in range(lesson.iterations):
        inside = (writes > stops[4 * t + 1]) & (writes <= stops[4 * t + 2])
        assert inside.sum() == (0 if lesson.without == "update" else COUNT)


@pytest.mark.parametrize("values", CASES)
def test_answers(record_lesson, values):
    lesson, query = record_lesson("training-loop", **values)
    additions, busy = lesson.additions(query), lesson.busy(query)
    assert busy.value == ("0" if lesson.without == "update" else "27")
    many = int(additions.value.replace(",", ""))
    assert many % COUNT == 0
    assert (many == 0) == (lesson.without == "derivatives")
    for answer in (additions, busy):
        assert answer.value in answer.options
        assert len(set(answer.options)) == len(answer.options) <= 4


def test_shares_of_pixels_add_up_to_the_gradient(record_lesson, experiment):
    lesson, _ = record_lesson("training-loop", field="red", gaussian=4)
    film = lesson.film(experiment)
    assert len(film.scenes) == len(film.words) == 41
    for scene, words in zip(film.scenes, film.words, strict=True):
        target, picture, shares = scene.pictures
        assert target.pixels.shape == picture.pixels.shape == (24, 32, 3)
        sums = [value_of(word) for word in re.findall(rf"(?:up to|holds) {NUMBER}", words)]
        assert sums[0] == pytest.approx(sums[1], rel=0.02, abs=1e-6)
        assert sums[0] == pytest.approx(float(shares.pixels.sum()), rel=0.01, abs=1e-6)


def test_without_the_clear_the_buffer_holds_more_than_the_map(record_lesson, experiment):
    lesson, _ = record_lesson("training-loop", without="clear", gaussian=10)
    off = 0
    for words in lesson.film(experiment).words[5:]:
        one, held = (value_of(word) for word in re.findall(rf"(?:up to|holds) {NUMBER}", words))
        off += abs(one - held) > 0.1 * abs(held)
    assert off > 20


def test_leaving_one_out(record_lesson, experiment):
    curves, table = record_lesson("training-loop")[0].left_out(experiment).shows
    ends = {row[1]: float(row[0].split()[0]) for row in table.rows}
    start = curves.curves[0].y[0]
    assert ends["all four"] > start + 5
    assert ends["without clear"] < ends["all four"] - 2
    assert ends["without update"] == ends["without derivatives"] == pytest.approx(start, abs=0.05)


def test_claims(record_lesson, experiment):
    lesson, _ = record_lesson("training-loop")
    holds = {name: getattr(lesson, name)(experiment) for name in ("three", "zeroed", "sampled", "skips")}
    assert {name for name, verdict in holds.items() if verdict.holds} == {"zeroed", "skips"}


def test_the_posts_own_numbers_stand_beside_ours(record_lesson, experiment):
    lesson, _ = record_lesson("training-loop")
    faster, better = lesson.faster(experiment), lesson.better(experiment)
    simple, tiled = (float(one) for one in re.findall(r"(?:simple|tiled): \*\*([\d.]+) ms\*\*", faster.ran))
    assert simple > tiled
    assert faster.holds is None
    few, many = (float(one) for one in re.findall(r"Gaussians \*\*([\d.]+) dB\*\*", better.ran))
    assert many > few + 3
    assert better.holds == (True if many - few >= 20 else None if many - few >= 10 else False)


def test_gradients_are_the_differences_but_for_smoothstep(record_lesson, experiment):
    table = record_lesson("training-loop")[0].check(experiment)
    values = np.array([[float(cell.replace("−", "-")) for cell in row[1:]] for row in table.rows])
    assert values.shape == (9, 5)
    for kernel, difference in ((0, 1), (2, 3)):
        np.testing.assert_allclose(values[:, kernel], values[:, difference], rtol=0.05, atol=2e-5)
        assert np.abs(values[:, kernel]).min() > 0
    assert not values[:, 4].any()


def test_simple_and_tiled_draw_the_same(record_lesson, experiment):
    simple, tiled, apart = (picture.pixels for picture in record_lesson("training-loop")[0].same(experiment).pictures)
    assert apart.max() < 0.5
    assert np.abs(simple.astype(int) - tiled).max() <= 1
    assert simple.std() > 20


def test_the_simple_one_stores_a_state_for_each_gaussian(record_lesson, experiment):
    rows = record_lesson("training-loop")[0].cost(experiment).rows
    counts, held = ([int(row[column].replace(",", "")) for row in rows] for column in (0, 5))
    each = (held[-1] - held[0]) / (counts[-1] - counts[0])
    assert each > 16
    assert held[1] == pytest.approx(held[0] + each * (counts[1] - counts[0]), rel=0.01)
    assert all(row[6] == "0" for row in rows)
