"""The sentences of the section on the training loop against the NumPy twin: its gradients, its Adam and its picture."""

import re

import numpy as np
import pytest

import reference
from helpers.numbers_in_text import numbers_in

COUNT, KERNELS = 27, ("clear", "derivatives", "update", "render")
FIELDS = ("x", "y", "log size 1", "log size 2", "angle", "red", "green", "blue", "logit of opacity")
CASES = [
    {},
    {"without": "clear"},
    {"without": "derivatives"},
    {"without": "update"},
    {"without": "render"},
    {"iterations": 1},
    {"iterations": 12},
]


def numbers(sentence: str) -> list[float]:
    return numbers_in(sentence)


def picture(raw: np.ndarray) -> np.ndarray:
    """(32, 3): by the twin."""
    y, x = np.mgrid[0:4, 0:8]
    return reference.render_list(reference.load_direct(raw.reshape(9, 3)), np.arange(3), np.stack([x.ravel(), y.ravel()], -1))


def gradient(raw: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(27,): by differences of the twin's loss."""

    def loss(values: np.ndarray) -> float:
        return float(((picture(values) - wanted) ** 2).sum() / 32)

    return np.array([(loss(raw + one) - loss(raw - one)) / 2e-5 for one in 1e-5 * np.eye(COUNT)])


def psnr(raw: np.ndarray, wanted: np.ndarray) -> float:
    shown, target = (np.round(255 * np.clip(one, 0, 1)) / 255 for one in (picture(raw), wanted))
    return -10 * np.log10(np.mean((shown - target) ** 2))


@pytest.mark.parametrize("values", CASES)
def test_each_kernel_is_told_as_the_twin_would(record_lesson, values):
    lesson, query = record_lesson("training-loop", **values)
    sentences = lesson.sentences(query)
    assert len(sentences) == len(lesson.stops(query)) == 4 * lesson.iterations
    raw = np.moveaxis(query.output("kept"), 2, 0)[0].astype(float)
    wanted = lesson.job().inputs["targetBuffer"][..., :3].reshape(-1, 3)
    held, fit = np.zeros(COUNT), None
    for i, sentence in enumerate(sentences):
        t, name = i // 4, KERNELS[i % 4]
        head, words = sentence.split(": ", 1)
        assert head == f"Iteration {t + 1}, {name}" + (" is left out" if name == lesson.without else "")
        before, after = raw[i], raw[i + 1]
        if name == lesson.without:
            if name == "clear":
                assert ("0, as at the start" in words) == (t == 0)
        elif name == "clear":
            held = np.zeros(COUNT)
            assert numbers(words) == [27, 0]
        elif name == "derivatives":
            held = held + gradient(before, wanted)
            said, of = re.fullmatch(r"each pixel .*; the steepest gradient is now ([^ ]+) \((.*)\)\.", words).groups()
            field, blob = of.rsplit(" of Gaussian ", 1)
            mine = held[3 * FIELDS.index(field) + int(blob)]
            assert numbers(said)[0] == pytest.approx(mine, rel=0.03, abs=5e-5)
            assert abs(mine) >= 0.97 * np.abs(held).max()
        elif name == "update":
            moved = int(np.sum(before != after))
            if moved:
                assert numbers(words) == pytest.approx([moved, 0, before[0], after[0]], rel=6e-3)
                sure = np.abs(held) > 1e-4
                if sure[0]:
                    assert ("with its gradient, because" in words) == ((after - before)[0] * held[0] > 0)
                assert t or np.all(((after - before) * held <= 0) | ~sure)  # against the gradient, at first
            else:
                assert not held.any()
                assert words == "no value moves: all gradients are 0."
        else:
            found = numbers(words.split("PSNR")[1])
            assert found[0] == pytest.approx(psnr(after, wanted), abs=0.12)
            assert len(found) == (1 if fit is None else 2)
            assert fit is None or found[1] == fit
            fit = found[0]
        if name == "derivatives" and lesson.without == "derivatives":
            assert not held.any()


@pytest.mark.parametrize("values", CASES)
def test_facts_opening_and_questions(record_lesson, values):
    lesson, query = record_lesson("training-loop", **values)
    shown = min(3, lesson.iterations) if lesson.without == "none" else lesson.iterations
    assert lesson.opening(query) == lesson.stops(query)[4 * shown - 1]
    assert all(len(sentence) <= 150 for sentence in lesson.sentences(query))
    known = [fit is not None for fit in lesson.facts(query)["psnr"]]
    assert known == [lesson.without != "render"] * lesson.iterations
    for answer in (lesson.additions(query), lesson.busy(query)):
        assert len(set(answer.options)) == len(answer.options) >= 3
        assert set(answer.wrong) == set(answer.options) - {answer.value}
