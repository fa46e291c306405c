"""Files from the browser, in chunks. A whole file in one message would block the socket, and a large one would close it."""

from collections.abc import Callable
from typing import Any

MOST_BYTES = 64 * 2**20


class Inbox:
    """Joins the chunks of a file and passes it to `receive(file name, bytes)`.

    Chunks are not trusted: one that does not fit is dropped, and at most MOST_BYTES are buffered.
    """

    def __init__(self, receive: Callable[[str, bytes], Any]):
        """Pass each complete file to `receive(file name, bytes)`."""
        self._receive = receive
        self._pieces = bytearray()
        self._expected = 0

    def take(self, message: dict[str, Any]) -> None:
        """Take a chunk, {offset, total, filename, data}."""
        data, offset, total = (message.get(part) for part in ("data", "offset", "total"))
        if not (isinstance(data, bytes | bytearray | memoryview) and isinstance(offset, int) and isinstance(total, int)):
            return
        if offset == 0:
            self._pieces.clear()
            self._expected = 0
        if offset != self._expected or not 0 <= total <= MOST_BYTES or offset + len(data) > total:
            return
        self._pieces += data
        self._expected = len(self._pieces)
        if self._expected == total:
            file, self._pieces, self._expected = bytes(self._pieces), bytearray(), 0
            self._receive(str(message.get("filename", ""))[:200], file)
