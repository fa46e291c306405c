"""The addresses at which browsers read sections: a section's content for some inputs, and running its experiments again."""

import asyncio
import json
import zlib
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl

from bokeh.server.views.auth_request_handler import AuthRequestHandler
from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, authenticated

from splatscope.textbook.contents import lesson_names
from splatscope.web.assets import send, takes_gzip
from splatscope.web.authorization import is_authorized
from splatscope.web.busy import send_busy
from splatscope.web.lesson_page.lesson_page import LessonPage
from splatscope.web.lesson_page.section_view import SectionView, build, changed, view_of
from splatscope.web.origin import is_from_here
from splatscope.web.shell.router import read_inputs
from splatscope.web.turnstile import steps, turnstile
from splatscope.workers import visitor, worker_pool
from splatscope.workers.errors import ServerBusy

MOST_SAID = 20_000  # characters of a change that is requested


class SectionHandler(AuthRequestHandler):
    """Sends a section's content, as lines of JSON (`section_view.py`).

    The query holds the `inputs`, as in an address, and perhaps a `change` of them, as JSON.
    """

    _sending: asyncio.Task[None] | None = None

    @authenticated
    async def get(self, stem: str) -> None:
        """Send the page, then what changes until it is complete. Each step waits for its turn."""
        await steps.in_steps(self._get(stem))

    async def _get(self, stem: str) -> None:
        self._require_own_page()
        inputs, notes = self._inputs(stem), None
        if change := self.get_query_argument("change", ""):
            inputs, notes = changed(stem, inputs, _read(change))
        try:
            view = await view_of(stem, inputs)
        except ServerBusy:
            return send_busy(self)
        if view.done and notes is None:
            return await send(self, view.page, "no-cache")
        if not view.done and worker_pool.is_full(visitor.address()):
            return send_busy(self)
        self.set_header("Content-Type", view.page.type)
        self.set_header("Cache-Control", "no-store")
        self._sending = asyncio.create_task(self._send(view, notes))
        with suppress(asyncio.CancelledError, StreamClosedError):
            await self._sending

    @authenticated
    async def post(self, stem: str) -> None:
        """Run an experiment again, given the number of its component, and send its new values."""
        self._require_own_page()
        number = _read(self.request.body).get("run")
        inputs = self._inputs(stem)
        try:
            async with turnstile.turn():
                lesson = build(stem, inputs)
            if worker_pool.is_full(visitor.address()):
                return send_busy(self)
            self._sending = asyncio.create_task(self._run(lesson, number if isinstance(number, int) else -1))
            with suppress(asyncio.CancelledError, StreamClosedError):
                await self._sending
        except ServerBusy:
            send_busy(self)

    async def _run(self, lesson: LessonPage, number: int) -> None:
        try:
            self.write(await lesson.run_anew(number))
        except LookupError:
            raise HTTPError(400) from None

    def _require_own_page(self) -> None:
        """Raise HTTPError if another site has sent the request, which may cost the workers time, or nobody who is authorized."""
        if not is_from_here(self.request) or not is_authorized(self):
            raise HTTPError(403)

    def on_connection_close(self) -> None:
        """Stop sending and running: the reader has left the page or changed its inputs again."""
        if self._sending is not None:
            self._sending.cancel()

    def _inputs(self, stem: str) -> dict[str, str]:
        """Return the requested inputs. Raises HTTPError if there is no such section."""
        if stem not in lesson_names():
            raise HTTPError(404)
        return read_inputs(dict(parse_qsl(self.get_query_argument("inputs", ""), keep_blank_values=True)))

    async def _send(self, view: SectionView, notes: dict[str, str] | None) -> None:
        gzip = zlib.compressobj(4, wbits=31) if takes_gzip(self) else None
        if gzip:
            self.set_header("Content-Encoding", "gzip")

        async def send_line(line: bytes) -> None:
            self.write(gzip.compress(line) + gzip.flush(zlib.Z_SYNC_FLUSH) if gzip else line)
            await self.flush()

        if notes is not None:
            await send_line(json.dumps({"notes": notes}).encode() + b"\n")
        await send_line(view.page.body)
        async for line in view.changes():
            await send_line(line)
        if gzip:
            self.write(gzip.flush())


def _read(text: str | bytes) -> dict[str, Any]:
    """Return a browser's message. Raises HTTPError for anything but a JSON object."""
    with suppress(ValueError, RecursionError):
        if len(text) <= MOST_SAID and isinstance(message := json.loads(text), dict) and isinstance(message.get("set", {}), dict):
            return message
    raise HTTPError(400)
