"""Report the stages of a recording, which can take seconds."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

STAGES = (
    "compiling the kernel",
    "writing the recorder into it, and compiling that",
    "running it, once the driver has compiled it",
    "running it without the recorder, to compare",
    "looking for races",
)
COMPILING, INSTRUMENTING, RUNNING, COMPARING, SEARCHING = range(len(STAGES))

_on_progress: ContextVar[Callable[[Any], None] | None] = ContextVar("on_progress", default=None)


def report_progress(stage: Any) -> None:
    """Report the start of a stage, by its number, to the callback of `progress_to`; work other than a recording may report more."""
    if on_progress := _on_progress.get():
        on_progress(stage)


@contextmanager
def progress_to(on_progress: Callable[[Any], None] | None) -> Generator[None]:
    """Pass all stages reported in this context to `on_progress`, unless it is None."""
    token = _on_progress.set(on_progress)
    try:
        yield
    finally:
        _on_progress.reset(token)


def words(stage: int) -> str:
    """Return the text for a stage, as pages show it."""
    return f"Recording, {stage + 1} of {len(STAGES)}: {STAGES[stage]} …"
