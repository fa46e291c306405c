"""The section on the background: its figure, questions and claim against the NumPy twin, and the two runs it makes."""

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import reference
from splatscope.textbook.contents import find_lesson

Background = find_lesson("background")
few = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))


def gathered(lesson):
    """(C, T) of the figure's 32 pixels by the twin."""
    g = reference.load_direct(lesson.job().inputs["blobsBuffer"].reshape(9, 1).astype(float))
    pixels = np.stack(np.meshgrid(np.arange(8), np.arange(4)), -1).reshape(-1, 2).astype(float)
    return reference.alpha_blend(np.tile([0.0, 0, 0, 1], (32, 1)), reference.evaluate(g, 0, pixels, max_weight=1.0))


@few
@given(transmittance=st.floats(0, 1), colour=st.sampled_from(["white", "orange", "pink", "grey"]))
@example(transmittance=0.0, colour="orange")
@example(transmittance=1.0, colour="white")
def test_the_figure_is_the_twins(record_lesson, transmittance, colour):
    lesson, query = record_lesson("background", T=transmittance, colour=colour)
    value = gathered(lesson)
    right, in_sample = reference.over_white(value), reference.over_white(value, sample=True)
    np.testing.assert_allclose(query.output("gathered"), value, atol=2e-6)
    np.testing.assert_allclose(query.output("asItShould")[:, :3], right, atol=2e-6)
    np.testing.assert_allclose(query.output("inSample")[:, :3], in_sample, atol=2e-6)
    centre = 1 * 8 + 3
    assert value[centre, 3] == pytest.approx(transmittance, abs=2e-6)
    answer = lesson.edge(query)
    x, y = map(int, re.match(r"Pixel \((\d+), (\d+)\),", answer.question).groups())
    pixel, halfway = y * 8 + x, np.abs(value[:, 3] - (1 + transmittance) / 2)
    assert halfway[pixel] <= halfway.min() + 1e-5
    assert abs(float(answer.value) - in_sample[pixel, 0]) < 0.006
    assert answer.value in answer.options
    answer = lesson.visible(query)
    assert abs(int(answer.value) - np.sum(np.abs(right - in_sample).max(axis=1) > 1 / 255)) <= 1
    assert answer.value in answer.options


def test_the_facts_are_of_every_pixel(record_lesson):
    lesson, query = record_lesson("background")
    facts = lesson.facts(query)
    assert len(facts["T"]) == len(facts["right"]) == len(facts["inSample"]) == 32
    assert facts["T"][11] == pytest.approx(0.5)
    assert facts["right"][11] == pytest.approx([1, 1, 1])
    assert facts["inSample"][11] == pytest.approx([0.75, 0.75, 0.75])


def test_the_claim_does_not_hold(experiment):
    verdict = Background().standard(experiment)
    assert not verdict.holds
    assert "**0.75**" in verdict.ran


def test_the_samples_formula_loses_a_quarter_at_most(experiment):
    right, in_sample, missing = Background().sweep(experiment).curves
    np.testing.assert_allclose(right.y, 1, atol=1e-6)
    np.testing.assert_allclose(in_sample.y, 1 - right.x * (1 - right.x), atol=1e-6)
    assert missing.x[np.argmax(missing.y)] == pytest.approx(0.5)
    assert missing.y.max() == pytest.approx(0.25)


def test_pictures_differ_by_what_the_third_one_shows(experiment):
    right, in_sample, off = (picture.pixels for picture in Background().pictures(experiment).pictures)
    difference = (right.astype(int) - in_sample).max(axis=2)
    np.testing.assert_allclose(np.clip(off, 0, 1) * 255, np.maximum(difference, 0), atol=4)
    assert 0.1 < off.max() <= 0.25001


def test_ink_on_paper_is_learned_better_with_the_right_formula(experiment):
    curves, pictures, table = Background().training(experiment).shows
    ends = {curve.label: curve.y[-1] for curve in curves.curves}
    assert ends["the sample's"] > 1.5 * ends["C + T"]
    assert all(curve.y[0] > 2.5 * curve.y[-1] for curve in curves.curves)
    for row in table.rows:
        assert float(row[4].split()[0]) > 1.4 * float(row[1].split()[0])  # drawn by the formula it learned, and by the other
    captions = [picture.caption for picture in pictures.pictures]  # three columns: each error under its picture
    assert captions[0] == "the target"
    for picture, error in zip(captions[1:3], captions[4:], strict=True):
        assert error == picture.split(":")[0] + ": the error"
