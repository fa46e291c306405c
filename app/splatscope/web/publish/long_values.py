"""Long values of a published page as files: JSON, and behind it the bytes of pictures and maps, which pack better than base 64.

`loadValue` in files.js reads it.
"""

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

BYTES = "$bytes"  # in the place of a text in base 64: [its first byte, how many, the distances over which differences were taken]
PICTURES = ("bytes", "values", "heights")  # members that hold such a text, in the parts of a result
SHORT = 100  # characters up to which it stays where it is


def pack_value(value: Any) -> bytes:
    """Return a value as one zlib stream of `uint32 length, JSON, bytes`. Equal pictures in it are stored once."""
    body = bytearray()
    places: dict[str, dict[str, list[Any]]] = {}

    def apart(one: Any) -> Any:
        match one:
            case Mapping():
                return {name: place(text, one) if name in PICTURES else apart(text) for name, text in one.items()}
            case list() | tuple():
                return [apart(each) for each in one]
        return one

    def place(text: Any, within: Mapping[str, Any]) -> Any:
        if not isinstance(text, str) or len(text) <= SHORT:
            return apart(text)
        if text not in places:
            raw, distances = _differences(base64.b64decode(text, validate=True), within)
            places[text] = {BYTES: [len(body), len(raw), distances]}
            body.extend(raw)
        return places[text]

    head = json.dumps(apart(value), separators=(",", ":"), ensure_ascii=False).encode()
    return zlib.compress(np.uint32(len(head)).tobytes() + head + bytes(body), 9)


def _differences(raw: bytes, picture: Mapping[str, Any]) -> tuple[bytes, list[int]]:
    """Return a picture's bytes as differences to the pixel above and the one before, and over which distances they were taken."""
    if "alpha" not in picture:  # numbers
        return raw, []
    channels = 4 if picture["alpha"] else 3
    distances = [channels * picture["width"], channels]
    values = np.frombuffer(raw, np.uint8).copy()
    for distance in distances:
        values[distance:] -= values[:-distance].copy()
    return values.tobytes(), distances
