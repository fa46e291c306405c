"""What a lesson's methods give back: an answer, a verdict, and what a page can show without a stepper."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Answer:
    """To a quiz: the answer, the up to four options it stands among, the step that shows it, and one sentence why (HTML)."""

    value: str
    options: tuple[str, ...]
    step: int = 0
    because: str = ""


@dataclass(frozen=True)
class Verdict:
    """On a claim: whether it holds, what was run and counted, and what is true instead (both HTML)."""

    holds: bool
    ran: str
    said: str


@dataclass(frozen=True)
class Curve:
    """A line of `Curves`. `x`, `y` (n,) floats; NaN where there is no value."""

    label: str
    x: np.ndarray
    y: np.ndarray
    points: bool = False  # marks instead of a line


@dataclass(frozen=True)
class Curves:
    """A Bokeh chart of at most eight curves, each labelled at its end. `lines` are horizontal lines: (value, label)."""

    x: str
    y: str
    curves: tuple[Curve, ...]
    lines: tuple[tuple[float, str], ...] = ()
    log_x: bool = False
    log_y: bool = False
    height: int = 240


@dataclass(frozen=True)
class Bars:
    """Amounts with their labels, drawn as bars from zero. `words` are what stands at the end of each, else the amount."""

    labels: tuple[str, ...]
    amounts: tuple[float, ...]
    words: tuple[str, ...] = ()
    unit: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of short HTML under a head. A row in `marked` stands out."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: tuple[int, ...] = ()


@dataclass(frozen=True)
class Picture:
    """`pixels` (h, w, 3) or (h, w, 4) uint8, or (h, w) floats or integers: a map of amounts, whose value a pointer reads off."""

    caption: str
    pixels: np.ndarray
    unit: str = ""
    low: float | None = None  # of a map: what its first and its last colour stand for
    high: float | None = None
    signed: bool = False  # a map of differences: blue through ground to vermilion


@dataclass(frozen=True)
class Pictures:
    """Pictures beside each other, each pixel drawn as a square. A pointer magnifies the same place in all: `lens` pixels across.

    Until somebody points, the lens is at `at` (x, y), where that is given.
    """

    pictures: tuple[Picture, ...]
    lens: int = 0
    at: tuple[int, int] | None = None


@dataclass(frozen=True)
class Words:
    """HTML: a compiler's diagnostic, a number in a sentence."""

    html: str


@dataclass(frozen=True)
class Code:
    """Source to read, its first line numbered `first`. `notes` stand beside the lines: what each left, "" for nothing."""

    text: str
    first: int = 1
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Several:
    """More than one, one under the other."""

    shows: tuple[Any, ...] = field(default=())


@dataclass(frozen=True)
class Scenes:
    """Scenes of which one is shown at a time, scrubbed by a slider: each one of this module, or Several. `words` (HTML) say which
    one it is; `first` is the one in view at first.
    """

    scenes: tuple[Any, ...]
    words: tuple[str, ...]
    first: int = 0


@dataclass(frozen=True)
class Paths:
    """Ways over a landscape from above, scrubbed step by step.

    `heights` (h, w) over x and y from `low` to `high`, each (x, y), its first row at the lowest y, drawn as contours at `levels`;
    each of `paths` has as many places, one a step; `goal` is the lowest point.
    """

    heights: np.ndarray
    low: tuple[float, float]
    high: tuple[float, float]
    levels: tuple[float, ...]
    paths: tuple[Curve, ...]
    goal: tuple[float, float] | None = None
