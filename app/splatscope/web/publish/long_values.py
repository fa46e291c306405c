"""Long values of a published page as files: JSON followed by the bytes of pictures and maps, which compress better than base64.

`loadValue` in files.ts reads it.
"""

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

BYTES = "$bytes"  # replaces a base64 text: [first byte, number of bytes, distances over which differences were taken]
PICTURES = ("bytes", "values", "heights")  # members with base64 texts in the parts of a result
SHORT = 100  # characters up to which a text is not replaced


def pack_value(value: Any) -> bytes:
    """Return a value as one zlib stream of `uint32 length, JSON, bytes`. Equal pictures in it are stored once."""
    body = bytearray()
    places: dict[str, dict[str, list[Any]]] = {}

    def extract(item: Any) -> Any:
        match item:
            case Mapping():
                return {name: store(text, item) if name in PICTURES else extract(text) for name, text in item.items()}
            case list() | tuple():
                return [extract(element) for element in item]
        return item

    def store(text: Any, picture: Mapping[str, Any]) -> Any:
        if not isinstance(text, str) or len(text) <= SHORT:
            return extract(text)
        if text not in places:
            raw, distances = _differences(base64.b64decode(text, validate=True), picture)
            places[text] = {BYTES: [len(body), len(raw), distances]}
            body.extend(raw)
        return places[text]

    head = json.dumps(extract(value), separators=(",", ":"), ensure_ascii=False).encode()
    return zlib.compress(np.uint32(len(head)).tobytes() + head + bytes(body), 9)


def _differences(raw: bytes, picture: Mapping[str, Any]) -> tuple[bytes, list[int]]:
    """Return a picture's bytes as differences to the pixels above and to the left, and the distances in bytes."""
    if "alpha" not in picture:  # numbers
        return raw, []
    channels = 4 if picture["alpha"] else 3
    distances = [channels * picture["width"], channels]
    values = np.frombuffer(raw, np.uint8).copy()
    for distance in distances:
        values[distance:] -= values[:-distance].copy()
    return values.tobytes(), distances
