"""A page's WebSocket without a browser, for sending arbitrary messages."""

import asyncio
import json
import re
import secrets
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

T = TypeVar("T")


LIMIT = 300.0  # seconds for all that a coroutine does: a thread cannot be ended from outside


def apart(attack: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a separate thread, since this thread may run the event loop of a browser."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, asyncio.wait_for(attack, LIMIT)).result()


def entries_of(value: Any) -> dict[str, Any]:
    """Return the entries of a map that Bokeh has encoded, {} for anything else."""
    return dict(value.get("entries", [])) if isinstance(value, dict) and value.get("type") == "map" else {}


def components(found: Any) -> Iterator[tuple[str, int]]:
    """Yield the class and the number of each component that is described anywhere in what Bokeh has encoded."""
    described = entries_of(found)
    if {"id", "class", "children"} <= described.keys():
        yield described["class"], described["id"]
    for part in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        yield from components(part)


def session_of(found: Any) -> dict[str, str]:
    """Return the ids of a session's model in a document, and of the model with its parameters."""
    if isinstance(found, dict) and "class_name" in (attributes := found.get("attributes") or {}):
        return {"model": found["id"], "data": attributes["data"]["id"]}
    parts = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    return next((ids for part in parts if (ids := session_of(part))), {})


def read(url: str, source: str) -> str:
    """Return the text at an address, requested from a network address of this machine."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    with closing(HTTPConnection(parts.hostname, parts.port, timeout=120, source_address=(source, 0))) as connection:
        connection.request("GET", f"{parts.path}?{parts.query}")
        return connection.getresponse().read().decode()


class PageSocket:
    """A session's connection: the `ids` of its models, the `numbers` of its components by class, and the reverse in `classes`."""

    def __init__(self, socket: WebSocketClientConnection):
        self.socket = socket
        self.ids: dict[str, str] = {}
        self.numbers: dict[str, int] = {}
        self.classes: dict[int, str] = {}

    @classmethod
    async def come(cls, address: str, query: str, source: str = "127.0.0.1") -> Self:
        """Open a page with its session, as its script would, from a network address of this machine."""
        page = await asyncio.to_thread(read, f"{address}?{query}&session=1", source)
        token = re.search(r'"token":"([^"]+)"', page)[1]
        request = HTTPRequest(f"{address.replace('http', 'ws', 1)}/ws", network_interface=source)
        socket = await websocket_connect(request, subprotocols=["bokeh", token], max_message_size=2**28)
        visitor = cls(socket)
        while '"ACK"' not in (await socket.read_message() or '"ACK"'):
            pass
        await visitor.send("PULL-DOC-REQ", {})
        while not visitor.ids:
            message = await socket.read_message()
            if isinstance(message, str) and "doc" in message[:20]:
                document = json.loads(message)
                visitor.ids = session_of(document)
                visitor.note(document)
        await visitor.event("document_ready", [])
        await visitor.tell([["drawn", True]])
        return visitor

    def note(self, message: Any) -> None:
        """Note the components that a message describes."""
        for name, number in components(message):
            self.numbers[name], self.classes[number] = number, name

    async def send(self, kind: str, content: Any) -> str:
        """Send a message of Bokeh's protocol. Return its number, which its answer names."""
        number = secrets.token_hex(8)
        for part in ({"msgid": number, "msgtype": kind}, {}, content):
            await self.socket.write_message(json.dumps(part))
        return number

    async def event(self, name: str, entries: list[list[Any]]) -> str:
        """Send an event with the entries of a map, encoded as Bokeh encodes them. Return the message's number."""
        data = {"type": "event", "name": name, "values": {"type": "map", "entries": entries}}
        return await self.send("PATCH-DOC", {"events": [{"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": data}]})

    async def say(self, component: str, entries: list[list[Any]]) -> None:
        """Send a message to a component, with the entries of its map."""
        await self.tell([["id", self.numbers[component]], ["message", {"type": "map", "entries": entries}]])

    async def tell(self, entries: list[list[Any]]) -> None:
        """Send a message to the session's model, with the entries of its map."""
        await self.event("data_event", [["model", {"id": self.ids["model"]}], ["data", {"type": "map", "entries": entries}]])

    async def set(self, **values: Any) -> None:
        """Change parameters of the session's model, as Bokeh lets a browser do."""
        model = {"id": self.ids["data"]}
        events = [{"kind": "ModelChanged", "model": model, "attr": name, "new": value} for name, value in values.items()]
        await self.send("PATCH-DOC", {"events": events})

    async def answer(self, number: str, on_other: Callable[[], None] = lambda: None) -> None:
        """Read until the message with this number is answered, or the server closes the connection."""
        while (part := await self.socket.read_message()) is not None:
            if isinstance(part, str) and number in part[:200]:
                return
            on_other()

    async def heard(self, seconds: float) -> list[str]:
        """Return the parts of messages that arrive within a time, followed by None if the server closes the connection."""
        parts: list[Any] = []
        end = asyncio.get_running_loop().time() + seconds
        while (left := end - asyncio.get_running_loop().time()) > 0:
            try:
                part = await asyncio.wait_for(self.socket.read_message(), left)
            except TimeoutError:
                break
            parts.append(part)
            if part is None:
                break
        return parts
