"""The sentences of the section on the background against the NumPy twin."""

import re

import numpy as np
import pytest

import reference

CASES = [
    {},
    {"T": 0.0},
    {"T": 1.0, "colour": "orange"},
    {"T": 0.3, "colour": "grey"},
    {"T": 0.9, "colour": "pink"},
    {"T": 0.02, "colour": "orange"},
]
CENTRE = 1 * 8 + 3


def numbers(sentence: str) -> list[float]:
    return [float(found) for found in re.findall(r"\d+\.?\d*(?:e-?\d+)?", sentence)]


def gathered(lesson) -> np.ndarray:
    """(32, 4): (C, T) of each pixel by the twin."""
    g = reference.load_direct(lesson.job().inputs["blobsBuffer"].reshape(9, 1).astype(float))
    pixels = np.stack(np.meshgrid(np.arange(8), np.arange(4)), -1).reshape(-1, 2).astype(float)
    return reference.alpha_blend(np.tile([0.0, 0, 0, 1], (32, 1)), reference.evaluate(g, 0, pixels, max_weight=1.0))


@pytest.mark.parametrize("values", CASES)
def test_each_sentence_says_what_the_twin_finds(record_lesson, values):
    lesson, query = record_lesson("background", **values)
    covered, blended, right, in_sample = lesson.sentences(query)
    value = gathered(lesson)
    light, transmittance = value[CENTRE, [0, 3]]
    assert numbers(covered) == pytest.approx([1 - value[:, 3].max(), 1 - value[:, 3].min()], abs=0.006)
    assert numbers(blended) == pytest.approx([light, transmittance], abs=6e-4)
    assert numbers(right) == pytest.approx([light, transmittance, light + transmittance], abs=6e-4)
    found = numbers(in_sample)
    assert found == pytest.approx([light * (1 - transmittance) + transmittance, light * transmittance], abs=6e-4)


@pytest.mark.parametrize("values", CASES)
def test_each_stop_is_where_all_threads_have_done_what_its_sentence_says(record_lesson, values):
    lesson, query = record_lesson("background", **values)
    stops, sentences = lesson.stops(query), lesson.sentences(query)
    assert len(stops) == len(sentences) == 4
    assert stops == sorted(stops)
    assert lesson.opening(query) in stops
    assert [query.site(step).name for step in stops] == ["layer", "gathered", "asItShould", "inSample"]
    assert set(query.threads(stops)) == {31}  # in lockstep it comes last
    assert all(len(sentence) <= 150 for sentence in sentences)


@pytest.mark.parametrize("values", CASES)
def test_options_differ_and_each_wrong_one_has_its_reason(record_lesson, values):
    lesson, query = record_lesson("background", **values)
    for answer in (lesson.edge(query), lesson.visible(query)):
        assert len(set(answer.options)) == len(answer.options) >= 2
        assert set(answer.wrong) == set(answer.options) - {answer.value}
        assert answer.question.endswith("?")
