"""The address of all documents, `/app`."""

import gzip
from typing import Any

import panel as pn
from panel.io.server import DocHandler
from tornado.escape import utf8
from tornado.web import HTTPError, authenticated

from splatscope.web.assets import scripts, send, takes_gzip
from splatscope.web.busy import send_busy
from splatscope.web.origin import is_from_here
from splatscope.web.policy import document_policy
from splatscope.web.serving.page_document import SESSION, page_document
from splatscope.web.serving.reserved import drop_reserved
from splatscope.web.serving.session_limits import require_room
from splatscope.web.turnstile import turnstile
from splatscope.workers.errors import ServerBusy

MOST_VALUE = 4000  # characters of a value in an address; Panel would read a number of 5,000 digits, and fail


class PageHandler(DocHandler):
    """Sends a page's HTML, compressed."""

    def set_default_headers(self) -> None:
        """Allow a page its own scripts, and to load from this server only."""
        self.set_header("Content-Security-Policy", document_policy())

    async def prepare(self) -> None:
        """Drop what Bokeh reserves before it is read."""
        drop_reserved(self.request)
        await super().prepare()

    @authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Send the document of a page, or a session with its document."""
        query = {name: self.get_query_argument(name) for name in self.request.query_arguments}
        if any(len(value) > MOST_VALUE for value in query.values()):
            raise HTTPError(414)
        try:
            # a callback that authorizes is called with the session
            if scripts() and pn.config.authorize_callback is None and (document := await page_document(query)):
                return await send(self, document, "no-cache")
            if SESSION in query and not is_from_here(self.request):
                raise HTTPError(403)
            async with turnstile.turn():
                require_room(self.application_context)
                work = super().get(*args, **kwargs)
                if work is not None:  # otherwise the browser was sent to a login
                    await work
        except ServerBusy:
            send_busy(self, page=SESSION not in query)

    def write(self, chunk: str | bytes | dict[str, Any]) -> None:
        """Write an answer, compressed if the browser accepts that."""
        if isinstance(chunk, str | bytes) and takes_gzip(self):
            self.set_header("Content-Encoding", "gzip")
            self.set_header("Vary", "Accept-Encoding")
            chunk = gzip.compress(utf8(chunk), 4, mtime=0)
        super().write(chunk)
