"""The sentences of the section on autodiff against differences of the NumPy twin, link by link."""

import re

import numpy as np
import pytest

import reference
from helpers.numbers_in_text import NUMBER, value_of
from splatscope.textbook.contents import find_lesson

FIELDS = find_lesson("autodiff").param["field"].objects
PIXEL, TARGET_AT = np.array([[2.0, 0.0]]), 2
CASES = [
    {},
    {"field": "red", "blob": 4},
    {"field": "log size 1", "blob": 1, "seed": 3},
    {"field": "angle", "blob": 2, "opacity": 0.4},
    {"field": "logit of opacity", "blob": 0, "opacity": 0.9, "nudge": 0.1},
    {"field": "blue", "blob": 3, "seed": 7, "opacity": 0.05},
]
STEP = 1e-5


def slope(of, at: np.ndarray, i: int) -> np.ndarray:
    """The central difference of a function by one of its arguments."""
    way = np.zeros_like(at)
    way.flat[i] = STEP
    return (np.asarray(of(at + way)) - np.asarray(of(at - way))) / (2 * STEP)


class Twin:
    """The functions of the chain at pixel 2, 0, in float64."""

    def __init__(self, lesson):
        self.raw, self.blob = lesson.raw().astype(float), lesson.blob
        self.target = lesson.inputs()["targetBuffer"].astype(float)[TARGET_AT, :3]
        self.p = 5 * FIELDS.index(lesson.field) + lesson.blob  # of the raw values

    def layer(self, raw: np.ndarray, blob: int | None = None) -> np.ndarray:
        return reference.evaluate(reference.load_direct(raw), self.blob if blob is None else blob, PIXEL)[0]

    def value(self, layer: np.ndarray) -> np.ndarray:
        value, count = np.array([[0.0, 0, 0, 1]]), np.zeros(1, int)
        for i in range(5):
            of_i = layer if i == self.blob else self.layer(self.raw, i)
            value, count = reference.transform_pixel_state(value, count, of_i[None])
        return value[0]

    def colour(self, value: np.ndarray) -> np.ndarray:
        return reference.over_white(value[None])[0][:3]

    def loss(self, colour: np.ndarray) -> float:
        return float(((colour - self.target) ** 2).sum())


def close(said: float, found: float, scale: float) -> bool:
    return abs(said - found) <= 0.02 * abs(found) + 2e-4 * scale + 1e-6


@pytest.mark.parametrize("values", CASES)
def test_each_link_moves_and_asks_as_the_twin_does(record_lesson, values):
    lesson, query = record_lesson("autodiff", **values)
    sentences, twin = lesson.sentences(query), Twin(lesson)
    assert len(sentences) == len(lesson.stops(query)) == 11
    layer = twin.layer(twin.raw)
    value = twin.value(layer)
    colour = twin.colour(value)
    by_p = {
        1: (dict(zip(("r", "g", "b", "α"), slope(twin.layer, twin.raw, twin.p), strict=True))),
        2: dict(zip(("r", "g", "b", "T"), slope(lambda raw: twin.value(twin.layer(raw)), twin.raw, twin.p), strict=True)),
        3: dict(zip("rgb", slope(lambda raw: twin.colour(twin.value(twin.layer(raw))), twin.raw, twin.p), strict=True)),
        4: {"e": float(slope(lambda raw: twin.loss(twin.colour(twin.value(twin.layer(raw)))), twin.raw, twin.p))},
    }
    by_part = {
        5: {c: float(slope(twin.loss, colour, i)) / 32 for i, c in enumerate("rgb")},
        6: {c: float(slope(lambda v: twin.loss(twin.colour(v)), value, i)) / 32 for i, c in enumerate(("r", "g", "b", "T"))},
        7: {
            c: float(slope(lambda one: twin.loss(twin.colour(twin.value(one))), layer, i)) / 32
            for i, c in enumerate(("r", "g", "b", "α"))
        },
    }
    for step, wanted in (by_p | by_part).items():
        found = re.search(
            r"([^ ]+) moves at a rate of ([^ ]+) as p grows|the loss moves at a rate of ([^ ]+) as ([^ ]+) grows", sentences[step]
        )
        largest = max(map(abs, wanted.values()))
        if not found:
            assert "nothing of it moves" in sentences[step] or "none of its parts" in sentences[step]
            assert largest < 1e-6
            continue
        name, said = (found[1], found[2]) if found[1] else (found[4], found[3])
        said = value_of(said)
        assert close(said, float(wanted[name]), largest), sentences[step]
        assert abs(said) >= 0.97 * largest - 1e-6  # it is the part that matters most
    dp = by_p[4]["e"] / 32
    in_the_end = [
        value_of(one) for one in re.findall(rf"(?:a rate of|difference is|chain says) {NUMBER}", " ".join(sentences[-2:]))
    ]
    assert len(in_the_end) == 3
    assert close(in_the_end[0], dp, abs(dp))
    assert in_the_end[2] == in_the_end[0]
    assert abs(in_the_end[1] - dp) <= 0.1 * abs(dp) + 3e-5


@pytest.mark.parametrize("values", CASES)
def test_opening_and_questions(record_lesson, values):
    lesson, query = record_lesson("autodiff", **values)
    assert lesson.opening(query) in lesson.stops(query)
    assert all(len(sentence) <= 150 for sentence in lesson.sentences(query))
    for answer in (lesson.way(query), lesson.outvoted(query)):
        assert len(set(answer.options)) == len(answer.options) >= 3
        assert set(answer.wrong) == set(answer.options) - {answer.value}
