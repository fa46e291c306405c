"""The results of a lesson's methods: answers, verdicts, and what a page shows without a stepper."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np


@dataclass(frozen=True)
class Answer:
    """The answer to a quiz.

    Attributes:
        value: The answer, one of the options.
        options: Up to four distinct texts. A wrong one is what a certain misconception leads to.
        step: The step of the recording that shows it; 0 for none.
        because: A sentence on why it is right, HTML.
        wrong: For a wrong option, what leads to it and why it is wrong, HTML.
        question: The question with its inputs, Markdown of one paragraph, in place of the one in the text; "" for that one.
    """

    value: str
    options: tuple[str, ...]
    step: int = 0
    because: str = ""
    wrong: Mapping[str, str] = field(default_factory=dict)
    question: str = ""


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim: whether it holds, what was run and counted, and what is true instead (both HTML).

    `holds` is None where the claim holds in part, and "undecided" where this device cannot tell.
    """

    holds: bool | Literal["undecided"] | None
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
    height: int = 240  # pixels


@dataclass(frozen=True)
class Bars:
    """Amounts with their labels, drawn as bars from zero. `words` stand at the end of each bar, else the amount."""

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
    """A picture (h, w, 3) or (h, w, 4) uint8, or a map (h, w) of floats or integers whose values a pointer reads off."""

    caption: str
    pixels: np.ndarray
    unit: str = ""
    low: float | None = None  # of a map: what its first and its last colour stand for
    high: float | None = None
    signed: bool = False  # a map of differences: blue through ground to vermilion


@dataclass(frozen=True)
class Pictures:
    """Pictures beside each other, each pixel drawn as a square. A pointer magnifies the same pixels in all: `lens` pixels across.

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
    """Several results, from top to bottom."""

    shows: tuple["Part", ...] = ()


@dataclass(frozen=True)
class Scenes:
    """Results of which one is shown at a time, scrubbed by a slider. `words` (HTML) name each; `first` is in view at first."""

    scenes: tuple["Result", ...]
    words: tuple[str, ...]
    first: int = 0


@dataclass(frozen=True)
class Paths:
    """Paths over a landscape from above, scrubbed step by step.

    Attributes:
        heights: (h, w) over x and y from `low` to `high`, its first row at the lowest y.
        low, high: (x, y).
        levels: the heights at which contours are drawn.
        paths: each with as many points, one a step.
        goal: (x, y) of the lowest point.
    """

    heights: np.ndarray
    low: tuple[float, float]
    high: tuple[float, float]
    levels: tuple[float, ...]
    paths: tuple[Curve, ...]
    goal: tuple[float, float] | None = None


Part: TypeAlias = Curves | Bars | Table | Pictures | Words | Code | Scenes | Paths
Result: TypeAlias = Part | Several
