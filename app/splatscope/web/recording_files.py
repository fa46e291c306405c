"""Recordings as files: whoever shows one tells browsers its address, and they fetch it, once, and keep it for good.

The name of a recording is its hash, so that the same recording is the same file for all sessions. It can be fetched as long as
somebody here holds it: a session's stepper, or the cache of recordings.
"""

from weakref import WeakValueDictionary

from tornado.web import HTTPError, RequestHandler

from splatscope.recordings.packed import PackedRecording
from splatscope.web.assets import FOR_GOOD, relative

_held: WeakValueDictionary[str, PackedRecording] = WeakValueDictionary()  # by hash


def address(packed: PackedRecording) -> str:
    """Return the address of a recording, relative to the page."""
    name = packed.meta["recording"]
    _held[name] = packed
    return relative(f"recordings/{name}")


class RecordingFileHandler(RequestHandler):
    """Sends a recording. It is compressed as it is."""

    def get(self, name: str) -> None:
        """Send the recording of this name, if somebody holds it."""
        packed = _held.get(name)
        if packed is None:
            raise HTTPError(404)
        self.set_header("Cache-Control", FOR_GOOD)
        self.set_header("Content-Type", "application/octet-stream")
        self.write(packed.data)
