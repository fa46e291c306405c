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
    *waves, count, end = sentences
    touches, drew = touching(lesson), arrivals(query)
    tested = 0
    for step, sentence in zip(stops, waves, strict=False):
        first, last, many = re.match(r"Threads? (\d+)(?: to (\d+))? ha(?:s|ve) tested (\d+) box", sentence).groups()
        threads = set(range(int(first), int(last or first) + 1))
        own = [blob for blob in range(lesson.count) if blob % 32 in threads]
        assert int(many) == len(own)
        loops = query.steps(kind="value", name="i", function="coarseRasterize" if lesson.guard else "coarseWithoutGuard")
        assert {*own} <= {*query.values(loops[loops <= step]).tolist()}
        tested += len(own)
        found, late = [blob for blob in own if touches[blob]], sum(thread in threads for thread in drew[ROOM:])
        if not found:
            assert "none touches the tile" in sentence
            continue
        assert int(re.search(r": (\d+) touch", sentence)[1]) == len(found)
        if late:
            assert ("list full" in sentence) == lesson.guard == ("past its end" not in sentence)
            kept = re.search(r"(\d+) go into the list, (\d+) ", sentence)
            assert (tuple(map(int, kept.groups())) if kept else (0, len(found))) == (len(found) - late, late)
        elif len(found) <= 10:
            assert re.findall(r"\d+", sentence.split("into the list:")[1]) == [*map(str, found)]
    assert tested == lesson.count
    assert int(re.search(r"(\d+) found", count)[1]) == touches.sum()
    assert int(re.search(r"stored (\d+)", count)[1]) == (min(touches.sum(), ROOM) if lesson.guard else touches.sum())
    assert ("has room for 16" in count) == (touches.sum() > ROOM)
    stored = query.steps(kind="write", name="blobCount")
    assert len(stored[stored <= stops[-2]]) == 32
    listed = query.output("list")[: min(ROOM, touches.sum())].astype(int)
    if len(listed) > 1:
        assert f"holds {len(listed)} Gaussians" in end
        assert ("not in order" in end) == bool((np.diff(listed) < 0).any())
    else:
        assert ("one Gaussian" if len(listed) else "no Gaussian") in end


def test_the_figure_opens_at_a_hit(record_lesson):
    lesson, query = record_lesson("coarse-raster")
    assert "into the list" in lesson.sentences(query)[lesson.stops(query).index(lesson.opening(query))]
