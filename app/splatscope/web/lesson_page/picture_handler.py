"""Sends the pictures that readers have trained, in which a section marks a pixel."""

from tornado.web import RequestHandler

from splatscope.services import pictures
from splatscope.splat.files.images import encode
from splatscope.web.assets import FOR_GOOD, send_whole


class PictureHandler(RequestHandler):
    """Sends what a picture was fitted to. Its name changes with the content, so browsers keep it."""

    async def get(self, name: str) -> None:  # ty: ignore[incompatible-mutable-override] - Tornado declares a variable
        """Send the picture of this name; nothing if it is no longer held, which is no error: the page says so."""
        try:
            picture = pictures.find(name)
        except pictures.PictureGoneError:
            self.set_header("Cache-Control", "no-store")
            self.set_status(204)
            return
        self.set_header("Cache-Control", FOR_GOOD)
        self.set_header("Content-Type", "image/webp")
        await send_whole(self, encode(picture.target, "WEBP"))
