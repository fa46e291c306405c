"""The sentences on the fine pass, against the states of the NumPy twin."""

import re

import numpy as np
import pytest

import reference

CASES = [
    {},
    {"count": 1},
    {"count": 24, "opacity": 1.0, "spread": 5.0},
    {"count": 24, "opacity": 1.0, "spread": 6.0, "seed": 8},
    {"opacity": 0.05},
    {"count": 24, "seed": 2},
]


def states_of(lesson) -> tuple[np.ndarray, np.ndarray]:
    """(32, count + 1) transmittances and counts."""
    g = reference.load_direct(lesson.raw().astype(float))
    y, x = np.mgrid[0:4, 0:8]
    pixels = np.stack([x.ravel(), y.ravel()], -1)
    value, count = np.tile((0.0, 0.0, 0.0, 1.0), (32, 1)), np.zeros(32, int)
    values, counts = [value[:, 3]], [count]
    for blob in range(lesson.count):
        value, count = reference.transform_pixel_state(value, count, reference.evaluate(g, blob, pixels))
        values.append(value[:, 3])
        counts.append(count)
    return np.stack(values, 1), np.stack(counts, 1)


@pytest.mark.parametrize("values", CASES)
def test_every_sentence_is_what_the_twin_says(record_lesson, values):
    lesson, query = record_lesson("fine-raster", **values)
    sentences, stops = lesson.sentences(query), lesson.stops(query)
    assert len(sentences) == len(stops) == lesson.count + 1
    assert lesson.opening(query) in stops
    light, counts = states_of(lesson)
    *turns, end = sentences
    for turn, sentence in enumerate(turns):
        assert len(sentence) <= 150
        assert sentence.startswith(f"Gaussian {turn}: ")
        blend = int(np.sum(counts[:, turn + 1] - counts[:, turn]))
        if "all 32 pixels blend it" in sentence:
            assert blend == 32
        elif "no pixel blends it, all 32 are opaque" in sentence:
            assert blend == 0
            assert np.all(light[:, turn] < 1 / 255)
            continue
        else:
            said = re.search(r": (\d+) pixels? blends? it, (\d+) (?:pixel is|are) opaque and skips? it", sentence)
            assert tuple(map(int, said.groups())) == (blend, 32 - blend)
            assert np.sum(light[:, turn] < 1 / 255) == 32 - blend
        assert int(re.search(r"Opaque now: (\d+) of 32", sentence)[1]) == np.sum(light[:, turn + 1] < 1 / 255)
    low, high, all_ = re.search(r"blended: (\d+)(?: to (\d+))? of (\d+)\.$", end).groups()
    assert (int(low), int(high or low), int(all_)) == (counts[:, -1].min(), counts[:, -1].max(), lesson.count)
    written = query.steps(kind="write", name="maxCount")
    assert set(query.threads(written).tolist()) == set(range(32))


def test_the_figure_opens_where_threads_part(record_lesson):
    lesson, query = record_lesson("fine-raster")
    assert "skip" in lesson.sentences(query)[lesson.stops(query).index(lesson.opening(query))]
