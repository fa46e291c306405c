"""The results of a lesson's methods: answers, verdicts, and what a page shows without a stepper.

Texts that may have `code`, **bold** words or links are Markdown, of which each line is shown on a line of its own. The others are
shown as they are.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np


@dataclass(frozen=True)
class Answer:
    """The answer to a quiz.

    Attributes:
        value: The answer, one of the options.
        options: Up to four distinct texts. Each wrong one results from a certain misconception.
        step: The step of the recording that shows it; 0 for none.
        because: A sentence that says why it is right, as Markdown.
        wrong: By wrong option, what leads to it and why it is wrong, as Markdown.
        question: The question with its inputs, as one paragraph of Markdown; "" to use the question in the text.
        thread: The thread that it is about, which the figure then chooses; -1 for none.
    """

    value: str
    options: tuple[str, ...]
    step: int = 0
    because: str = ""
    wrong: Mapping[str, str] = field(default_factory=dict)
    question: str = ""
    thread: int = -1


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim: whether it holds, what was run and counted, and what is true instead (both Markdown).

    `holds` is None if the claim holds in part, and "undecided" if it cannot be decided on this device.
    """

    holds: bool | Literal["undecided"] | None
    ran: str
    said: str


@dataclass(frozen=True)
class Curve:
    """A line of `Curves`. `x` and `y` are (n,) floats; NaN means that there is no value."""

    label: str
    x: np.ndarray
    y: np.ndarray
    points: bool = False  # draw points instead of a line


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
    """Labelled amounts, drawn as bars from zero. At the end of each bar are its `words`, or else the amount."""

    labels: tuple[str, ...]  # Markdown
    amounts: tuple[float, ...]
    words: tuple[str, ...] = ()
    unit: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of short Markdown under a head. The first cell of a row names it. A row in `marked` stands out."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: tuple[int, ...] = ()


@dataclass(frozen=True)
class Picture:
    """A picture (h, w, 3) or (h, w, 4) uint8, or a map (h, w) of floats or integers whose values can be read with the pointer."""

    caption: str  # Markdown
    pixels: np.ndarray
    unit: str = ""
    low: float | None = None  # for a map: the values of its first and last colours
    high: float | None = None
    signed: bool = False  # a map of differences: blue through ground to vermilion


@dataclass(frozen=True)
class Pictures:
    """Pictures side by side, with pixels drawn as squares. Under the pointer, a lens magnifies the same `lens` pixels in all.

    Before a reader points at them, the lens is at `at` (x, y), if that is given.
    """

    pictures: tuple[Picture, ...]
    lens: int = 0
    at: tuple[int, int] | None = None


@dataclass(frozen=True)
class Drawings:
    """SVGs side by side, each at its own size: at most 280 px wide, so that it fits on a phone."""

    svgs: tuple[str, ...]


@dataclass(frozen=True)
class Words:
    """A paragraph of Markdown, such as a number in a sentence, and below it a compiler's message as it is, "" for none."""

    text: str
    message: str = ""


@dataclass(frozen=True)
class Code:
    """Source code whose first line has the number `first`. `notes` are shown beside the lines, "" for none."""

    text: str
    first: int = 1
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Several:
    """Several results, from top to bottom."""

    shows: tuple["Part", ...] = ()


@dataclass(frozen=True)
class Scenes:
    """Results shown one at a time, selected by a slider. `words` (Markdown) name them; `first` is the index shown at first."""

    scenes: tuple["Result", ...]
    words: tuple[str, ...]
    first: int = 0


@dataclass(frozen=True)
class Paths:
    """Paths over a landscape seen from above, followed step by step with a slider.

    Attributes:
        heights: (h, w) over x and y from `low` to `high`; the first row is at the lowest y.
        low, high: (x, y).
        levels: The heights at which contours are drawn.
        paths: All of the same length, with one point per step.
        goal: (x, y) of the lowest point.
    """

    heights: np.ndarray
    low: tuple[float, float]
    high: tuple[float, float]
    levels: tuple[float, ...]
    paths: tuple[Curve, ...]
    goal: tuple[float, float] | None = None


Part: TypeAlias = Curves | Bars | Table | Pictures | Drawings | Words | Code | Scenes | Paths
Result: TypeAlias = Part | Several


def literal(text: str) -> str:
    """Return the Markdown that shows a text as it is, such as what a compiler says in a sentence."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)
