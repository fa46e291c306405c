"""Where a run through a recording stops: each breakpoint is a list of positions, so that running back is as easy as running on."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from splatscope.dap.protocol import RequestError
from splatscope.recordings.expressions import Expression, ExpressionError, parse
from splatscope.recordings.timeline import Timeline

_HITS = re.compile(r"\s*(>=|<=|==|=|>|<|%)?\s*(\d{1,9})\s*")
_COMPARES: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    ">=": lambda hits, n: hits >= n,
    "<=": lambda hits, n: hits <= n,
    ">": lambda hits, n: hits > n,
    "<": lambda hits, n: hits < n,
    "%": lambda hits, n: hits % max(n, 1) == 0,
}


@dataclass
class Stop:
    """Positions at which to stop, if a condition holds there, for some of the hits alone.

    Hits are counted from the beginning of the recording, over all threads, in the device's order. So the fifth hit is the same
    event, whether one comes to it running on or back.

    Attributes:
        reason: Why a client is told that it stops: "breakpoint", "data breakpoint" or "exception".
        candidates: Returns the positions, ascending; called once, when they are needed.
        condition: What must hold before the event at the position, for the thread of this event; None for nothing.
        is_counted: For the numbers of hits, from 1, whether to stop; None for always.
        id: The number by which a client knows it; 0 for none.
    """

    reason: str
    timeline: Timeline = field(repr=False)
    candidates: Callable[[], np.ndarray] = field(repr=False)
    condition: Expression | None = None
    is_counted: Callable[[np.ndarray], np.ndarray] | None = None
    id: int = 0

    @cached_property
    def positions(self) -> np.ndarray:
        """The positions at which it stops, ascending."""
        positions, timeline = self.candidates(), self.timeline
        if (condition := self.condition) is not None:
            holds = [condition.holds(timeline.look(timeline.thread(at), at)) for at in positions.tolist()]
            positions = positions[np.array(holds, bool)]
        if self.is_counted is not None:
            positions = positions[self.is_counted(np.arange(1, len(positions) + 1))]
        return positions

    def nearest(self, position: int, way: int) -> int | None:
        """Return the nearest of them after a position, or for `way` −1 before it; None if there is none."""
        positions = self.positions
        at = int(np.searchsorted(positions, position, "right")) if way > 0 else int(np.searchsorted(positions, position)) - 1
        return int(positions[at]) if 0 <= at < len(positions) else None


def condition_of(text: str, timeline: Timeline) -> Expression | None:
    """Return the condition of a breakpoint, None for an empty text. Raises RequestError if it cannot be evaluated."""
    if not text.strip():
        return None
    try:
        condition = parse(text)
    except ExpressionError as error:
        raise RequestError(str(error)) from None
    if unknown := timeline.knows(condition.names):
        raise RequestError(f"No variable or memory is called {unknown}.")
    return condition


def hits_of(text: str) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return which hits of a breakpoint count, None for all: `5` is the fifth, `>= 5` all from the fifth, `% 5` each fifth.

    Raises:
        RequestError: It has none of these forms.
    """
    if not text.strip():
        return None
    match = _HITS.fullmatch(text)
    if match is None:
        raise RequestError(f"A hit count is a number, perhaps behind >=, <=, >, <, = or %: “{text}” is not.")
    number, compare = int(match[2]), _COMPARES.get(match[1] or "", lambda hits, n: hits == n)
    return lambda hits: compare(hits, number)
