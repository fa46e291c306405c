"""What a recording is at, told to whoever waits for it: a cold driver takes seconds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

STAGES = (
    "compiling the kernel",
    "writing the recorder into it, and compiling that",
    "running it, once the driver has compiled it",
    "running it without the recorder, to compare",
    "looking for races",
)
COMPILING, INSTRUMENTING, RUNNING, COMPARING, SEARCHING = range(len(STAGES))

_on_progress: ContextVar[Callable[[int], None] | None] = ContextVar("on_progress", default=None)


def report_progress(stage: int) -> None:
    """Say that a stage begins, to whoever `progress_to` named."""
    if on_progress := _on_progress.get():
        on_progress(stage)


@contextmanager
def progress_to(on_progress: Callable[[int], None] | None) -> Iterator[None]:
    """Inside, stages are told to `on_progress`; to nobody if it is None."""
    token = _on_progress.set(on_progress)
    try:
        yield
    finally:
        _on_progress.reset(token)


def words(stage: int) -> str:
    """For a page."""
    return f"Recording, {stage + 1} of {len(STAGES)}: {STAGES[stage]} …"
