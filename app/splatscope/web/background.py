"""Work that a part of a page waits for, and no longer once the page is left."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class BackgroundTask:
    """One task at a time on the page's event loop: a later one takes the place of an earlier one."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    def start(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine in place of what runs."""
        self.cancel()
        self._task = asyncio.get_running_loop().create_task(work)

    def cancel(self) -> None:
        """Cancel what runs, if anything does."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
