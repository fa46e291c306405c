"""A reader's session without a browser: what the server tells each component, and its files, as a page would send them."""

import asyncio
import base64
import gzip
import json
from collections.abc import Callable, Iterator
from typing import Any

from tornado.websocket import WebSocketClientConnection

from helpers.page_socket import PageSocket, entries_of

PIECE = 2**20  # bytes of a file in one message

Change = tuple[str, str, Any]  # the component's class, the parameter or "message", the value


class ClosedError(ConnectionError):
    """The server closed the connection."""


class Session(PageSocket):
    """A connection that keeps what has changed since `ask` was called last."""

    def __init__(self, socket: WebSocketClientConnection):
        super().__init__(socket)
        self.changes: list[Change] = []
        self.values: dict[tuple[str, str], Any] = {}  # the latest of all, by component and parameter
        self._told = asyncio.Event()
        self._sending = asyncio.Lock()
        self._listening: asyncio.Task[None] | None = None
        self.on_change: Callable[[Change], None] = lambda change: None

    def note(self, message: Any) -> None:
        """Note the components that a message describes, with their values."""
        super().note(message)
        for name, values in described(message):
            self.values |= {(name, parameter): value for parameter, value in values.items()}

    @classmethod
    async def open(cls, address: str, query: str, source: str = "127.0.0.1") -> "Session":
        """Open a page, and listen."""
        session = await cls.come(f"{address}/app", query, source)
        session._listening = asyncio.create_task(session._listen())
        return session

    async def send(self, kind: str, content: Any) -> None:
        """Send a message, its parts together."""
        async with self._sending:
            await super().send(kind, content)

    async def ask(self, component: str, **message: Any) -> None:
        """Send a message to a component, and forget what was heard before."""
        self.changes.clear()
        await self.say(component, entries(message))

    async def send_file(self, component: str, name: str, filename: str, data: bytes) -> None:
        """Send a file in pieces, and forget what was heard before."""
        self.changes.clear()
        for offset in range(0, len(data), PIECE):
            piece = {"type": "chunk", "name": name, "filename": filename, "offset": offset, "total": len(data)}
            await self.say(component, entries(piece | {"data": data[offset : offset + PIECE]}))

    async def until(self, met: Callable[[list[Change]], Any]) -> Any:
        """Return what `met` makes of the changes, once that is true.

        Raises:
            ClosedError: The server closed the connection before.
        """
        while not (found := met(self.changes)):
            if self._listening.done():
                raise ClosedError("the server closed the connection")
            self._told.clear()
            await self._told.wait()
        return found

    def drop(self) -> None:
        """Leave without a word."""
        if self._listening:
            self._listening.cancel()
        if self.socket.protocol is not None:
            self.socket.protocol._abort()

    async def _listen(self) -> None:
        try:
            while (message := await self.socket.read_message()) is not None:
                if isinstance(message, str) and message.startswith('{"events"'):
                    for event in json.loads(message)["events"]:
                        await self._take(event)
                    self._told.set()
        finally:
            self._told.set()

    async def _take(self, event: dict[str, Any]) -> None:
        self.note(event)
        told = entries_of(entries_of(event.get("msg_data", {}).get("values")).get("data"))
        for change in map(plain, told.get("changes", [])):
            name = self.classes.get(change["id"], "")
            if "message" in change:
                await self._note((name, "message", change["message"]["type"]))
            for parameter, value in change.get("values", {}).items():
                await self._note((name, parameter, value))

    async def _note(self, change: Change) -> None:
        self.changes.append(change)
        self.values[change[:2]] = change[2]
        self.on_change(change)
        if change[1] == "sequence" and change[0] in ("TrainingPicture", "Frame"):
            await self.say(change[0], entries({"type": "drawn", "sequence": change[2]}))


def entries(message: dict[str, Any]) -> list[list[Any]]:
    """Return a map's entries as Bokeh encodes them."""
    return [[name, encoded(value)] for name, value in message.items()]


def encoded(value: Any) -> Any:
    """Return a value as Bokeh encodes it."""
    match value:
        case bytes():
            return {"type": "bytes", "data": base64.b64encode(gzip.compress(value, 1)).decode()}
        case dict():
            return {"type": "map", "entries": entries(value)}
        case list():
            return [encoded(one) for one in value]
    return value


def plain(value: Any) -> Any:
    """Return a value that Bokeh encoded, bytes as None."""
    match value:
        case {"type": "map"}:
            return {key: plain(one) for key, one in value.get("entries", [])}
        case {"type": _}:
            return None
        case list():
            return [plain(one) for one in value]
    return value


def described(found: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the class and the values of each component that is described anywhere in what Bokeh has encoded."""
    entries = entries_of(found)
    if {"id", "class", "values"} <= entries.keys():
        yield entries["class"], plain(entries["values"]) or {}
    for part in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        yield from described(part)


def latest(changes: list[Change], component: str, name: str, otherwise: Any = None) -> Any:
    """Return the last value of a component's parameter among changes."""
    return next((value for kind, attribute, value in reversed(changes) if (kind, attribute) == (component, name)), otherwise)


def line(changes: list[Change], component: str, name: str) -> str:
    """Return the last line that is not empty of a parameter among changes."""
    found = [value for kind, attribute, value in changes if (kind, attribute) == (component, name) and value]
    return found[-1] if found else ""
