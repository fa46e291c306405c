"""The section on the fine pass: every state of every pixel of a tile against the NumPy twin; the quizzes and claims."""

import re

import numpy as np
import pytest

import reference

CASES = [{}, {"count": 1}, {"count": 24, "opacity": 1.0, "spread": 5.0, "seed": 8}, {"opacity": 0.05}]


def states_of(lesson) -> tuple[np.ndarray, np.ndarray]:
    """(32, count + 1, 4) states and (32, count + 1) counts."""
    g = reference.load_direct(lesson.raw().astype(float))
    y, x = np.mgrid[0:4, 0:8]
    pixels = np.stack([x.ravel(), y.ravel()], -1)
    value, count = np.tile((0.0, 0.0, 0.0, 1.0), (32, 1)), np.zeros(32, int)
    values, counts = [value], [count]
    for blob in range(lesson.count):
        value, count = reference.transform_pixel_state(value, count, reference.evaluate(g, blob, pixels))
        values.append(value)
        counts.append(count)
    return np.stack(values, 1), np.stack(counts, 1)


@pytest.mark.parametrize("values", CASES)
def test_scene_is_what_the_twin_says(record_lesson, values):
    lesson, query = record_lesson("fine-raster", **values)
    facts = lesson.facts(query)
    states, counts = states_of(lesson)
    np.testing.assert_allclose(facts["states"], states, atol=2e-4)
    np.testing.assert_array_equal(facts["counts"], counts)
    assert query.findings == []
    white = reference.over_white(states[:, -1])
    np.testing.assert_allclose(query.output("picture").reshape(32, 4)[:, :3], white, atol=2e-4)


@pytest.mark.parametrize("values", CASES)
def test_stops_are_turns_of_the_loop(record_lesson, values):
    lesson, query = record_lesson("fine-raster", **values)
    stops, facts = lesson.stops(query), lesson.facts(query)
    assert stops[:-1] == facts["ends"][31][1:]
    assert len(stops) == lesson.count + 1
    assert stops[-1] == query.steps(kind="write", name="finalVal", thread=31)[-1]
    assert all(ends == sorted(ends) for ends in facts["ends"])


@pytest.mark.parametrize("values", CASES)
def test_answers(record_lesson, values):
    lesson, query = record_lesson("fine-raster", **values)
    _, counts = states_of(lesson)
    blends = np.diff(counts, axis=1) > 0
    idle, parted = int(np.sum(counts[:, -1] < lesson.count)), int(np.sum(blends.any(0) & ~blends.all(0)))
    for name, number in (("idle", idle), ("parted", parted)):
        answer = getattr(lesson, name)(query)
        assert answer.value == str(number)
        assert set(answer.options) == {answer.value, *answer.wrong}
        assert answer.value not in answer.wrong
        assert 2 <= len(set(answer.options)) == len(answer.options) <= 4
        assert f"{lesson.count} Gaussian" in answer.question


def test_the_default_scene_has_threads_that_walk_in_vain(record_lesson):
    lesson, query = record_lesson("fine-raster")
    assert int(lesson.idle(query).value) > 0
    assert int(lesson.parted(query).value) > 0


def test_claims(record_lesson, experiment):
    lesson, _ = record_lesson("fine-raster")
    verdict = lesson.differentiable(experiment)
    assert not verdict.holds
    assert "refused" in verdict.ran
    assert re.search(r"as in the source: \*\*0 bytes", verdict.ran)
    assert lesson.bytes_a_turn(experiment) > 16  # a state at the least


def test_stored_and_undone_give_the_same_gradient(record_lesson, experiment):
    lesson, _ = record_lesson("fine-raster")
    stored, undone = (experiment.run(lesson.back(entry, 8))["derivBuffer"].view(np.float32) for entry in ("stored", "undone"))
    assert np.abs(undone).max() > 0.01
    np.testing.assert_allclose(stored, undone, atol=1e-5)


def test_walked(record_lesson, experiment):
    lesson, _ = record_lesson("fine-raster")
    pictures, table = lesson.walked(experiment).shows
    blended, walked = pictures.pictures[1].pixels, pictures.pictures[2].pixels
    assert (blended <= walked).all()
    turns = [int(row[0].replace(",", "")) for row in table.rows]
    assert turns[0] == walked.sum()
    assert turns[1] == blended.sum()
    assert turns[1] <= turns[2] <= turns[3] <= turns[0]
