"""The messages that a browser may send: maps to the app's components, whose size is limited before anything unpacks them.

Bokeh lets a browser change any property of any model, replace the document, and send a megabyte that unpacks into gigabytes. No
component of the app needs any of this: each sends small messages, and the server decides how to act on them.
"""

import base64
import binascii
import zlib
from collections.abc import Callable
from typing import Any

MOST_BYTES = 4 * 2**20  # of a message, and of all bytes in it after unpacking; files are sent in pieces of 1 MiB
MOST_VALUES = 200_000  # numbers, texts, lists and maps in a message
MOST_DEPTH = 40
MOST_EVENTS = 50  # in a patch; a page sends one message at a time, and a few sizes and positions of its figures
KINDS = ("PULL-DOC-REQ", "PATCH-DOC")
EVENTS = ("data_event", "document_ready")  # a message to a component; the page has loaded
_NOT_FINITE = ("nan", "-inf", "+inf", "inf")


class RefusedError(ValueError):
    """A message that no page of the app would send. The text says why, in one line."""


def admit(kind: str, content: Any, exists: Callable[[str], bool] = lambda name: True) -> Any:
    """Return the part of a message that may be acted on: of a patch, only the messages to components.

    The rest of a patch is dropped silently, because ordinary browsers send it too: the size of a figure, or their time zone.

    Args:
        kind: The message's type in Bokeh's protocol.
        content: Its content, as JSON holds it.
        exists: Returns whether there is a component of this id. One that was just replaced may still get a message.

    Raises:
        RefusedError: The message is of another kind, malformed or too large.
    """
    if kind not in KINDS:
        raise RefusedError(f"{kind[:40]!r} is not a kind of message that pages send")
    if kind != "PATCH-DOC":
        return content
    events = content.get("events") if isinstance(content, dict) else None
    if not isinstance(events, list):
        raise RefusedError("a patch without events")
    if len(events) > MOST_EVENTS:
        raise RefusedError(f"more than {MOST_EVENTS} events at once")
    budget = _Budget()
    return {"events": [event for event in events if _is_message(event, budget, exists)]}


class _Budget:
    """What remains of a message's limits."""

    def __init__(self) -> None:
        self.values, self.bytes = MOST_VALUES, MOST_BYTES

    def take(self, size: int) -> None:
        self.bytes -= size
        if self.bytes < 0:
            raise RefusedError(f"more than {MOST_BYTES:,} bytes")

    def count(self) -> None:
        self.values -= 1
        if self.values < 0:
            raise RefusedError(f"more than {MOST_VALUES:,} values")


def _is_message(event: Any, budget: _Budget, exists: Callable[[str], bool]) -> bool:
    """Return whether an event is a message to a component that exists; raise RefusedError if it is a malformed one."""
    budget.count()
    if not isinstance(event, dict) or event.get("kind") != "MessageSent":
        return False
    data = event.get("msg_data")
    if event.get("msg_type") != "bokeh_event" or not isinstance(data, dict) or data.get("type") != "event":
        raise RefusedError("a message that is not an event")
    if data.get("name") not in EVENTS:
        return False
    values = data.get("values")
    entries = dict(_entries(values))
    if data["name"] == "document_ready" and not entries:
        return True
    model = entries.get("model")
    if entries.keys() != {"model", "data"} or not isinstance(model, dict) or not _is_reference(model):
        raise RefusedError("a message that names no component")
    _entries(entries["data"])
    _measure(entries["data"], budget, MOST_DEPTH)
    return exists(model["id"])


def _is_reference(model: dict[str, Any]) -> bool:
    return model.keys() == {"id"} and isinstance(model["id"], str)


def _entries(value: Any) -> list[tuple[str, Any]]:
    """Return the pairs of a map, whose keys are texts."""
    pairs = value.get("entries", []) if isinstance(value, dict) and value.get("type") == "map" else None
    if not isinstance(pairs, list):
        raise RefusedError("a map without entries")
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise RefusedError("a map whose keys are not texts")
    return [(key, item) for key, item in pairs]


def _measure(value: Any, budget: _Budget, depth: int) -> None:
    """Deduct a value and everything in it from the budget.

    Raises:
        RefusedError: The value is too large, or not plain: from such values, Bokeh would build models, arrays and ranges.
    """
    budget.count()
    if depth == 0:
        raise RefusedError(f"values nested more than {MOST_DEPTH} deep")
    match value:
        case None | bool() | int() | float() | str():
            pass
        case list():
            for item in value:
                _measure(item, budget, depth - 1)
        case {"type": "map"}:
            for _, item in _entries(value):
                _measure(item, budget, depth - 1)
        case {"type": "bytes", "data": str(text)}:
            budget.take(unpacked_size(text, budget.bytes))
        case {"type": "bytes", "data": {"id": str()}}:
            pass  # a buffer of the message
        case {"type": "number", "value": str(text)} if text in _NOT_FINITE:
            pass
        case _:
            raise RefusedError("a value that pages do not send")


def unpacked_size(text: str, most: int) -> int:
    """Return the unpacked size of a text, gzip in base64, without unpacking more than `most` + 1 bytes.

    Raises:
        RefusedError: The text is not gzip in base64.
    """
    try:
        return len(zlib.decompressobj(wbits=31).decompress(base64.b64decode(text), most + 1))
    except (binascii.Error, zlib.error, ValueError):
        raise RefusedError("bytes that cannot be unpacked") from None
