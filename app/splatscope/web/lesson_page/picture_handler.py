"""Sends the pictures that readers have trained, in which a section marks a pixel."""

import asyncio

from bokeh.server.views.auth_request_handler import AuthRequestHandler
from tornado.web import HTTPError, authenticated

from splatscope.services import pictures
from splatscope.splat.files.images import encode
from splatscope.web.assets import send_whole
from splatscope.web.authorization import is_authorized

KEPT = "private, max-age=31536000, immutable"  # by the reader's browser only: the picture may be their own


class PictureHandler(AuthRequestHandler):
    """Sends what a picture was fitted to. Its name changes with the content, so browsers keep it."""

    @authenticated
    async def get(self, name: str) -> None:
        """Send the picture of this name; nothing if it is no longer held, which is no error: the page says so.

        Raises:
            HTTPError: Nobody who is authorized asks.
        """
        if not is_authorized(self):
            raise HTTPError(403)
        try:
            picture = pictures.find(name)
        except pictures.PictureGoneError:
            self.set_header("Cache-Control", "no-store")
            self.set_status(204)
            return
        self.set_header("Cache-Control", KEPT)
        self.set_header("Content-Type", "image/webp")
        await send_whole(self, await asyncio.to_thread(encode, picture.target, "WEBP"))
