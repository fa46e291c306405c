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
from splatscope.web.lesson_page.section_view import SectionView, build, changed, view_of
from splatscope.web.shell.router import read_inputs

MOST_SAID = 20_000  # characters of a change that is requested


class SectionHandler(AuthRequestHandler):
    """Sends a section's content, as lines of JSON (`section_view.py`).

    The query holds the `inputs`, as in an address, and perhaps a `change` of them, as JSON.
    """

    _sending: asyncio.Task[None] | None = None

    @authenticated
    async def get(self, stem: str) -> None:
        """Send the page, then what changes until it is complete."""
        inputs, notes = self._inputs(stem), None
        if change := self.get_query_argument("change", ""):
            inputs, notes = changed(stem, inputs, _read(change))
        view = await view_of(stem, inputs)
        if view.done and notes is None:
            send(self, view.page, "no-cache")
            return
        self.set_header("Content-Type", view.page.type)
        self.set_header("Cache-Control", "no-store")
        self._sending = asyncio.create_task(self._send(view, notes))
        with suppress(asyncio.CancelledError, StreamClosedError):
            await self._sending

    @authenticated
    async def post(self, stem: str) -> None:
        """Run an experiment again, given the number of its component, and send its new values."""
        if self.request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            raise HTTPError(403)
        number = _read(self.request.body).get("run")
        lesson = build(stem, self._inputs(stem))
        try:
            values = await lesson.run_anew(number if isinstance(number, int) else -1)
        except LookupError:
            raise HTTPError(400) from None
        finally:
            lesson.page.close()
        self.write(values)

    def on_connection_close(self) -> None:
        """Stop sending: the reader has left the page or changed its inputs again."""
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

        async def tell(line: bytes) -> None:
            self.write(gzip.compress(line) + gzip.flush(zlib.Z_SYNC_FLUSH) if gzip else line)
            await self.flush()

        if notes is not None:
            await tell(json.dumps({"notes": notes}).encode() + b"\n")
        await tell(view.page.body)
        async for line in view.changes():
            await tell(line)
        if gzip:
            self.write(gzip.flush())


def _read(text: str | bytes) -> dict[str, Any]:
    """Return a browser's message. Raises HTTPError for anything but a JSON object."""
    with suppress(ValueError, RecursionError):
        if len(text) <= MOST_SAID and isinstance(said := json.loads(text), dict) and isinstance(said.get("set", {}), dict):
            return said
    raise HTTPError(400)
