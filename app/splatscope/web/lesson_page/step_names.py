"""Names for the steps of sections' figures, such as "at pass 6". They outlive the cached pages."""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from cachetools import LRUCache

from splatscope.textbook.contents import find_lesson
from splatscope.web.lesson_page.inputs import Inputs

MOST = 1_000_000  # stops that are kept, in all figures together
OVERHEAD = 100  # stops that would take as much memory as a figure without any


@dataclass(frozen=True)
class _Figure:
    stops: "array[int]"
    steps: int


_figures: LRUCache[Inputs, _Figure] = LRUCache(MOST, getsizeof=lambda figure: OVERHEAD + len(figure.stops))


def note_steps(inputs: Inputs, stops: Sequence[int], steps: int) -> None:
    """Keep what names a figure's steps.

    Args:
        inputs: The section and its inputs.
        stops: The steps at which → and ← stop, the end last; empty if they are counted in lockstep order, which differs.
        steps: The number of all steps.
    """
    if OVERHEAD + len(stops) <= MOST:
        _figures[inputs] = _Figure(array("q", stops), steps)


def step_name(inputs: Inputs, step: int) -> str:
    """Return the name of a step of a section's figure, "at pass 6", or its number if it has no name.

    Where the figure steps from line to line, the steps are counted, "at step 3 of 9", because lines have their own numbers.
    """
    if step <= 0:
        return "at the start" if step == 0 else "where the figure opens"
    figure = _figures.get(inputs)
    if figure is None:
        return "at a later step"
    if step >= (figure.stops[-1] if figure.stops else figure.steps):
        return "at the end"
    number, unit = bisect_right(figure.stops, step), find_lesson(inputs.stem).unit
    if not number:
        return f"at step {step:,}"
    return f"at step {number} of {len(figure.stops)}" if unit.startswith("line") else f"at {unit} {number}"
