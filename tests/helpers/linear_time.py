"""Find texts on which a parser takes more than linear time."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress

SHORT, LONG = 3_000, 12_000  # characters
_PARTS = ("'", '"', "\\", "/", "//", "/*", "#", "_", ";", " ", "\n", "(", "<", "[", "a", "1", "{")


def superlinear(parse: Callable[[str], object], *more: str) -> list[str]:
    """Return the parts of which a text of four times the length takes `parse` more than eight times the time.

    A text repeats one or two characters that matter to most parsers, or one of the parts in `more`, alone or with another. Each is
    measured in processor time, and again if it seemed slow, so that a busy machine does not matter. A parser may raise ValueError.
    """

    def is_slow(part: str) -> bool:
        return _seconds(parse, part, LONG) > 8 * _seconds(parse, part, SHORT)

    return [part for part in _hostile(more) if is_slow(part) and is_slow(part) and is_slow(part)]


def _hostile(more: tuple[str, ...]) -> Iterator[str]:
    yield from (*_PARTS, *more)
    yield from (first + second for first in _PARTS for second in _PARTS)
    yield from (pair for first in more for second in _PARTS for pair in (first + second, second + first))


def _seconds(parse: Callable[[str], object], part: str, size: int) -> float:
    text = (part * (size // len(part) + 1))[:size]
    before = time.process_time()
    with suppress(ValueError):
        parse(text)
    return time.process_time() - before + 0.002  # what is shorter says nothing
