"""A forged token opens no session, and leaves no traceback."""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
from tornado.websocket import WebSocketClosedError, websocket_connect

from helpers.page_socket import PageSocket, apart
from helpers.patience import PATIENCE
from helpers.serving import served
from splatscope.web.serving.page_socket import MOST_CONNECTIONS


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sessions") / "log"


@pytest.fixture(scope="module")
def address(log: Path) -> Iterator[str]:
    with served(log) as address:
        yield address


def token_of(address: str) -> str:
    page = urlopen(f"{address}/app?page=glossary&session=1", timeout=120).read().decode()
    return re.search(r'"token":"([^"]+)"', page)[1]


async def closed(address: str, subprotocols: list[str]) -> bool:
    """Return whether the server closes a socket that is opened with these without having sent anything."""
    socket = await websocket_connect(f"{address.replace('http', 'ws', 1)}/app/ws", subprotocols=subprotocols)
    return await asyncio.wait_for(socket.read_message(), PATIENCE) is None


def changed(token: str) -> str:
    """Return a token with another signature."""
    return token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB")


def test_a_token_of_this_server_opens_its_session(address):
    assert not apart(closed(address, ["bokeh", token_of(address)]))


@pytest.mark.parametrize(
    "forge",
    [
        lambda token: ["bokeh", changed(token)],
        lambda token: ["bokeh", token[: len(token) // 2]],
        lambda token: ["bokeh", json.dumps({"session_id": "a", "session_expiry": 9e9}).encode().hex()],
        lambda token: ["bokeh", "x"],
        lambda token: ["bokeh"],
        lambda token: ["other", token],
    ],
    ids=["signature", "half", "plain", "x", "none", "protocol"],
)
def test_a_forged_token_opens_no_session(address, log, forge):
    assert apart(closed(address, forge(token_of(address))))
    assert "Traceback" not in log.read_text()


def test_messages_before_a_session_is_connected_end_in_no_internal_error(address, log):
    async def hasty() -> None:
        token = await asyncio.to_thread(token_of, address)
        socket = await websocket_connect(f"{address.replace('http', 'ws', 1)}/app/ws", subprotocols=["bokeh", token])
        with suppress(WebSocketClosedError):  # the server may have closed it after the first
            for part in ('{"msgid":"1","msgtype":"PULL-DOC-REQ"}', "{}", "{}"):
                await socket.write_message(part)
        await asyncio.wait_for(socket.read_message(), PATIENCE)
        socket.close()

    async def several() -> None:
        await asyncio.gather(*(hasty() for _ in range(10)))

    apart(several())
    assert "AttributeError" not in log.read_text()


def test_the_messages_of_a_patch_leave_the_loop_to_others_between_them(address):
    """Each of these builds a page. An answer to somebody else comes before the last of them is built."""

    async def attacked() -> list[str]:
        visitor = await PageSocket.come(f"{address}/app", "page=glossary")
        model, router = {"id": visitor.ids["model"]}, visitor.numbers["Router"]
        pages = ["train", "claims"] * 6
        events = []
        for page in pages:
            entries = [["type", "go"], ["page", page], ["inputs", {"type": "map", "entries": []}]]
            told = {"type": "map", "entries": [["id", router], ["message", {"type": "map", "entries": entries}]]}
            values = {"type": "map", "entries": [["model", model], ["data", told]]}
            data = {"type": "event", "name": "data_event", "values": values}
            events.append({"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": data})
        begun, order = asyncio.Event(), []

        async def handled(number: str) -> None:
            await visitor.answer(number, begun.set)
            order.append("handled")

        await visitor.answer(await visitor.event("document_ready", []))  # what the page sends as it opens has come
        reading = asyncio.create_task(handled(await visitor.send("PATCH-DOC", {"events": events})))
        await begun.wait()
        await asyncio.to_thread(lambda: urlopen(f"{address}/sections/blending?inputs=", timeout=PATIENCE).read(100))
        order.append("answered")
        await reading
        visitor.socket.close()
        return order

    urlopen(f"{address}/sections/blending?inputs=", timeout=120).read()
    assert apart(attacked()) == ["answered", "handled"]


def test_a_session_has_few_connections(address):
    """A page has one. What the session says is written to each of them, so the oldest of many is closed."""

    async def connected() -> list[bool]:
        token, sockets = await asyncio.to_thread(token_of, address), []
        for _ in range(MOST_CONNECTIONS + 2):
            socket = await websocket_connect(f"{address.replace('http', 'ws', 1)}/app/ws", subprotocols=["bokeh", token])
            while '"ACK"' not in (await socket.read_message() or '"ACK"'):
                pass
            sockets.append(socket)
        closed = []
        for number, socket in enumerate(sockets):
            try:
                while (part := await asyncio.wait_for(socket.read_message(), PATIENCE if number < 2 else 2)) is not None:
                    pass
            except TimeoutError:
                part = ""
            closed.append(part is None)
        for socket in sockets:
            socket.close()
        return closed

    assert apart(connected()) == [True, True, *[False] * MOST_CONNECTIONS]
