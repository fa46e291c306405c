"""What many learners ask for is made once: who comes meanwhile waits for the same run, who comes later gets what is kept."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any


class SingleFlightCache:
    """Results by key, the latest asked for last; of all kept, `size(result)` sums up to at most `most`. A size of 0 is not kept."""

    def __init__(self, most: int, size: Callable[[Any], int] = lambda result: 1):
        self._most = most
        self._size = size
        self._results: OrderedDict[str, Any] = OrderedDict()
        self._under_way: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Task] = {}

    async def once(self, key: str, make: Callable[[], Awaitable[Any]]) -> Any:
        """The result of `make()`, from now or before, or what it raised. A caller that is cancelled leaves it to the others."""
        if key in self._results:
            self._results.move_to_end(key)
            return self._results[key]
        loop = asyncio.get_running_loop()
        if (loop, key) not in self._under_way:
            task = self._under_way[loop, key] = loop.create_task(_run(make))
            task.add_done_callback(lambda done: self._settle(loop, key, done))
        return await asyncio.shield(self._under_way[loop, key])

    def _settle(self, loop: asyncio.AbstractEventLoop, key: str, task: asyncio.Task) -> None:
        del self._under_way[loop, key]
        if task.cancelled() or task.exception() is not None or not self._size(task.result()):
            return
        self._results[key] = task.result()
        while len(self._results) > 1 and sum(map(self._size, self._results.values())) > self._most:
            self._results.popitem(last=False)


async def _run(make: Callable[[], Awaitable[Any]]) -> Any:
    return await make()
