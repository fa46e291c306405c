"""Mark many kernels in parallel: each thread of this process has its own sandbox."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from splatscope.exercises.marking import Mark, Run, mark
from splatscope.exercises.task import Task
from splatscope.services import sandbox_jobs
from splatscope.workers.errors import WorkerError, WorkerLost
from splatscope.workers.sandbox.platform_support import missing_support
from splatscope.workers.sandbox.supervisor import JobAnswer, Sandbox

_Asked = TypeVar("_Asked")


def mark_all(
    asked: Iterable[_Asked], kernel: Callable[[_Asked], tuple[Task, str]], processes: int = 0
) -> Iterator[tuple[_Asked, Mark | str]]:
    """Yield each item in order, with its mark, or with a sentence that says why it could not be marked.

    Args:
        asked: The items to mark.
        kernel: Returns the task and the source of an item. The message of a ValueError or OSError becomes the sentence.
        processes: How many to mark at once; if 0, one per processor.

    Raises:
        WorkerError: This system has no sandbox.
    """
    if why := missing_support():
        raise WorkerError(f"Kernels of others are not run here: {why}. Grade on Linux.")
    thread_local = threading.local()

    def run(name: str, arguments: tuple[Any, ...], limit: float) -> JobAnswer:
        if not hasattr(thread_local, "sandbox"):
            thread_local.sandbox = Sandbox(sandbox_jobs.__name__)
        return thread_local.sandbox.run(name, arguments, limit)

    def marked(item: _Asked) -> Mark | str:
        try:
            return _marked_twice(*kernel(item), run)
        except (ValueError, OSError, WorkerError) as error:
            return str(error)

    with ThreadPoolExecutor(max_workers=processes or os.cpu_count() or 1) as threads:
        asked = list(asked)
        yield from zip(asked, threads.map(marked, asked), strict=True)


def _marked_twice(task: Task, source: str, run: Run) -> Mark:
    """Mark a kernel, and try once more if its process was killed from outside."""
    try:
        return mark(task, source, run)
    except WorkerLost:
        return mark(task, source, run)
