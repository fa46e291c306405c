"""The server's part of the app: its start and end, its socket, its handlers and its routes."""

import asyncio
import ctypes
import gzip
import logging
import os
import secrets
import subprocess
from contextlib import suppress
from typing import Any

import panel as pn
from bokeh.protocol.message import Message
from bokeh.server.urls import per_app_patterns, toplevel_patterns
from bokeh.settings import settings
from panel.io.server import DocHandler, WSHandler
from tornado.escape import utf8
from tornado.ioloop import IOLoop
from tornado.web import HTTPError, authenticated

from splatscope.services import sandbox_jobs
from splatscope.services.training import warm
from splatscope.services.warm_up import fill_cache, tile_jobs
from splatscope.textbook.contents import lesson_names
from splatscope.web.assets import AssetHandler, scripts, send, takes_gzip
from splatscope.web.examples.gallery import example_jobs
from splatscope.web.lesson_page import record_ahead
from splatscope.web.lesson_page.first_recording import RecordingHandler
from splatscope.web.lesson_page.section_handler import SectionHandler
from splatscope.web.recording_files import RecordingFileHandler
from splatscope.web.serving import incoming_messages, outgoing_messages
from splatscope.web.serving.section_document import reads, section_document
from splatscope.web.shell.pages import PAGES
from splatscope.workers import worker_pool
from splatscope.workers.sandbox import supervisor as sandbox

log = logging.getLogger(__name__)
FIRST_VISIT = 2.0  # seconds after the start that are left to the first visitor: starting workers take all cores
MOST_VALUE = 4000  # characters of a value in an address; Panel would read a number of 5,000 digits, and fail
_M_ARENA_MAX = -8  # in glibc's malloc.h
_cache_fillers: list[subprocess.Popen] = []


def on_server_loaded(server_context: Any) -> None:
    """Import all pages, and start the workers in the background. They take a second, and longer to compile what visitors run first.

    When a browser connects, Panel tells it all known component classes. It could not show a page that is imported later.
    """
    _limit_arenas()
    for entry in PAGES:
        entry.load()
    worker_pool.whose_turn = _session
    IOLoop.current().add_callback(_warm_up)


def _limit_arenas() -> None:
    """Have all threads allocate from two arenas, where glibc would give each of eight per processor its own.

    Sections are prepared in threads, and an arena keeps what its threads have freed. With many arenas, a server that is read for
    hours grows, although Python holds no more than before.
    """
    with suppress(OSError, AttributeError, TypeError):  # not glibc; TypeError on Windows
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)


def on_server_unloaded(server_context: Any) -> None:
    """End all processes that this server started."""
    for process in _cache_fillers:
        process.kill()
    worker_pool.stop()


def _session() -> str | None:
    """Return the session that the current work is for; None for sections, which are the same for all readers."""
    document = pn.state.curdoc
    return document.session_context.id if document and document.session_context else None


async def _warm_up() -> None:
    await asyncio.sleep(FIRST_VISIT)
    try:
        await asyncio.gather(warm(worker_pool), warm(worker_pool))  # concurrently, so that two workers are ready
        for name in lesson_names() if scripts() else ():
            await section_document({"page": name})
        await worker_pool.run(sandbox.prepare, sandbox_jobs.__name__, untrusted=True)
        if "SPLATSCOPE_SCHEDULER" not in os.environ:
            _cache_fillers.append(fill_cache([*example_jobs(), *lesson_names(), *tile_jobs()]))
        if os.environ.get(record_ahead.WHEN) == record_ahead.AT_START:
            record_ahead.begin()
    except Exception as error:  # pages that need a device report it too
        log.warning("%s", error)


