"""Bounds on the log, which strangers can cause lines in: their length, and how many of a kind there are."""

import asyncio
import logging
import time
from typing import Any

from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError

MOST_CHARACTERS = 1000  # of a message
MOST_ALIKE = 20  # lines of a kind in a period
PERIOD = 10.0  # seconds


class BoundedLog(logging.Filter):
    """Shortens messages, and drops those of a kind beyond `MOST_ALIKE` in a period; the first after it says how many."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[tuple[str, int], tuple[float, int]] = {}  # by file and line, when the period began, and the lines since

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log a record, and shorten its message."""
        kind, now = (record.pathname, record.lineno), time.monotonic()
        began, count = self._kinds.get(kind, (now, 0))
        dropped = 0
        if now - began > PERIOD:
            began, dropped, count = now, max(0, count - MOST_ALIKE), 0
        self._kinds[kind] = began, count + 1
        if count >= MOST_ALIKE:
            return False
        message = record.getMessage()
        if len(message) > MOST_CHARACTERS or dropped:
            more = f" ({dropped} more like this were not logged)" if dropped else ""
            record.msg, record.args = f"{message[:MOST_CHARACTERS]}{' …' * (len(message) > MOST_CHARACTERS)}{more}", None
        return True


def bound_log() -> None:
    """Bound all handlers of the log, and what the event loop logs of browsers that left while they were written to."""
    for name in (None, "bokeh", "tornado", "tornado.access", "tornado.application"):
        for handler in logging.getLogger(name).handlers:
            if not any(isinstance(existing, BoundedLog) for existing in handler.filters):
                handler.addFilter(BoundedLog())
    asyncio.get_running_loop().set_exception_handler(_unless_gone)


def _unless_gone(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    if not isinstance(context.get("exception"), StreamClosedError | WebSocketClosedError):
        loop.default_exception_handler(context)
