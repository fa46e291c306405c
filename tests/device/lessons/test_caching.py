"""The section on what a backward pass keeps: states and gradients against the twin, bytes against the compiled kernels."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reference
from helpers.numbers_in_text import value_of
from splatscope.gpu.device import open_device
from splatscope.gpu.kernel import CompileError
from splatscope.splat.scenes import some_gaussians
from splatscope.textbook.contents import find_lesson
from splatscope.textbook.experiment import Experiment
from splatscope.tracing import dispatch

Caching = find_lesson("caching")
few = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
scenes = st.fixed_dictionaries({"count": st.integers(1, 10), "opacity": st.floats(0.05, 1), "seed": st.integers(0, 40)})


def layers_of(lesson) -> np.ndarray:
    """(count, 4) float64: what each Gaussian lays on the pixel."""
    g = reference.load_direct(lesson.raw().astype(float))
    return np.stack([reference.evaluate(g, blob, np.array([[3.0, 1.0]]))[0] for blob in range(lesson.count)])


def walk(layers: np.ndarray) -> np.ndarray:
    """(count + 1, 4) float64: the pixel before each layer, and at the end."""
    value, count = np.array([0.0, 0, 0, 1]), np.array(0)
    states = [value]
    for layer in layers:
        value, count = reference.transform_pixel_state(value, count, layer)
        states.append(value)
    return np.array(states)


@few
@given(values=scenes)
def test_kept_and_undone_are_the_twins_states(record_lesson, values):
    lesson, query = record_lesson("caching", **values)
    states = walk(layers_of(lesson))
    np.testing.assert_allclose(query.output("kept"), states[:-1], atol=2e-4)
    np.testing.assert_allclose(query.output("undone"), states[:-1], atol=1e-3)
    facts = lesson.facts(query)
    np.testing.assert_allclose(facts["end"], states[-1], atol=2e-4)
    np.testing.assert_allclose(facts["layers"], layers_of(lesson), atol=2e-4)


@few
@given(values=scenes)
def test_both_gradients_are_the_twins_slopes(record_lesson, values):
    lesson, query = record_lesson("caching", **values)
    layers, d_end = layers_of(lesson), lesson.job().inputs["dEnd"].astype(float)
    if np.any(np.abs(walk(layers)[:, 3] - 1 / 255) < 1e-4):
        return  # a state at the very edge of the guard has no slope
    expected = np.zeros_like(layers)
    for index in np.ndindex(layers.shape):
        ends = []
        for way in (1e-6, -1e-6):
            moved = layers.copy()
            moved[index] += way
            ends.append(walk(moved)[-1] @ d_end)
        expected[index] = (ends[0] - ends[1]) / 2e-6
    for name in ("dByKept", "dByUndo"):
        np.testing.assert_allclose(query.output(name), expected, atol=2e-3)
    assert not query.findings


def test_stops_are_turns_there_and_back(record_lesson):
    lesson, query = record_lesson("caching", count=5)
    stops = lesson.stops(query)
    assert len(stops) == 10
    assert stops == sorted(stops)
    kept, undone = (query.steps(kind="write", name=name) for name in ("kept", "undone"))
    for number, stop in enumerate(stops, 1):
        assert np.sum(kept <= stop) == min(number, 5)
        assert np.sum(undone <= stop) == max(0, number - 5)


@few
@given(values=scenes)
def test_answers(record_lesson, values):
    lesson, query = record_lesson("caching", **values)
    waits, keeps = lesson.waits(query), lesson.keeps(query)
    assert waits.value == f"iteration {lesson.count}"
    assert keeps.value == f"{16 * lesson.count} bytes"
    for answer in (waits, keeps):
        assert answer.value in answer.options
        assert len(set(answer.options)) == len(answer.options) <= 4


def test_claims(experiment):
    lesson = Caching()
    assert lesson.copies(experiment).holds is None
    linear = lesson.linear(experiment)
    assert linear.holds is None
    assert "refused" in linear.ran
    assert lesson.final(experiment).holds


def test_bytes_by_the_bound(experiment):
    lesson = Caching()
    few_turns, more, most = (lesson.stored(experiment, bound) for bound in (4, 8, 16))
    assert most - more == 2 * (more - few_turns) > 8 * 4 * 16
    again = lesson.stored(experiment, 16, recompute=True)
    assert 16 * 16 <= again < most / 3
    table = lesson.types(experiment)
    assert sum(float(row[1]) for row in table.rows) == (more - few_turns) / 4
    kinds = [row[0] for row in table.rows]
    assert "what `layerAt` leaves for its backward pass" in kinds
    assert not any("Ctx" in kind for kind in kinds), "the compiler's own names mean nothing to a reader"


def test_the_three_kernels_agree(experiment):
    rows = Caching().gradients(experiment).rows
    assert len(rows) > 1
    for row in rows:
        assert all(value_of(cell) < 1e-5 for cell in row[1:])


def test_bytes_are_counted_also_where_the_driver_refuses_the_kernel(experiment, monkeypatch):
    """As NVIDIA's does with plain autodiff of 32 turns: what Slang wrote is there by then."""

    def refuse(device, program):
        device.create_compute_pipeline(program)
        raise CompileError("The device's driver does not take this kernel.")

    monkeypatch.setattr(dispatch, "pipeline_of", refuse)
    assert Caching().stored(experiment, 12) > 12 * 100