class Socket(WSHandler):
    """A page's WebSocket: limited, compressed, and TCP_NODELAY, since messages could wait 40 ms for an acknowledgement."""

    _taken = 0  # bytes received so far of the current message

    def open(self, *args: Any, **kwargs: Any) -> None:
        """Open the socket without delays."""
        self.set_nodelay(True)
        super().open(*args, **kwargs)

    @property
    def max_message_size(self) -> int:
        """The most bytes of one part of a message, after unpacking."""
        return incoming_messages.MOST_BYTES

    async def _receive(self, fragment: str | bytes) -> Message[Any] | None:
        self._taken += len(fragment)
        if self._taken > incoming_messages.MOST_BYTES:  # Bokeh would collect as many buffers as a message announces
            self._refuse("too large a message")
            return None
        try:
            message = await super()._receive(fragment)
        except Exception as error:  # anything that Bokeh does not expect, such as an incomplete map
            self._refuse(type(error).__name__)
            return None
        self._taken = 0 if message is not None else self._taken
        return message

    async def _handle(self, message: Message[Any]) -> Any | None:
        try:
            message.content = incoming_messages.admit(message.msgtype, message.content)
        except incoming_messages.RefusedError as error:
            self._refuse(str(error))
            return None
        return await super()._handle(message)

    async def send_message(self, message: Message[Any]) -> None:
        """Send a message. An error is sent without details of the server."""
        if message.msgtype == "ERROR":
            message.content = {"text": "The message could not be processed.", "traceback": None}
        await super().send_message(message)

    def _refuse(self, why: str) -> None:
        log.warning("Closed a connection that sent %s.", why)
        self.close(1008, "refused")

    def get_compression_options(self) -> dict[str, Any]:
        """Return the quickest compression. It halves a recording; on a picture, which does not get smaller, it costs 0.2 ms."""
        return {"compression_level": 1, "mem_level": 5}


# A page contacts only this server and runs only what it sends. Bokeh evaluates callbacks, and Panel imports modules from memory,
# which it first fetches if the build has no bundle for the installed version of Panel.
POLICY = """default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline';
img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:;
connect-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'"""


class PageHandler(DocHandler):
    """Sends a page's HTML, compressed."""

    def set_default_headers(self) -> None:
        """Forbid a page to load anything from elsewhere. Other sites may frame it: no click in a page gives anything away."""
        self.set_header("Content-Security-Policy", POLICY.replace("\n", " "))
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "same-origin")

    @authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Send the document of a section, or a page with its session."""
        query = {name: self.get_query_argument(name) for name in self.request.query_arguments}
        if any(len(value) > MOST_VALUE for value in query.values()):
            raise HTTPError(414)
        if document := await section_document(query) if reads(self.request.path) else None:
            send(self, document, "no-cache")
        else:
            await super().get(*args, **kwargs)

    def write(self, chunk: str | bytes | dict[str, Any]) -> None:
        """Write an answer, compressed if the browser accepts that."""
        if isinstance(chunk, str | bytes) and takes_gzip(self):
            self.set_header("Content-Encoding", "gzip")
            self.set_header("Vary", "Accept-Encoding")
            chunk = gzip.compress(utf8(chunk), 4, mtime=0)
        super().write(chunk)


# Accept only sessions that this server created. `panel serve` reads the settings after this file has run, but Bokeh has already
# read and cached the key.
if settings.secret_key_bytes() is None and "BOKEH_SIGN_SESSIONS" not in os.environ:
    os.environ.update(BOKEH_SIGN_SESSIONS="yes", BOKEH_SECRET_KEY=secrets.token_urlsafe(48))
    vars(settings).pop("_secret_key_bytes", None)

outgoing_messages.install()

# Neither `panel serve` nor Bokeh's server has an option to choose handlers. The lists of routes are read when the server is built,
# after this file has run, so the handlers are replaced in place.
HANDLERS = {WSHandler: Socket, DocHandler: PageHandler}
per_app_patterns[:] = [(route, HANDLERS.get(handler, handler)) for route, handler in per_app_patterns]
toplevel_patterns.extend(
    [
        (r"/assets/(.*)", AssetHandler),
        (r"/recordings/([0-9a-f]{16})", RecordingFileHandler),
        (r"/recordings/(.*)", RecordingHandler),
        (r"/sections/([\w-]+)", SectionHandler),
    ]
)
