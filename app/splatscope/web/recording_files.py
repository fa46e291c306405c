"""Recordings as files: a browser is told a recording's address, fetches it once, and keeps it for good.

A recording is named by its hash, so the same recording is the same file for all sessions. It can be fetched as long as something
on the server holds it: a session's stepper, or the cache of recordings; and for some hours from a file, also after a restart, and
from another server with the same state folder.
"""

import asyncio
from weakref import WeakValueDictionary

from tornado.web import HTTPError, RequestHandler

from splatscope.recordings.packed import PackedRecording
from splatscope.web.assets import FOR_GOOD, send_whole
from splatscope.web.durable_files import DurableFiles

MOST_STORED, MOST_STORED_BYTES = 512, 256 * 2**20

_held: WeakValueDictionary[str, PackedRecording] = WeakValueDictionary()  # by hash
durable: DurableFiles[bytes] = DurableFiles("recordings", bytes, MOST_STORED, MOST_STORED_BYTES, lambda: [*_held])


def address(packed: PackedRecording) -> str:
    """Return the address of a recording, relative to the page."""
    name, data = packed.meta["recording"], packed.data
    if name not in _held:
        durable.save(name, lambda: data)
    _held[name] = packed
    return f"recordings/{name}"


class RecordingFileHandler(RequestHandler):
    """Sends a recording, which is compressed already."""

    async def get(self, name: str) -> None:  # ty: ignore[incompatible-mutable-override] - Tornado declares a variable
        """Send the recording of this name, if it is still held or stored."""
        packed = _held.get(name)
        data = packed.data if packed is not None else await asyncio.to_thread(durable.read, name)
        if data is None:
            raise HTTPError(404)
        self.set_header("Cache-Control", FOR_GOOD)
        self.set_header("Content-Type", "application/octet-stream")
        await send_whole(self, data)
