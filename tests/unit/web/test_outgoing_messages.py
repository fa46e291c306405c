"""Messages that are queued for a browser at the moment when the ones before them have been written."""

import asyncio
import gc
from types import SimpleNamespace

import pytest
from bokeh.document import Document
from panel.io import document
from tornado.websocket import WebSocketClosedError

from splatscope.web.serving import outgoing_messages


class Connection:
    """A browser's: each write ends when the test says so."""

    def __init__(self):
        self.messages: list[list[str]] = []
        self.writes: list[asyncio.Future] = []
        self.protocol = SimpleNamespace(create=lambda kind, events: events)
        self._socket = self  # which Panel writes to

    def write(self, message: list[str]) -> list[asyncio.Future]:
        self.messages.append(message)
        self.writes.append(asyncio.get_running_loop().create_future())
        return self.writes[-1:]


async def sent() -> list[list[str]]:
    """Return the messages that are sent if the second is queued while the first one's write ends."""
    browser, doc = Connection(), Document()
    document.schedule_write_events(doc, [browser], ["first"])
    await asyncio.sleep(0)
    browser.writes[0].set_result(None)
    document.schedule_write_events(doc, [browser], ["second"])
    await asyncio.sleep(0.05)
    for write in browser.writes[1:]:
        write.set_result(None)
    await asyncio.sleep(0.05)
    assert doc not in document._WRITE_BLOCK
    return browser.messages


@pytest.fixture
def socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(document.extra_socket_handlers, Connection, lambda connection, msg: connection.write(msg))


@pytest.mark.usefixtures("socket")
def test_what_is_queued_as_a_write_ends_is_sent(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(document, "_dispatch_msgs", outgoing_messages.write_all)
    assert asyncio.run(sent()) == [["first"], ["second"]]


@pytest.mark.usefixtures("socket")
def test_panel_still_needs_this(monkeypatch: pytest.MonkeyPatch):
    """Once it sends both by itself, `outgoing_messages` can go."""
    monkeypatch.setattr(document, "_dispatch_msgs", outgoing_messages._write_queued)
    assert asyncio.run(sent()) == [["first"]]


class LeftConnection(Connection):
    """A browser's that has left."""

    def write(self, message: list[str]) -> list[asyncio.Future]:
        raise WebSocketClosedError


def test_a_browser_that_left_leaves_no_traceback_and_no_block(monkeypatch: pytest.MonkeyPatch):
    async def faults() -> list[dict]:
        doc, logged = Document(), []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: logged.append(context))
        document.schedule_write_events(doc, [LeftConnection()], ["a message"])
        await asyncio.sleep(0.05)
        gc.collect()  # a task's exception is logged when nobody can retrieve it any more
        assert doc not in document._WRITE_BLOCK
        return logged

    monkeypatch.setitem(document.extra_socket_handlers, LeftConnection, lambda browser, msg: browser.write(msg))
    monkeypatch.setattr(document, "_dispatch_msgs", outgoing_messages.write_all)
    assert not asyncio.run(faults())
