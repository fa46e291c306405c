"""Sends the pictures that readers have trained, in which a section marks a pixel, and what the program does to one."""

import asyncio
import json

from bokeh.server.views.auth_request_handler import AuthRequestHandler
from tornado.web import HTTPError, authenticated

from splatscope.services import pictures
from splatscope.services.lessons import pixel_facts
from splatscope.splat.files.images import encode
from splatscope.web.assets import send_whole
from splatscope.web.authorization import is_authorized
from splatscope.web.busy import send_busy
from splatscope.workers import visitor, worker_pool

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


class PixelHandler(AuthRequestHandler):
    """Sends what the whole program does to a pixel of a trained picture."""

    @authenticated
    async def get(self, name: str, x: str, y: str) -> None:
        """Send the facts as JSON, or `error`, one line that says why there are none.

        Raises:
            HTTPError: Nobody who is authorized asks.
            WorkerError: The worker was lost or took too long.
        """
        if not is_authorized(self):
            raise HTTPError(403)
        if worker_pool.is_full(visitor.address()):
            return send_busy(self)
        self.set_header("Cache-Control", "no-store")
        self.set_header("Content-Type", "application/json")
        try:
            answer = {**await pixel_facts(worker_pool, name, (int(x), int(y)))}
        except ValueError as error:
            answer = {"error": str(error)}
        await send_whole(self, json.dumps(answer).encode())
