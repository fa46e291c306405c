"""Runs whose pages were left. A page that is loaded again takes up its tab's own, by a key that only the tab knows."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Run = TypeVar("Run")

KEPT_SECONDS = 120.0
MOST = 16  # runs; beyond, those that were left first are given up


class LeftRuns(Generic[Run]):
    """Holds runs until somebody takes them, or until they are given up."""

    def __init__(self, give_up: Callable[[Run], None]):
        """Hold none. `give_up` frees one that nobody has taken."""
        self._give_up = give_up
        self._runs: OrderedDict[str, tuple[Run, asyncio.TimerHandle]] = OrderedDict()

    def leave(self, key: str, run: Run) -> None:
        """Hold a run. Outside of an event loop, as when the server stops, it is given up at once."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._give_up(run)
            return
        self._runs[key] = (run, loop.call_later(KEPT_SECONDS, self._end, key))
        if len(self._runs) > MOST:
            self._end(next(iter(self._runs)))

    def take(self, key: str) -> Run | None:
        """Return a run that is held, which is then no longer held; None if there is none."""
        run, timer = self._runs.pop(key, (None, None))
        if timer is not None:
            timer.cancel()
        return run

    def _end(self, key: str) -> None:
        run = self.take(key)
        if run is not None:
            self._give_up(run)
