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

_teller: ContextVar[Callable[[int], None] | None] = ContextVar("teller", default=None)


def tell(stage: int) -> None:
    """Say that a stage begins, to whoever `telling` named."""
    if teller := _teller.get():
        teller(stage)


@contextmanager
def telling(teller: Callable[[int], None] | None) -> Iterator[None]:
    """Inside, stages are told to `teller`; to nobody if it is None."""
    token = _teller.set(teller)
    try:
        yield
    finally:
        _teller.reset(token)


def words(stage: int) -> str:
    """For a page."""
    return f"Recording, {stage + 1} of {len(STAGES)}: {STAGES[stage]} …"
