"""The WebSocket of a page with a session."""

import asyncio
import copy
import logging
import time
from typing import Any

import panel as pn
from bokeh.protocol.message import Message
from bokeh.server.tornado import BokehTornado
from bokeh.util.token import get_session_id
from panel.io.server import WSHandler

from splatscope.web.origin import is_own
from splatscope.web.serving import incoming_messages
from splatscope.web.serving.gate import inflow, peers
from splatscope.web.serving.reserved import drop_reserved
from splatscope.web.serving.session_limits import opened, require_room
from splatscope.web.turnstile import LONGEST_PAUSE, steps, turnstile
from splatscope.workers import visitor
from splatscope.workers.errors import ServerBusy

log = logging.getLogger(__name__)
MOST_EARLY = 100
MOST_CONNECTIONS = 3  # of one session
MOST_ORIGIN = 300  # characters; Bokeh logs an origin that it refuses


class Socket(WSHandler):
    """A page's WebSocket: limited, compressed, and TCP_NODELAY, since messages could wait 40 ms for an acknowledgement."""

    _taken = 0  # bytes received so far of the current message
    _opened = 0.0  # when
    _early = 0  # messages before the page has loaded

    async def prepare(self) -> None:
        """Drop what Bokeh reserves before it is read."""
        drop_reserved(self.request)
        await super().prepare()

    def check_origin(self, origin: str) -> bool:
        """Return whether a page of this origin may connect: one of this server, or of a site that the operator allows."""
        if is_own(origin, self.request):
            return True
        try:
            return len(origin) <= MOST_ORIGIN and super().check_origin(origin)
        except ValueError:  # no address
            return False

    def open(self, *args: Any, **kwargs: Any) -> None:  # ty: ignore[incompatible-mutable-override] - Tornado declares a variable
        """Open the socket without delays."""
        self._opened = time.monotonic()
        self.set_nodelay(True)
        try:
            super().open(*args, **kwargs)
        except Exception as error:  # a token that is forged, has expired, or is from before the server was started anew
            log.warning("Closed a connection without a valid token: %s", type(error).__name__)
            self.close(1013, "no session")

    async def on_message(self, fragment: str | bytes) -> None:
        """Handle a part of a message in its turn."""
        await steps.in_steps(super().on_message(fragment), first_only=True)

    async def _async_open(self, token: str) -> None:
        """Connect to the page's session, which is created anew if it has expired meanwhile."""
        try:
            async with turnstile.turn():
                require_room(self.application_context, get_session_id(token))
                await super()._async_open(token)
            self._end_older()
        except ServerBusy:
            self.close(1013, "busy")

    def _end_older(self) -> None:
        """Close the session's oldest connections. A page has one, and briefly two as it connects again."""
        session = getattr(self.connection, "_session", None)
        if session is None:
            return
        opened.add(session)
        sockets = [connection._socket for connection in session._subscribed_connections]
        for socket in sorted(sockets, key=lambda socket: socket._opened)[:-MOST_CONNECTIONS]:
            socket.close(1008, "replaced")

    @property
    def max_message_size(self) -> int:
        """The most bytes of one part of a message, after unpacking."""
        return incoming_messages.MOST_BYTES

    async def _receive(self, fragment: str | bytes) -> Message[Any] | None:
        if self.ws_connection is None:  # it was refused; the browser did not know this yet
            return None
        if self.connection is None:
            self._refuse("a message before its session was connected")
            return None
        self._taken += len(fragment)
        stream, sender = self.ws_connection.stream, visitor.address()
        assert stream is not None
        if not inflow.add(sender, self, len(fragment)):
            self._refuse("too much at once")
            return None
        if self._taken > incoming_messages.MOST_BYTES:  # Bokeh would collect as many buffers as a message announces
            self._refuse("too large a message")
            return None
        if isinstance(fragment, str) and sum(map(fragment.count, "[{,")) > incoming_messages.MOST_VALUES:  # before it is parsed
            self._refuse("too many values")
            return None
        try:
            message = await super()._receive(fragment)
        except Exception as error:  # anything that Bokeh does not expect, such as an incomplete map
            self._refuse(type(error).__name__)
            return None
        if message is not None:
            self._taken = 0
            inflow.taken(peers.get(stream, ""), stream)  # what has arrived
            inflow.taken(sender, self)  # what was unpacked from it
        return message

    async def _handle(self, message: Message[Any]) -> Any | None:
        session = getattr(self.connection, "_session", None)
        if session is None:  # the connection was closed meanwhile, for which Bokeh has an assertion
            return None
        models = session.document.models
        try:
            message.content = incoming_messages.admit(message.msgtype, message.content, models.__contains__)
        except incoming_messages.RefusedError as error:
            self._refuse(str(error))
            return None
        if message.msgtype == "PATCH-DOC" and not pn.state._loaded.get(session.document):
            self._early += 1
            if self._early > MOST_EARLY:
                self._refuse("messages before its page had loaded")
                return None
        for event in message.content["events"][:-1] if message.msgtype == "PATCH-DOC" else []:  # usually there is one
            began = time.thread_time()
            await super()._handle(_with_events(message, [event]))
            await asyncio.sleep(min(LONGEST_PAUSE, time.thread_time() - began))  # others have the loop for as long
            if getattr(self.connection, "_session", None) is None:
                return None
        if message.msgtype == "PATCH-DOC":
            message = _with_events(message, message.content["events"][-1:])
        return await super()._handle(message)

    def on_close(self) -> None:
        """Forget the connection, and what has come of a message. Bokeh asserts that its session has not ended before."""
        if self.receiver is not None:
            vars(self.receiver).clear()  # it refers to itself, so only the garbage collector would free it
        self.receiver = None
        if getattr(self.connection, "_session", None) is not None:
            super().on_close()
        elif self.connection is not None:
            assert isinstance(self.application, BokehTornado)
            self.application.client_lost(self.connection)

    async def send_message(self, message: Message[Any]) -> None:
        """Send a message. An error is sent without details of the server."""
        if message.msgtype == "ERROR":
            message.content = {"text": "The message could not be processed.", "traceback": None}
        await super().send_message(message)

    def _refuse(self, reason: str) -> None:
        log.warning("Closed a connection that sent %s.", reason)
        self.close(1008, "refused")

    def get_compression_options(self) -> dict[str, Any]:
        """Return the quickest compression. It halves a recording; on a picture, which does not get smaller, it costs 0.2 ms."""
        return {"compression_level": 1, "mem_level": 5}


def _with_events(message: Message[Any], events: list[Any]) -> Message[Any]:
    """Return a patch with only these of its events."""
    part = copy.copy(message)
    part.content = {"events": events}
    return part


class _OneLine(logging.Filter):
    """Keeps a message that could not be handled, which may have megabytes, out of Bokeh's log."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Replace what Bokeh logs of a message by the error alone."""
        if record.levelno >= logging.ERROR and record.args:
            error = record.args[-1] if isinstance(record.args, tuple) else record.args
            record.msg, record.args = "A page's message could not be handled: %s", (str(error).partition("\n")[0][:200],)
        return True


def _is_no_argument(record: logging.LogRecord) -> bool:
    """Return False for what Panel logs of each argument of an address that begins like JSON and is none."""
    return not record.getMessage().startswith("Could not parse value")


logging.getLogger("bokeh.server.protocol_handler").addFilter(_OneLine())
logging.getLogger("panel.util").addFilter(_is_no_argument)