def test_a_way_that_the_driver_refuses_is_said_to_be_refused():
    class Refusing(Experiment):
        def run(self, job):
            self.seconds(job)
            return super().run(job)

        def seconds(self, job, *_):
            if job.entry == "byAutodiff":
                raise CompileError("The device's driver does not take this kernel.")
            return 1e-5

    refusing = Refusing(open_device())
    curves, table, words = Caching().time(refusing).shows
    assert [curve.label for curve in curves.curves] == ["states in a buffer", "undo"]
    assert [row[1] for row in table.rows] == ["refused by the driver", "10", "10"]
    assert "takes about as long as the states in a buffer" in words.text
    assert all(row[1] == "refused by the driver" and value_of(row[2]) < 1e-5 for row in Caching().gradients(refusing).rows)


@pytest.mark.parametrize("entry", ["byAutodiff", "byBuffer", "byUndo"])
def test_a_kernels_gradient_is_a_slope(experiment, entry):
    """∂/∂red of one Gaussian, which is linear: the sum of α·T over all pixels, times dEnd.r."""
    lesson = Caching()
    job = lesson.way(entry, 8)
    g = reference.load_direct(job.inputs["blobsBuffer"].reshape(9, 64).astype(float))
    y, x = np.mgrid[0:16, 0:32]
    pixels = np.stack([x.ravel(), y.ravel()], -1)
    through = np.ones(len(pixels))
    for blob in range(5):
        alpha = reference.evaluate(g, blob, pixels)[:, 3]
        share, through = alpha * through, through * (1 - alpha)
    gradient = experiment.run(job)["derivBuffer"].view(np.float32).reshape(9, 64)
    assert gradient[5, 4] == pytest.approx(0.4 * share.sum(), rel=1e-3)
    assert not gradient[:, 8:].any()


def test_with_the_last_state_for_all_the_nearest_layer_learns_too_little(experiment):
    _, by_undo, by_last = Caching().forgotten(experiment).pictures
    found, too_little = by_undo.pixels, by_last.pixels
    raw = some_gaussians(12, (32, 16), 5, (3, 7)).astype(float)
    pixels = np.stack(np.meshgrid(np.arange(32.0), np.arange(16.0)), axis=-1).reshape(-1, 2)
    g = reference.load_direct(raw)
    value, count = np.tile([0.0, 0, 0, 1], (len(pixels), 1)), np.zeros(len(pixels), int)
    for blob in range(12):
        value, count = reference.transform_pixel_state(value, count, reference.evaluate(g, blob, pixels))
    alpha = reference.evaluate(g, 0, pixels)[:, 3].reshape(found.shape)
    np.testing.assert_allclose(found, 0.4 * alpha, atol=1e-4)
    through = value[:, 3].reshape(found.shape)
    np.testing.assert_allclose(too_little, np.where(through < 1 / 255, 0, 0.4 * through * alpha), atol=1e-4)
    assert too_little.sum() < found.sum() / 2
