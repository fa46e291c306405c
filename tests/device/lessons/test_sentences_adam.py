"""The sentences of the section on Adam against what the memory held, and the gradients of the NumPy twin's loss."""

import re

import numpy as np
import pytest

import reference
from helpers.numbers_in_text import value_of

ITERATIONS, COUNT = 48, 27
CASES = [
    {},
    {"correction": "1 − β, as the sample"},
    {"rate": 0.01},
    {"rate": 1.0, "beta1": 0.5, "beta2": 0.9},
    {"beta1": 0.0, "beta2": 0.5},
    {"beta1": 0.99, "beta2": 0.9999},
]
SENTENCE = re.compile(
    r"Iteration (\d+): x of Gaussian 0 goes from ([^ ]+) to ([^ ]+), by ([^ ]+) η\. "
    r"(?:(\d+) of 27 values move by η, .*"
    r"|(?:(\d+) (?:of the 27 values move|value moves)|No value moves) against what (?:their gradients ask|its gradient asks)\.)"
)


def number(text: str) -> float:
    return value_of(text)


def gradient(lesson, raw: np.ndarray) -> np.ndarray:
    """(27,): by differences of the twin's loss."""
    y, x = np.mgrid[0:12, 0:16]
    pixels, wanted = np.stack([x.ravel(), y.ravel()], -1), lesson.job().inputs["targetBuffer"][..., :3].reshape(-1, 3)

    def loss(values: np.ndarray) -> float:
        picture = reference.render_list(reference.load_direct(values.reshape(9, 3)), np.arange(3), pixels, guard=False)
        return float(((picture - wanted) ** 2).sum() / len(pixels))

    return np.array([(loss(raw + one) - loss(raw - one)) / 2e-5 for one in 1e-5 * np.eye(COUNT)])


@pytest.mark.parametrize("values", CASES)
def test_each_iteration_is_told_as_it_was(record_lesson, values):
    lesson, query = record_lesson("adam", **values)
    writes = query.steps(kind="write", name="blobsBuffer")
    raw = np.zeros((ITERATIONS + 1, COUNT))
    raw[0] = lesson.job().inputs["blobsBuffer"].ravel()
    for index in range(COUNT):
        raw[1:, index] = query.values(writes[query.indices(writes) == index])
    sentences = lesson.sentences(query)
    assert len(sentences) == len(lesson.stops(query)) == ITERATIONS
    for t, sentence in enumerate(sentences):
        number_, before, after, step, by_eta, against = SENTENCE.fullmatch(sentence).groups()
        assert int(number_) == t + 1
        assert number(before) == pytest.approx(raw[t, 0], rel=6e-3, abs=1e-5)
        assert number(after) == pytest.approx(raw[t + 1, 0], rel=6e-3, abs=1e-5)
        moved = raw[t + 1] - raw[t]
        assert number(step) == pytest.approx(moved[0] / lesson.rate, rel=6e-3, abs=1e-4)
        if t == 0:
            assert int(by_eta) == np.sum(np.abs(np.abs(moved) / lesson.rates() - 1) < 0.011)
            continue
        if t % 6:
            continue  # the twin takes its time
        slope = gradient(lesson, raw[t])
        sure = np.abs(slope) > 1e-5
        said = int(against or 0)
        assert np.sum((slope * moved > 0) & sure) <= said <= np.sum((slope * moved > 0) | ~sure)


@pytest.mark.parametrize("values", CASES)
def test_questions_and_opening(record_lesson, values):
    lesson, query = record_lesson("adam", **values)
    assert lesson.opening(query) in lesson.stops(query)
    assert all(len(sentence) <= 150 for sentence in lesson.sentences(query))
    for answer in (lesson.first(query), lesson.against(query)):
        assert len(set(answer.options)) == len(answer.options) >= 3
        assert set(answer.wrong) == set(answer.options) - {answer.value}
