"""Background work for a part of a page, cancelled when the page is left."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class BackgroundTask:
    """One task at a time on the page's event loop: a new task replaces the previous one."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    def start(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine, and cancel the one that is running."""
        self.cancel()
        self._task = asyncio.get_running_loop().create_task(work)

    def cancel(self) -> None:
        """Cancel the running task, if there is one."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
