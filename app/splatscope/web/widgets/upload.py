"""Files from the browser, in chunks. A whole file in one message would block the socket, and a large one would close it."""

from collections import Counter
from collections.abc import Callable
from io import BytesIO
from typing import Any

from splatscope.printable import printable
from splatscope.workers.visitor import address

MOST_BYTES = 64 * 2**20  # in one file
MOST_HELD = 64 * 2**20  # bytes that are held of one visitor's files, unfinished ones included
HELD_ALREADY = "Other files from your address are still being read: wait for them, or close a page that has one."

_held: Counter[str] = Counter()  # bytes by visitor


class _Claim:
    """A part of a visitor's budget. It is given back when nothing refers to it any more."""

    def __init__(self, visitor: str) -> None:
        self._visitor, self._size = visitor, 0

    def grow(self, size: int) -> bool:
        """Claim `size` more bytes, and return whether there were as many left."""
        if _held[self._visitor] + size > MOST_HELD:
            return False
        _held[self._visitor] += size
        self._size += size
        return True

    def __del__(self) -> None:
        _held[self._visitor] -= self._size
        if not _held[self._visitor]:
            del _held[self._visitor]


class Upload:
    """A file from the browser, with its name as one line. It counts towards its visitor's budget for as long as it is held."""

    def __init__(self, name: str, data: bytes, claim: object = None) -> None:
        self.name, self.data, self._claim = name, data, claim


class Inbox:
    """Joins the chunks of a file and passes it to `receive`.

    Chunks are not trusted: one that does not fit is dropped, and a file that exceeds the visitor's budget is refused.
    """

    def __init__(self, receive: Callable[[Upload], Any], refuse: Callable[[str], Any], most: int = MOST_BYTES):
        """Pass each complete file of at most `most` bytes to `receive(file)`, and the reason for a refusal to `refuse(line)`."""
        self._receive, self._refuse, self._most = receive, refuse, most
        self.close()

    def close(self) -> None:
        """Drop an unfinished file."""
        self._pieces = BytesIO()
        self._expected = 0
        self._claim: _Claim | None = None

    def take(self, message: dict[str, Any]) -> None:
        """Take a chunk, {offset, total, filename, data}."""
        data, offset, total = (message.get(part) for part in ("data", "offset", "total"))
        if not (isinstance(data, bytes | bytearray | memoryview) and isinstance(offset, int) and isinstance(total, int)):
            return
        if offset == 0:
            self.close()
            self._claim = _Claim(address())
        if self._claim is None or offset != self._expected or not 0 <= total <= self._most or offset + len(data) > total:
            return
        if not self._claim.grow(len(data)):
            self.close()
            self._refuse(HELD_ALREADY)
            return
        self._pieces.write(data)
        self._expected += len(data)
        if self._expected == total:
            file = Upload(printable(str(message.get("filename", "")), 200), self._pieces.getvalue(), self._claim)
            self.close()
            self._receive(file)
