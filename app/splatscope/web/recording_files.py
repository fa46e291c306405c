"""Recordings as files: a browser is told a recording's address, fetches it once, and keeps it for good.

A recording is named by its hash, so the same recording is the same file for all sessions. It can be fetched as long as something
on the server holds it: a session's stepper, or the cache of recordings.
"""

from weakref import WeakValueDictionary

from tornado.web import HTTPError, RequestHandler

from splatscope.recordings.packed import PackedRecording
from splatscope.web.assets import FOR_GOOD, send_whole

_held: WeakValueDictionary[str, PackedRecording] = WeakValueDictionary()  # by hash


def address(packed: PackedRecording) -> str:
    """Return the address of a recording, relative to the page."""
    name = packed.meta["recording"]
    _held[name] = packed
    return f"recordings/{name}"


class RecordingFileHandler(RequestHandler):
    """Sends a recording, which is compressed already."""

    async def get(self, name: str) -> None:  # ty: ignore[incompatible-mutable-override] - Tornado declares a variable
        """Send the recording of this name, if it is still held."""
        packed = _held.get(name)
        if packed is None:
            raise HTTPError(404)
        self.set_header("Cache-Control", FOR_GOOD)
        self.set_header("Content-Type", "application/octet-stream")
        await send_whole(self, packed.data)
