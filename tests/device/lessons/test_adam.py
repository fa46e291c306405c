"""The section on Adam: a training in one workgroup against the NumPy twin, the quizzes and claims."""

import numpy as np
import pytest

import reference

CASES = [{}, {"correction": "1 − β, as the sample"}, {"rate": 0.5, "beta1": 0.5, "beta2": 0.9}, {"beta1": 0.0}]
ITERATIONS, COUNT = 48, 27


def series(facts: dict, row: int, label: str) -> np.ndarray:
    """(27, 48): what the drawing shows as this curve."""
    return np.array(next(curve["values"] for curve in facts["rows"][row]["curves"] if curve["label"] == label))


@pytest.mark.parametrize("values", CASES)
def test_every_value_goes_the_way_of_the_twin(record_lesson, values):
    lesson, query = record_lesson("adam", **values)
    facts = lesson.facts(query)
    g, as_sample = series(facts, 1, "g"), lesson.correction != "1 − βᵗ"
    m, v, p = np.zeros(COUNT), np.zeros(COUNT), lesson.job().inputs["blobsBuffer"].astype(float)
    for t in range(ITERATIONS):
        moved, m, v = reference.adam(p, m, v, g[:, t], t + 1, lesson.rates(), lesson.beta1, lesson.beta2, sample=as_sample)
        np.testing.assert_allclose(series(facts, 1, "m")[:, t], m, rtol=2e-3, atol=1e-7)
        np.testing.assert_allclose(series(facts, 2, "v")[:, t], v, rtol=2e-3, atol=1e-12)
        took = series(facts, 0, "the sample's" if as_sample else "corrected")[:, t] * lesson.rates()
        np.testing.assert_allclose(took, moved - p, rtol=5e-3, atol=2e-4 * lesson.rate)
        p = series(facts, 3, "")[:, t]
        np.testing.assert_allclose(p, moved, rtol=2e-4, atol=1e-3 * lesson.rate)
    assert query.findings == []


def test_gradients_are_those_of_the_picture(record_lesson):
    """The first iteration's, against differences of the loss by the twin."""
    lesson, query = record_lesson("adam")
    job = lesson.job()
    y, x = np.mgrid[0:12, 0:16]
    pixels, wanted = np.stack([x.ravel(), y.ravel()], -1), job.inputs["targetBuffer"][..., :3].reshape(-1, 3)

    def loss(raw: np.ndarray) -> float:
        picture = reference.render_list(reference.load_direct(raw.reshape(9, 3)), np.arange(3), pixels, guard=False)
        return float(((picture - wanted) ** 2).sum() / len(pixels))

    raw = job.inputs["blobsBuffer"].astype(float)
    step = 1e-5 * np.eye(COUNT)
    expected = [(loss(raw + one) - loss(raw - one)) / 2e-5 for one in step]
    np.testing.assert_allclose(series(lesson.facts(query), 1, "g")[:, 0], expected, rtol=2e-3, atol=2e-6)


def test_the_picture_comes_closer_to_its_target(record_lesson):
    lesson, query = record_lesson("adam")
    frames, wanted = query.output("frames")[..., :3], lesson.job().inputs["targetBuffer"][..., :3]
    off = ((frames - wanted) ** 2).mean(axis=(1, 2, 3))
    assert off[-1] < 0.1 * off[0]
    assert len(lesson.facts(query)["frames"]) == ITERATIONS + 1


@pytest.mark.parametrize("values", CASES)
def test_stops_are_ends_of_iterations(record_lesson, values):
    lesson, query = record_lesson("adam", **values)
    stops, ends = lesson.stops(query), lesson.facts(query)["ends"]
    assert len(stops) == ITERATIONS
    assert stops == ends[-1]
    assert all(row == sorted(row) for row in ends)


@pytest.mark.parametrize("values", CASES)
def test_answers(record_lesson, values):
    lesson, query = record_lesson("adam", **values)
    facts = lesson.facts(query)
    g, m = series(facts, 1, "g")[0], series(facts, 1, "m")[0]
    assert lesson.against(query).value == str(int(np.sum(g * m < 0)))
    assert lesson.first(query).value == "by η, every one"
    for answer in (lesson.first(query), lesson.against(query)):
        assert answer.value in answer.options
        assert len(set(answer.options)) == len(answer.options) <= 4


def test_claims(record_lesson, experiment):
    lesson, _ = record_lesson("adam")
    corrected, erratic = lesson.corrected(experiment), lesson.erratic(experiment)
    assert not corrected.holds
    assert erratic.holds is None
    assert "step 12: 1.00 η, **2.08 η**" in corrected.ran
    assert "0.316 η" in corrected.ran
    assert "once 1,000: a step of **2.5 η**" in erratic.ran


def test_streams_end_where_theory_says(record_lesson, experiment):
    lesson, _ = record_lesson("adam")
    _, table = lesson.streams(experiment).shows
    right, in_sample = (np.array([float(row[which].split()[0]) for row in table.rows]) for which in (1, 2))
    limit = np.sqrt(1e-3) / 0.1  # of the sample's divisors, for a constant gradient
    np.testing.assert_allclose([right[0], right[3]], 1, rtol=1e-3)
    np.testing.assert_allclose(in_sample, right * limit, rtol=0.02)
    assert right[1] == pytest.approx(np.sqrt(0.1 / 1.9 * 2 / np.pi), rel=0.1)  # the mean of |m| under noise
    assert right[1] < right[2] < right[0]


def test_constant_gradient_is_the_twins(record_lesson, experiment):
    lesson, _ = record_lesson("adam", beta1=0.8, beta2=0.99)
    for curve, as_sample in zip(lesson.constant(experiment).curves, (False, True), strict=True):
        p = m = v = 0.0
        steps = []
        for t in range(1, int(curve.x[-1]) + 1):
            before = p
            p, m, v = reference.adam(p, m, v, 1.0, t, 1.0, 0.8, 0.99, sample=as_sample)
            steps.append(before - p)
        np.testing.assert_allclose(curve.y, np.array(steps)[curve.x - 1], rtol=2e-3)


def test_only_adam_does_not_mind_the_losss_scale(record_lesson, experiment):
    ways = {loss: record_lesson("adam", loss=loss)[0].map(experiment).paths for loss in ("1", "10")}
    for which, same in ((0, False), (1, False), (2, True), (3, True)):
        one, ten = (np.stack([ways[loss][which].x, ways[loss][which].y]) for loss in ways)
        assert np.allclose(one, ten, atol=1e-3) == same
    assert np.hypot(ways["10"][0].x[-1], ways["10"][0].y[-1]) > 100  # descent leaves the map


def test_every_way_is_downhill_at_first(record_lesson, experiment):
    for surface in ("bowl", "valley", "slanted valley", "bend"):
        shown = record_lesson("adam", surface=surface)[0].map(experiment)
        for path in shown.paths:
            assert path.x[0] == pytest.approx(shown.paths[0].x[0])
            ends = [np.hypot(path.x[t] - shown.goal[0], path.y[t] - shown.goal[1]) for t in (0, -1)]
            assert ends[1] < ends[0]
        row, column = np.unravel_index(shown.heights.argmin(), shown.heights.shape)
        lowest = [
            low + at / (n - 1) * (high - low)
            for low, high, at, n in zip(shown.low, shown.high, (column, row), (97, 61), strict=True)
        ]
        np.testing.assert_allclose(lowest, shown.goal, atol=0.06)
