"""The section on the coarse pass: which Gaussians are tested and listed, against the NumPy twin; the quizzes and claims."""

import numpy as np
import pytest

import reference

CASES = [{}, {"count": 1}, {"count": 33, "tile": 0, "seed": 5}, {"count": 128, "spread": 2.5, "tile": 29}]


def touching(lesson) -> tuple[np.ndarray, reference.Boxes]:
    """Which Gaussians' boxes touch the lesson's tile, (count,) bool, and the boxes."""
    boxes = reference.bounds(reference.load_direct(lesson.raw().astype(float)))
    middle = np.array((lesson.tile % 6 * 8 + 3.5, lesson.tile // 6 * 4 + 1.5))
    tile = reference.Boxes(middle, np.array((1.0, 0.0)), np.array((4.0, 2.0)))
    tiles = reference.Boxes(*(np.broadcast_to(part, (lesson.count, 2)) for part in (tile.center, tile.axis, tile.half_size)))
    return reference.intersects(boxes, tiles), boxes


def strongest(lesson) -> np.ndarray:
    """(count,) each one's largest alpha at the tile's pixels."""
    g = reference.load_direct(lesson.raw().astype(float))
    y, x = np.mgrid[0:4, 0:8]
    pixels = np.stack([x.ravel() + lesson.tile % 6 * 8, y.ravel() + lesson.tile // 6 * 4], -1)
    return np.array([reference.evaluate(g, blob, pixels)[:, 3].max() for blob in range(lesson.count)])


@pytest.mark.parametrize("values", CASES)
def test_scene_is_what_the_twin_says(record_lesson, values):
    lesson, query = record_lesson("coarse-raster", **values)
    facts = lesson.facts(query)
    touches, boxes = touching(lesson)
    assert [one["gaussian"] for one in facts["tests"]] == list(range(lesson.count))
    assert all(one["thread"] == one["gaussian"] % 32 and one["turn"] == one["gaussian"] // 32 for one in facts["tests"])
    assert [one["place"] >= 0 for one in facts["tests"]] == touches.tolist()
    assert sorted(one["place"] for one in facts["tests"] if one["place"] >= 0) == list(range(touches.sum()))
    for one in facts["tests"]:
        assert one["begin"] < one["asked"][0] < one["end"]
        assert len(one["asked"]) == 4 if one["place"] >= 0 else 1 <= len(one["asked"]) <= 4
    np.testing.assert_allclose([shape["center"] for shape in facts["shapes"]], boxes.center, atol=1e-3)
    sizes = np.sort([shape["half"] for shape in facts["shapes"]])
    np.testing.assert_allclose(sizes, np.sort(boxes.half_size), rtol=1e-3)
    np.testing.assert_allclose([shape["strongest"] for shape in facts["shapes"]], strongest(lesson), atol=2e-4)
    for one, shape in zip(facts["tests"], facts["shapes"], strict=True):  # the first gap, in the order in which they are asked
        gaps = np.abs(shape["distance"]) > np.add(shape["box"], shape["tile"])
        assert len(one["asked"]) == (int(np.argmax(gaps)) + 1 if gaps.any() else 4)


@pytest.mark.parametrize("values", CASES)
def test_stops_and_the_list(record_lesson, values):
    lesson, query = record_lesson("coarse-raster", **values)
    stops = lesson.stops(query)
    assert stops == sorted(set(stops))
    facts, (touches, _) = lesson.facts(query), touching(lesson)
    for one, step in zip(facts["tests"], facts["moments"], strict=True):
        assert one["begin"] < one["known"] <= one["end"]
        assert step in stops or step == one["known"]
        assert (one["place"] >= 0) == touches[one["gaussian"]]
        own = [other for other in facts["tests"] if other["thread"] == one["thread"]]
        assert max((other for other in own if other["begin"] <= step), key=lambda other: other["begin"]) == one
    kept = min(16, int(touches.sum()))
    listed = query.output("list")[:kept]
    assert set(listed) <= set(np.flatnonzero(touches))
    assert len(set(listed)) == kept
    assert not query.output("list")[kept:].any()


@pytest.mark.parametrize("values", CASES)
def test_answers(record_lesson, values):
    lesson, query = record_lesson("coarse-raster", **values)
    kept = min(16, int(touching(lesson)[0].sum()))
    listed = query.output("list")[:kept]
    shared, faint = lesson.shared(query), lesson.count_invisible(query)
    thread = min(5, lesson.count - 1)
    own = [str(gaussian) for gaussian in range(lesson.count) if gaussian % 32 == thread]
    assert shared.value.replace(" alone", "") == " and ".join(", ".join(own).rsplit(", ", 1))
    assert faint.value == str(int(np.sum(strongest(lesson)[listed] < 1 / 255)))
    for answer in (shared, faint):
        assert set(answer.options) == {answer.value, *answer.wrong}
        assert answer.value not in answer.wrong
        assert len(set(answer.options)) == len(answer.options) <= 4


def test_without_the_guard_the_write_is_found(record_lesson):
    crowded = {"count": 128, "spread": 2.5}
    _, query = record_lesson("coarse-raster", **crowded)
    assert [finding.kind for finding in query.findings] == ["benign-race"]
    lesson, broken = record_lesson("coarse-raster", **crowded, guard=False)
    found = next(finding for finding in broken.findings if finding.kind == "out-of-bounds")
    assert found.name == "blobs"
    assert "blobs[place] = i" in broken.job.source.split("\n")[found.lines[0] - 1]
    counts = broken.values(broken.steps(kind="write", name="blobCount"))
    assert set(counts) == {int(touching(lesson)[0].sum())}


def test_claims(record_lesson, experiment):
    lesson, _ = record_lesson("coarse-raster")
    race = lesson.harmless(experiment)
    assert race.holds is True
    assert "a harmless race on **blobCount**" in race.ran
    enough = lesson.enough(experiment)
    assert not enough.holds


def test_shows(record_lesson, experiment):
    lesson, _ = record_lesson("coarse-raster", count=40)
    listed, visible, vain = (picture.pixels for picture in lesson.box_and_ellipse(experiment).shows[1].pictures)
    touches, _ = touching(lesson)
    assert listed.ravel()[lesson.tile] == touches.sum()
    assert visible.ravel()[lesson.tile] == np.sum(touches & (strongest(lesson) >= 1 / 255))
    np.testing.assert_array_equal(vain, listed - visible)
    rows = lesson.two_lists(experiment).rows
    assert int(rows[0][2]) >= 1
    assert sorted(experiment.run(lesson.wide())["list"]) == list(range(2**19))
    assert "◆ out-of-bounds" in lesson.unguarded(experiment).shows[0].rows[1][-1]
