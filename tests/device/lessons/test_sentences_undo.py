"""The sentences of the section on undoing a blend, against a float32 twin."""

import re

import numpy as np
import pytest

import reference
from helpers.numbers_in_text import NUMBER, value_of

ONE = [1.0] + [0.3] * 7
CASES = [
    {},
    {"count": 1},
    {"count": 8, "alphas": [0.9] * 8},  # opaque before the last layers
    {"count": 3, "alphas": ONE, "clamped": False},
    {"count": 4, "alphas": [0.2, 0.4, 1.0, 0.5] + [0.3] * 4, "clamped": False},
    {"count": 4, "alphas": [0.0, 1.0, 0.0, 0.5] + [0.3] * 4},
    {"count": 8, "alphas": [0.13, 0.77, 0.41, 0.05, 0.63, 0.29, 0.35, 0.11]},
]
BLENDED = re.compile(rf"There: layer (\d) is blended\. T = {NUMBER} is multiplied by 1 − {NUMBER}: {NUMBER}\.")
LEFT_OUT = re.compile(rf"There: T = {NUMBER} is below 1/255, so layer (\d) is left out and the state stays as it is\.")
UNDONE = re.compile(rf"Back: T = {NUMBER} is divided by 1 − {NUMBER}\. Before layer (\d), T is {NUMBER}, (.*)\.")
LOST = re.compile(
    rf"Back: T = {NUMBER} is divided by 1 − {NUMBER}: (0/0 gives NaN|NaN stays NaN), "
    r"which equals nothing, not even itself, and the state before layer (\d) is lost\."
)
SKIPPED = re.compile(r"Back: layer (\d) was never blended, so nothing is undone\.")


def walk(lesson) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """α, T there and T back in float32, as the device is to find them, and how many layers are blended."""
    alphas = np.float32(lesson.alphas[: lesson.count])
    alphas = np.minimum(alphas, np.float32(0.99)) if lesson.clamped else alphas
    there, many = [np.float32(1)], 0
    for alpha in alphas:
        opaque = there[-1] < np.float32(reference.OPAQUE)
        many += not opaque
        there.append(there[-1] if opaque else there[-1] * (np.float32(1) - alpha))
    back = [there[-1]]
    with np.errstate(invalid="ignore"):
        for i in reversed(range(lesson.count)):
            back.append(back[-1] / (np.float32(1) - alphas[i]) if i < many else back[-1])
    return alphas, np.array(there), np.array(back[::-1]), many


def close(text: str, value: float) -> bool:
    """Whether a number with three digits stands for a value."""
    return np.isnan(value) if text == "NaN" else value_of(text) == pytest.approx(value, rel=0.006)


@pytest.mark.parametrize("values", CASES)
def test_each_way_is_told_as_the_twin_goes_it(record_lesson, values):
    lesson, query = record_lesson("undo", **values)
    sentences = lesson.sentences(query)
    alphas, there, back, many = walk(lesson)
    assert len(sentences) == len(lesson.stops(query)) == 2 * lesson.count
    assert all(len(sentence) <= 150 for sentence in sentences)
    for i, sentence in enumerate(sentences[: lesson.count]):
        if i < many:
            number, before, alpha, after = BLENDED.fullmatch(sentence).groups()
            assert np.float32(alpha) == alphas[i]
            assert close(after, there[i + 1])
        else:
            before, number = LEFT_OUT.fullmatch(sentence).groups()
            assert there[i] < reference.OPAQUE
        assert int(number) == i + 1
        assert close(before, there[i])
    for i, sentence in zip(reversed(range(lesson.count)), sentences[lesson.count :], strict=True):
        if i >= many:
            assert int(SKIPPED.fullmatch(sentence)[1]) == i + 1
        elif np.isnan(back[i]):
            after, alpha, why, number = LOST.fullmatch(sentence).groups()
            assert ("0/0" in why) == (back[i + 1] == 0)
            assert (int(number), np.float32(alpha)) == (i + 1, alphas[i])
            assert close(after, back[i + 1])
        else:
            after, alpha, number, before, same = UNDONE.fullmatch(sentence).groups()
            assert (int(number), np.float32(alpha)) == (i + 1, alphas[i])
            assert close(after, back[i + 1])
            assert close(before, there[i])
            check_error(same, query.output("backward")[i].astype(float) - query.output("forward")[i])


def check_error(words: str, off: np.ndarray) -> None:
    """Check what is said of a state (C, T) that came back: devices round a quotient differently, so against their own bits."""
    pattern = rf"(?:exactly as it was|off by {NUMBER})(?:, and so is C|; C is exact|(?:; C is off|, and C) by {NUMBER})"
    share, light = re.fullmatch(pattern, words).groups()
    for said, error in ((share, abs(off[3])), (light, np.abs(off[:3]).max())):
        assert (said is None) == (error == 0), words
        if said:
            assert value_of(said) == pytest.approx(error, rel=0.06)
            assert 0 < error < 1e-5


def test_the_cases_bring_all_that_can_be_said(record_lesson):
    said = " ".join(" ".join(lesson.sentences(query)) for lesson, query in (record_lesson("undo", **case) for case in CASES))
    for words in ("is blended", "is left out", "never blended", "exactly", "off by", "C is off by", "0/0", "stays NaN"):
        assert words in said


@pytest.mark.parametrize("values", CASES)
def test_the_figure_opens_where_it_turns_back(record_lesson, values):
    lesson, query = record_lesson("undo", **values)
    opening = lesson.opening(query)
    assert opening in lesson.stops(query)
    assert np.sum(query.steps(kind="write", name="forward") <= opening) == lesson.count + 1
    assert np.sum(query.steps(kind="write", name="apart") <= opening) == 1


@pytest.mark.parametrize("values", CASES)
def test_each_wrong_option_says_why(record_lesson, values):
    lesson, query = record_lesson("undo", **values)
    for answer in (lesson.undone(query), lesson.exact(query)):
        assert 2 <= len(answer.options) == len(set(answer.options)) <= 4
        assert set(answer.wrong) == set(answer.options) - {answer.value}
        assert answer.question
