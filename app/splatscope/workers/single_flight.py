"""A cache in which concurrent requests for one key share one computation."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from cachetools import LRUCache

from splatscope.workers import visitor


@dataclass
class _Flight:
    """A computation, how many callers wait for it, and who they are."""

    task: asyncio.Task
    readers: visitor.Readers
    callers: int = 0


class SingleFlightCache:
    """Results by key. The least recently used are evicted once their total size exceeds `maxsize`.

    Args:
        maxsize: The largest total size, in the unit of `size`.
        size: Returns the size of a result. A result is not cached if its size is 0 or exceeds `maxsize`.
    """

    def __init__(self, maxsize: int, size: Callable[[Any], int] = lambda result: 1) -> None:
        self._results: LRUCache[str, Any] = LRUCache(maxsize, getsizeof=size)
        self._in_flight: dict[tuple[asyncio.AbstractEventLoop, str], _Flight] = {}

    def find(self, key: str) -> Any:
        """Return the cached result of `key`, or None."""
        return self._results.get(key)

    async def get(self, key: str, make: Callable[[], Awaitable[Any]]) -> Any:
        """Return the cached result of `key`, or the result of `make()`, which runs once for all concurrent callers.

        `make()` is cancelled once all its callers are. An error that it raises reaches all callers and is not cached.
        """
        if key in self._results:
            return self._results[key]
        loop = asyncio.get_running_loop()
        flight = self._in_flight.get((loop, key))
        if flight is None:
            with (readers := visitor.Readers()).working():
                flight = self._in_flight[loop, key] = _Flight(loop.create_task(_await(make)), readers)
            flight.task.add_done_callback(lambda done: self._store(loop, key, done))
        flight.readers.join()
        flight.callers += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.callers -= 1
            if not flight.callers and not flight.task.done():
                flight.task.cancel()
                self._in_flight.pop((loop, key), None)  # a caller that comes now begins anew

    def _store(self, loop: asyncio.AbstractEventLoop, key: str, task: asyncio.Task) -> None:
        if (flight := self._in_flight.get((loop, key))) and flight.task is task:
            del self._in_flight[loop, key]
        if (
            not task.cancelled()
            and task.exception() is None
            and 0 < self._results.getsizeof(task.result()) <= self._results.maxsize
        ):
            self._results[key] = task.result()


async def _await(make: Callable[[], Awaitable[Any]]) -> Any:
    return await make()
