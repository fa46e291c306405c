"""Background work for a part of a page, cancelled when the page is left."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

Work = Coroutine[Any, Any, Any]


def begin(work: Work, guard: Callable[[Work], Work] | None = None) -> asyncio.Task[Any]:
    """Return a task that runs a coroutine, within `guard` if that is given.

    The coroutine is closed even if the task is cancelled before it starts; Python would warn that it was never awaited.
    """
    task = asyncio.get_running_loop().create_task(guard(work) if guard else work)
    task.add_done_callback(lambda _: work.close())
    return task


class BackgroundTask:
    """One task at a time on the page's event loop: a new task replaces the previous one."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    def start(self, work: Work, guard: Callable[[Work], Work] | None = None) -> None:
        """Run a coroutine, within `guard` if that is given, and cancel the one that is running."""
        self.cancel()
        self._task = begin(work, guard)

    def cancel(self) -> None:
        """Cancel the running task, if there is one."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
