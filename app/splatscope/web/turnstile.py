"""Work that takes the event loop tens of milliseconds, such as building a page: one piece at a time, in turns of the visitors.

After each piece the event loop is left to everything else for a while. So however many pages a visitor requests, another waits for
the piece that is being worked on, and for its own.

`turnstile` is for work that is known to take long, `steps` for requests and messages, most of which take a millisecond. These wait
for browsers and workers in between, so a step of theirs is a piece.
"""

import asyncio
import time
import types
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

from splatscope.workers import visitor
from splatscope.workers.errors import ServerBusy

MOST_WAITING = 256  # pieces of one visitor, which may be a whole school behind one address
MOST_TOGETHER = 1024
SHARE = 0.5  # the longest pause after a piece, as a part of the time that it took
LONGEST_PAUSE = 0.3  # seconds
TICK = 0.002  # seconds
IDLE = 0.0003  # seconds of a tick in which nothing else was due that matters
IDLE_TICKS = 3
LONG = 0.01  # seconds: after shorter pieces there is no pause, but the event loop goes on with all else once they add up to this

_Result = TypeVar("_Result")


class Turnstile:
    """Lets one piece of work in at a time: `async with turnstile.turn(): …`."""

    def __init__(self, *, is_bounded: bool = True) -> None:
        self._is_bounded = is_bounded
        self._begin(None)

    def _begin(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self._loop = loop
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}  # by visitor, in the order of their turns
        self._closed = False  # while a piece is worked on, and in the pause after it
        self._worked = 0.0  # seconds since everything else last had the loop

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Wait for a turn of the current visitor, and keep others out meanwhile.

        Raises:
            ServerBusy: Too much waits already, for this visitor or for all.
        """
        await self._enter(visitor.address())
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            yield
        finally:
            self._leave(loop, loop.time() - began)

    @types.coroutine
    def in_steps(self, work: Coroutine[Any, Any, _Result], *, first_only: bool = False) -> Generator[Any, Any, _Result]:
        """Await a coroutine, and wait for a turn before each of its steps; with `first_only`, only before it begins.

        A coroutine that holds a lock which others of its session need must not wait in the middle.
        """
        step: Callable[[], Any] = partial(work.send, None)
        has_turn = True
        while True:
            if has_turn:
                try:
                    yield from self._enter(visitor.address()).__await__()
                except BaseException:
                    work.close()
                    raise
            began = time.thread_time()
            try:
                pending = step()
            except StopIteration as done:
                return done.value
            finally:
                if has_turn:
                    self._leave(asyncio.get_running_loop(), time.thread_time() - began)
                has_turn = not first_only
            try:
                step = partial(work.send, (yield pending))
            except BaseException as error:  # it was cancelled while it waited, or what it waited for
                step = partial(work.throw, error)

    def _leave(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        """Let the next piece in: after a pause if this one took long, after all else that is due if short ones have added up."""
        self._worked += seconds
        if self._worked < LONG:
            return self._open()
        self._worked = 0.0
        if seconds < LONG:
            loop.call_soon(self._open)
        else:
            self._pause(loop, loop.time() + min(LONGEST_PAUSE, SHARE * seconds))

    def _pause(self, loop: asyncio.AbstractEventLoop, end: float, before: float = -1.0, idle: int = 0) -> None:
        """Leave the event loop to everything else until a time, or until nothing else was due for a while."""
        now = time.thread_time()
        idle = idle + 1 if now - before < IDLE else 0
        if idle >= IDLE_TICKS or loop.time() >= end:
            self._open()
        else:
            loop.call_later(TICK, self._pause, loop, end, now, idle)

    async def _enter(self, address: str) -> None:
        if self._loop is not (loop := asyncio.get_running_loop()):
            self._begin(loop)
        if not self._closed:
            self._closed = True
            return
        queue = self._queues.setdefault(address, deque())
        if self._is_bounded and (len(queue) >= MOST_WAITING or sum(map(len, self._queues.values())) >= MOST_TOGETHER):
            raise ServerBusy
        future = loop.create_future()
        queue.append(future)
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():  # granted just before the cancellation arrived
                self._open()
            else:
                future.cancel()
            raise

    def _open(self) -> None:
        """Let the next piece in: the oldest of the visitor whose turn is longest ago."""
        self._closed = False
        while self._queues and not self._closed:
            address = next(iter(self._queues))
            queue = self._queues.pop(address)
            future = queue.popleft()
            if queue:
                self._queues[address] = queue  # at the end
            if not future.done():
                future.set_result(None)
                self._closed = True


turnstile = Turnstile()
steps = Turnstile(is_bounded=False)  # by the number of connections
