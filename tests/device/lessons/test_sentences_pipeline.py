"""The sentences on the pipeline, against the box test of the NumPy twin and what stands in shared memory."""

import re

import numpy as np
import pytest

import reference

CASES = [{}, {"blobs": 1}, {"blobs": 60}, {"blobs": 4, "seed": 1}, {"blobs": 33, "seed": 9}, {"blobs": 2, "seed": 5}]
PADDING = 0xFFFFFFFF


def touching(lesson) -> int:
    """How many Gaussians' boxes touch the tile of pixels 8 … 15 × 4 … 7."""
    boxes = reference.bounds(reference.load_direct(lesson.raw().astype(float)))
    parts = ((11.5, 5.5), (1.0, 0.0), (4.0, 2.0))
    tile = reference.Boxes(*(np.broadcast_to(np.array(part), (lesson.blobs, 2)) for part in parts))
    return int(reference.intersects(boxes, tile).sum())


@pytest.mark.parametrize("values", CASES)
def test_every_sentence_is_what_the_twin_and_the_memory_say(record_lesson, values):
    lesson, query = record_lesson("pipeline", **values)
    stops, sentences = lesson.stops(query), lesson.sentences(query)
    assert len(stops) == len(sentences) == 6
    assert all(len(sentence) <= 150 for sentence in sentences)
    assert lesson.opening(query) in stops
    many = touching(lesson)
    places = 1 << max(0, many - 1).bit_length()
    coarse, pad, sort, fine = sentences[1:5]
    memory = query.contents("blobs", max(places, 1), stops).astype(int)
    assert int(re.search(r"tested (\d+) box", coarse)[1]) == lesson.blobs
    assert ("Not one touches" in coarse) == (many == 0)
    if many:
        assert int(re.search(r"(\d+) touch", coarse)[1]) == many
        assert len(set(memory[1][:many].tolist())) == many
        assert int(re.search(r"through the list, (\d+) long", fine)[1]) == many
    else:
        assert "the list is empty" in fine
    assert int(re.search(r"here (\d+):", pad)[1]) == places
    added = re.search(r"(\d+) padding keys? added", pad)
    assert int(added[1] if added else 0) == places - many
    if many or places > many:
        assert np.sum(memory[2] == PADDING) == places - many
    if many > 1:
        ids = memory[3][:many].tolist()
        assert ids == sorted(ids)
        assert "in order now" in sort
        assert ("padding" in sort) == (places > many)
        assert np.all(memory[3][many:] == PADDING)
    else:
        assert "nothing to bring into order" in sort
    counter = query.steps(kind="atomic", name="blobCountAT")
    assert not len(counter) or counter.min() > query.steps(kind="call", name="initShortList")[0]
    drawn = query.steps(kind="write", name="picture")
    assert len(drawn[drawn <= stops[-1]]) == 32


def test_the_figure_opens_with_the_list_of_the_coarse_stage(record_lesson):
    lesson, query = record_lesson("pipeline")
    assert lesson.sentences(query)[lesson.stops(query).index(lesson.opening(query))].startswith("Coarse")
