"""The sentences on the coarse pass, against the box test of the NumPy twin and the raw order of the appends."""

import re

import numpy as np
import pytest

import reference

CASES = [
    {},
    {"count": 1},
    {"count": 33, "tile": 0, "seed": 5},
    {"count": 128, "spread": 3.0},
    {"count": 128, "spread": 3.0, "guard": False},
    {"count": 64, "spread": 0.4, "tile": 29},
]
ROOM = 16


def touching(lesson) -> np.ndarray:
    """Which Gaussians' boxes touch the lesson's tile: (count,) bool."""
    boxes = reference.bounds(reference.load_direct(lesson.raw().astype(float)))
    parts = (lesson.tile % 6 * 8 + 3.5, lesson.tile // 6 * 4 + 1.5), (1.0, 0.0), (4.0, 2.0)
    tile = reference.Boxes(*(np.broadcast_to(np.array(part), (lesson.count, 2)) for part in parts))
    return reference.intersects(boxes, tile)


def arrivals(query) -> list[int]:
    """The threads that drew a place, in the order of the places."""
    steps = query.steps(kind="value", name="place")
    by_place = dict(zip(query.values(steps).tolist(), query.threads(steps).tolist(), strict=True))
    return [by_place[place] for place in range(len(by_place))]


@pytest.mark.parametrize("values", CASES)
def test_every_sentence_is_what_the_twin_and_the_order_of_places_say(record_lesson, values):
    lesson, query = record_lesson("coarse-raster", **values)
    sentences, stops = lesson.sentences(query), lesson.stops(query)
    assert len(sentences) == len(stops)
    assert lesson.opening(query) in stops
    assert all(len(sentence) <= 150 for sentence in sentences)
    *rounds, count = sentences
    touches, drew = touching(lesson), arrivals(query)
    tested, appended = [], []
    loops = query.steps(kind="value", name="i", function="coarseRasterize" if lesson.guard else "coarseWithoutGuard")
    places = query.steps(kind="value", name="place")
    for step, sentence in zip(stops, rounds, strict=False):
        drawn = query.values(places[places <= step]).astype(int).tolist()
        if said := re.match(r"Threads? (\d+)(?: to (\d+))? ha(?:s|ve) tested Gaussians? (\d+)(?: to (\d+))?", sentence):
            first, last, low, high = (int(text) if text else None for text in said.groups())
            own = [*range(low, (low if high is None else high) + 1)]
            assert [blob % 32 for blob in own] == [*range(first, (first if last is None else last) + 1)]
            assert {*own} <= {*query.values(loops[loops <= step]).tolist()}
            found = int(touches[own].sum())
            assert bool(re.search("Not one touches|It does not touch", sentence)) == (not found)
            if found:
                assert int(re.search(r"(\d+) touch", sentence)[1]) == found
                assert (f"{len(own) - found} " if found < len(own) else "none is ") in sentence.partition("the tile, ")[2]
            tested += own
            continue
        new = [place for place in drawn if place not in appended]  # the rounds' appends, one after another
        named = {int(place): int(thread) for thread, place in re.findall(r"thread (\d+) place (\d+)", sentence)}
        if named:
            assert sorted(named) == sorted(new)
            assert all(drew[place] == thread for place, thread in named.items())
        else:
            many, low, high = map(int, re.search(r"given (\d+) threads a place each, from (\d+) to (\d+)", sentence).groups())
            assert (many, low, high) == (len(new), min(new), max(new))
        late = sum(place >= ROOM for place in new)
        assert (("list is full" if lesson.guard else "no such place") in sentence) == (late > 0)
        if 0 < late < len(new):
            assert f"For {late} of them" in sentence
        if not late and len(new) <= 8:
            listed = query.output("list")[sorted(new)].tolist()
            assert re.findall(r"\d+", sentence.partition(". Gaussian")[2]) == [*map(str, listed)]
        appended += new
    assert sorted(tested) == [*range(lesson.count)]
    assert sorted(appended) == [*range(int(touches.sum()))]
    assert int(re.search(r"(\d+) found", count)[1]) == touches.sum()
    assert int(re.search(r"stored (\d+)", count)[1]) == (min(touches.sum(), ROOM) if lesson.guard else touches.sum())
    assert ("has room for 16" in count) == (touches.sum() > ROOM)
    stored = query.steps(kind="write", name="blobCount")
    assert len(stored[stored <= stops[-1]]) == 32


def test_the_figure_opens_at_a_hit(record_lesson):
    lesson, query = record_lesson("coarse-raster")
    assert "on the list" in lesson.sentences(query)[lesson.stops(query).index(lesson.opening(query))]
