"""The section on the final count: its figure, questions and claims, against the NumPy twin."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import reference
from splatscope.splat.scenes import some_gaussians
from splatscope.textbook.contents import find_lesson

FinalCount = find_lesson("final-count")
few = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))


def counts_there(lesson):
    """finalCount at each place of the list, by the twin: (count + 1,)."""
    layers = lesson.job().inputs["layers"].astype(float)
    value, count, through = np.array([0.0, 0, 0, 1]), np.array(0), [0]
    for layer in layers:
        value, count = reference.transform_pixel_state(value, count, layer)
        through.append(int(count))
    return np.array(through)


def test_the_first_example_takes_seven_of_eight(record_lesson):
    lesson, query = record_lesson("final-count")
    assert counts_there(lesson)[-1] == 7
    np.testing.assert_array_equal(query.output("thereCount"), [0, 1, 2, 3, 4, 5, 6, 7, 7])
    np.testing.assert_array_equal(query.output("backCount"), [0, 1, 2, 3, 4, 5, 6, 7, 7])
    assert lesson.skips(query).value == "1"
    assert lesson.element(query).value == "layers[6]"


@few
@given(count=st.integers(1, 16), alpha=st.floats(0.01, 0.99))
@example(count=8, alpha=0.3)
@example(count=16, alpha=0.99)
def test_the_walk_back_retraces_the_walk_there(record_lesson, count, alpha):
    lesson, query = record_lesson("final-count", count=count, alpha=alpha)
    expected = counts_there(lesson)
    np.testing.assert_array_equal(query.output("thereCount"), expected)
    np.testing.assert_array_equal(query.output("backCount"), expected)
    np.testing.assert_allclose(query.output("back"), query.output("there"), rtol=1e-5, atol=1e-5)
    for answer, value in ((lesson.skips(query), str(count - expected[-1])), (lesson.element(query), f"layers[{expected[-1] - 1}]")):
        assert answer.value == value
        assert answer.value in answer.options
        assert len(set(answer.options)) == len(answer.options) > 1
    assert len(lesson.stops(query)) == 2 * count


def test_without_the_test_the_count_falls_below_zero(record_lesson):
    lesson, query = record_lesson("final-count", guarded=False)
    counts = query.output("backCount")
    np.testing.assert_array_equal(counts.astype(np.int32), np.arange(-1, 8))
    assert query.output("back")[0, 3] == pytest.approx(1 / (1 - 0.56), rel=1e-4)
    assert lesson.skips(query).value == "0"


def test_claims(experiment):
    assert FinalCount().keeps_pace(experiment).holds
    assert FinalCount().is_index(experiment).holds is None


def test_many_pixels_agree_with_the_twin(experiment):
    found = FinalCount()._many(experiment, guarded=True)
    blended, skipped, late, ends = found["counted"].T
    np.testing.assert_array_equal(blended + skipped, found["lengths"])
    assert not late.any()
    assert not ends.any()
    np.testing.assert_allclose(found["lastT"], 1, atol=1e-5)
    free = FinalCount()._many(experiment, guarded=False)
    assert not free["counted"][:, 1].any()
    np.testing.assert_array_equal(free["counted"][:, 3].astype(np.int32), blended.astype(int) - found["lengths"])


def test_the_map_counts_what_the_twin_counts(experiment):
    counts = FinalCount().tile(experiment).pictures[1].pixels
    height, width = counts.shape
    g = reference.load_direct(some_gaussians(90, (width, height), seed=3, spread=(2.0, 9.0)).astype(float))
    pixels = np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1).reshape(-1, 2).astype(float)
    value, count = np.tile([0.0, 0, 0, 1], (len(pixels), 1)), np.zeros(len(pixels), int)
    for blob in range(90):
        value, count = reference.transform_pixel_state(value, count, reference.evaluate(g, blob, pixels))
    assert np.mean(count.reshape(height, width) == counts) > 0.99
    assert counts.min() < counts.max() == 90


def test_the_table_and_the_chart_show_the_damage(experiment):
    rows = FinalCount().unguarded(experiment).rows
    assert rows[0][1:] == ("(0.000, 0.000, 0.000)", "1", "0")
    assert rows[1][3] == "4,294,967,295"
    (curve,) = FinalCount().how_wrong(experiment).curves
    assert curve.y[20] > 10 * curve.y[5] > 0


def test_layers_come_off_a_picture_only_with_the_test(experiment):
    nearest, tested, untested = FinalCount().taken_off(experiment).pictures
    np.testing.assert_allclose(tested.pixels.astype(int), nearest.pixels, atol=1)
    assert "with the test: 0 of 1,024 pixels wrong" in tested.caption
    off = (abs(untested.pixels.astype(int) - nearest.pixels) > 1).any(axis=2)
    assert f"without it: {off.sum()} of 1,024 pixels wrong" == untested.caption
    assert (untested.pixels[off].astype(int).sum(axis=1) > nearest.pixels[off].astype(int).sum(axis=1)).all(), "too bright"
    counts = FinalCount().tile(experiment).pictures[1].pixels
    assert not off[counts == 90].any(), "a pixel that took all layers needs no test"
