"""The address at which browsers read the index of the search, once somebody opens it."""

import asyncio
import json
from typing import Any

from bokeh.server.views.auth_request_handler import AuthRequestHandler
from tornado.web import HTTPError, authenticated

from splatscope.textbook.contents import lesson_names, written_of
from splatscope.web.assets import Asset, send
from splatscope.web.authorization import is_authorized
from splatscope.web.busy import send_busy
from splatscope.web.origin import is_from_here
from splatscope.web.search.index import SearchEntry, entries_of
from splatscope.web.shell.pages import PAGES
from splatscope.web.turnstile import turnstile
from splatscope.workers.errors import ServerBusy


class SearchHandler(AuthRequestHandler):
    """Sends the index as JSON, compressed. Browsers ask whether theirs is current."""

    @authenticated
    async def get(self) -> None:
        """Send the index."""
        if not is_from_here(self.request) or not is_authorized(self):
            raise HTTPError(403)
        try:
            await send(self, await _index(), "no-cache")
        except ServerBusy:
            send_busy(self)


_made: dict[tuple[Any, ...], Asset] = {}  # the latest one, by the texts that it was made from
_making = asyncio.Lock()


async def _index() -> Asset:
    """Return the index, which is made again once a section's texts have changed. Each page is read in a turn of its own."""
    async with _making:
        texts = tuple(text for name in lesson_names() for text in written_of(name))
        if texts not in _made:
            entries: list[SearchEntry] = []
            for page in PAGES:
                async with turnstile.turn():
                    entries += entries_of(page)
            _made.clear()
            body = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
            _made[texts] = Asset.of(body, "application/json")
        return _made[texts]
