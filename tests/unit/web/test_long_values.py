"""Long values of a published page: pictures leave the JSON as bytes, and come back as they were."""

import base64
import json
import zlib

import numpy as np

from splatscope.textbook.results import Picture, Pictures, Scenes
from splatscope.web.lesson_results.results import parts_of
from splatscope.web.publish.long_values import BYTES, pack_value


def unpack(packed):
    """Return JSON and bytes of a packed value."""
    raw = zlib.decompress(packed)
    start = 4 + int.from_bytes(raw[:4], "little")
    return json.loads(raw[4:start]), raw[start:]


def bytes_at(place, body):
    """Return a picture's bytes, as `bytesAt` in files.ts does."""
    start, length, distances = place[BYTES]
    values = bytearray(body[start : start + length])
    for distance in distances:
        for i in range(distance, length):
            values[i] = (values[i] + values[i - distance]) % 256
    return bytes(values)


def test_pictures_and_maps_come_back_and_equal_ones_are_stored_once():
    picture = np.random.default_rng(1).integers(0, 256, (8, 7, 3)).astype(np.uint8)
    seen_through = np.dstack([picture, picture[..., :1]])
    numbers = np.append(np.linspace(-1, 9, 55), np.nan).reshape(7, 8)
    parts = parts_of(Scenes((Pictures(tuple(Picture("", one) for one in (picture, seen_through, numbers, picture))),), ("",)))
    value, body = unpack(pack_value(parts))
    shown = value[0]["scenes"][0][0]["pictures"]
    assert [bytes_at(one.get("bytes") or one["values"], body) for one in shown] == [
        picture.tobytes(),
        seen_through.tobytes(),
        numbers.astype("<f4").tobytes(),
        picture.tobytes(),
    ]
    assert len(body) == picture.nbytes + seen_through.nbytes + 4 * numbers.size


def test_all_else_stays_as_it_is():
    value = {"bytes": base64.b64encode(b"short").decode(), "values": {"sort": "bitonic", "heights": [1.5, None]}, "alpha": "ä"}
    assert unpack(pack_value(value)) == (value, b"")
