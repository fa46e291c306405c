"""Quizzes, claims and shows: the components that show the results of a lesson's methods."""

import base64
from collections.abc import Callable
from html import escape
from typing import Any, ClassVar, Literal, NotRequired, TypeAlias, TypedDict

import numpy as np
import param
from bokeh.document import Document
from bokeh.embed import json_item
from bokeh.io.doc import patch_curdoc
from cachetools import LRUCache

from splatscope.textbook.markdown import inline, keep_terms_together
from splatscope.textbook.results import (
    Answer,
    Bars,
    Code,
    Curves,
    Drawings,
    Part,
    Paths,
    Picture,
    Pictures,
    Result,
    Scenes,
    Several,
    Table,
    Verdict,
    Words,
)
from splatscope.web.lesson_results.curves import curves_chart, in_words
from splatscope.web.lesson_results.offer import Offer
from splatscope.web.runtime.component import Base64, Component, Maybe, Typed
from splatscope.web.runtime.receivers import receives


class PublicAnswer(TypedDict):
    """An `Answer` as browsers get it. All texts are HTML.

    Attributes:
        step: The step that shows it; 0 for none.
        thread: The thread that it is about, which the figure then chooses; -1 for none.
        wrong: By wrong option, why it is wrong.
        question: Replaces the text's question, with the inputs filled in; "" for none.
        offer: This question and its options, sealed by the server; "" without one.
    """

    value: str
    options: list[str]
    step: int
    because: str
    wrong: dict[str, str]
    question: str
    thread: int
    offer: str


class PublicVerdict(TypedDict):
    """A `Verdict` as browsers get it.

    Attributes:
        holds: None: in part; "undecided": this device cannot tell.
        ran: What was run, HTML.
        said: The outcome, HTML.
        offer: This claim and the bets on it, sealed by the server; "" without one.
    """

    holds: bool | Literal["undecided"] | None
    ran: str
    said: str
    offer: str


# The parts of a result, by `kind`. Labels, words, captions and cells are HTML.
class ChartPart(TypedDict):
    """Names of the axes, the chart in a sentence, and Bokeh's description of it."""

    kind: Literal["chart"]
    x: str
    y: str
    words: str
    item: Any


class BarsPart(TypedDict):
    """`Bars`."""

    kind: Literal["bars"]
    labels: tuple[str, ...]
    amounts: tuple[float, ...]
    words: tuple[str, ...]
    unit: str


class TablePart(TypedDict):
    """`Table`."""

    kind: Literal["table"]
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: tuple[int, ...]


class PublicPicture(TypedDict):
    """A `Picture`: either its bytes or its values.

    Attributes:
        alpha: Whether the bytes hold a fourth channel.
        values: Of a map, float32.
        signed: Whether 0 is the middle of the colours.
        low, high: Value of the first and the last colour.
    """

    width: int
    height: int
    caption: str
    unit: str
    signed: bool
    low: float | None
    high: float | None
    bytes: NotRequired[Base64]
    alpha: NotRequired[bool]
    values: NotRequired[Base64]


class PicturesPart(TypedDict):
    """`Pictures`.

    Attributes:
        lens: Pixels across the magnified part; 0 for none.
        at: The pixel that is read while nothing points at one.
    """

    kind: Literal["pictures"]
    pictures: list[PublicPicture]
    lens: int
    at: tuple[int, int] | None


class PublicPath(TypedDict):
    """A path: x and y at each step."""

    label: str
    x: list[float]
    y: list[float]


class PathsPart(TypedDict):
    """`Paths`.

    Attributes:
        heights: float32, by row from the bottom, and column.
        low, high: The lower and the upper corner.
        levels: Of the contours.
    """

    kind: Literal["paths"]
    heights: Base64
    columns: int
    low: tuple[float, float]
    high: tuple[float, float]
    levels: tuple[float, ...]
    paths: list[PublicPath]
    goal: tuple[float, float] | None


class CodePart(TypedDict):
    """`Code`."""

    kind: Literal["code"]
    text: str
    first: int
    notes: tuple[str, ...]


class DrawingsPart(TypedDict):
    """`Drawings`."""

    kind: Literal["drawings"]
    svgs: tuple[str, ...]


class WordsPart(TypedDict):
    """`Words`."""

    kind: Literal["words"]
    html: str


class FilmPart(TypedDict):
    """`Scenes`: the parts of each, its words, and the index of the one to begin with."""

    kind: Literal["film"]
    scenes: list[list["PublicPart"]]
    words: tuple[str, ...]
    first: int


PublicPart: TypeAlias = ChartPart | BarsPart | TablePart | PicturesPart | PathsPart | CodePart | DrawingsPart | WordsPart | FilmPart


class Quiz(Component):
    """A question whose answer comes from the recording in view."""

    question = param.String(doc="HTML")
    answer = Maybe(PublicAnswer, doc="Empty until the recording is there")
    error = param.String(default="", doc="Why there will be no answer, in one line; empty if there may be one")

    def ask(self, page: str, name: str, answer: Answer) -> None:
        """Ask the question of this name on a page, now that its answer is known."""
        public = public_answer(answer)
        self.answer = {**public, "offer": Offer(page, f"quiz-{name}", tuple(public["options"]), public["value"]).sealed()}


class _Experiment(Component):
    """The result of a method of the lesson. With a session, `run` is called to run it again."""

    busy = param.Boolean(default=False)
    error = param.String(default="", doc="Why it could not be run, in one line")
    device = param.String(doc="The device that ran it, if it cannot be run again; empty for this one")

    __abstract = True
    RESULT: ClassVar[str]  # the parameter that holds it

    def __init__(self, run: Callable[[], None] = lambda: None, **params: Any):
        super().__init__(**params)
        self._run = run

    @receives("run")
    def _run_again(self) -> None:
        self._run()


BETS = {True: "Holds", None: "In part", False: "Does not hold"}  # by whether a claim holds, as claim.ts has them


class Claim(_Experiment):
    """A claim with its verdict."""

    RESULT = "verdict"
    claim = param.String(doc="HTML")
    source = param.String(doc="The source of the claim, as HTML; empty if unknown")
    label = param.String(doc="A name that no other claim of the page has; empty for the claim's own words")
    bets = param.Boolean(default=True, doc="Whether the verdict is shown only after the reader's bet")
    verdict = Maybe(PublicVerdict, doc="Empty until it has run")

    def settle(self, page: str, name: str, verdict: Verdict) -> None:
        """Show the verdict on the claim of this name on a page."""
        offer = Offer(page, f"claim-{name}", tuple(BETS.values()), BETS.get(verdict.holds, ""))
        self.param.update(busy=False, verdict=public_verdict(verdict, offer.sealed()))


class Show(_Experiment):
    """A result without a stepper."""

    RESULT = "results"
    caption = param.String(doc="HTML")
    method = param.String(doc="The name of the lesson's method")
    expects = param.String(doc="The type of the pending result, in lower case, for which space is reserved; empty if unknown")
    results = Typed(list[PublicPart], default=[], doc="The parts to draw, from top to bottom; empty until it has run")

    def show(self, result: Result) -> None:
        """Show a result."""
        self.results = parts_of(result)


def html(text: str) -> str:
    """Return a result's Markdown as HTML, with a break at the end of each line."""
    return inline(text).replace("\n", "<br>")


def public_answer(answer: Answer) -> PublicAnswer:
    """Return an answer without an offer."""
    return {
        "value": keep_terms_together(answer.value),
        "options": [keep_terms_together(option) for option in answer.options],
        "step": answer.step,
        "because": html(answer.because),
        "wrong": {keep_terms_together(option): html(why) for option, why in answer.wrong.items()},
        "question": html(answer.question),
        "thread": answer.thread,
        "offer": "",
    }


def public_verdict(verdict: Verdict, offer: str) -> PublicVerdict:
    """Return a verdict with its sealed offer."""
    return {"holds": verdict.holds, "ran": html(verdict.ran), "said": html(verdict.said), "offer": offer}


_drawn: LRUCache[int, tuple[Result, list[PublicPart]]] = LRUCache(256)  # by id of a result, the result and its parts


def parts_of(result: Result) -> list[PublicPart]:
    """Return the parts of a result to draw, from top to bottom. They are cached for all sessions with the same result."""
    if id(result) not in _drawn:
        _drawn[id(result)] = result, [plain(part) for part in (result.shows if isinstance(result, Several) else (result,))]
    return _drawn[id(result)][1]


def _item(curves: Curves) -> Any:
    """Return a chart as JSON. It gets its own document, because Bokeh would use the current one, whose session may have ended."""
    document = Document()
    with patch_curdoc(document):
        return json_item(curves_chart(curves))


def plain(part: Part) -> PublicPart:
    """Return a part of a result as JSON types. Raises TypeError for a part of an unknown kind."""
    match part:
        case Curves():
            return {"kind": "chart", "x": part.x, "y": part.y, "words": in_words(part), "item": _item(part)}
        case Bars():
            labels = tuple(map(html, part.labels))
            return {"kind": "bars", "labels": labels, "amounts": part.amounts, "words": part.words, "unit": part.unit}
        case Table():
            head, *rows = (tuple(map(html, row)) for row in (part.head, *part.rows))
            return {"kind": "table", "head": head, "rows": tuple(rows), "marked": part.marked}
        case Pictures():
            return {
                "kind": "pictures",
                "lens": part.lens,
                "at": part.at,
                "pictures": [_picture(picture) for picture in part.pictures],
            }
        case Scenes():
            words = tuple(map(html, part.words))
            return {"kind": "film", "scenes": [parts_of(scene) for scene in part.scenes], "words": words, "first": part.first}
        case Paths():
            return {
                "kind": "paths",
                "heights": _floats(part.heights),
                "columns": part.heights.shape[1],
                "low": part.low,
                "high": part.high,
                "levels": part.levels,
                "paths": [{"label": path.label, "x": path.x.tolist(), "y": path.y.tolist()} for path in part.paths],
                "goal": part.goal,
            }
        case Code():
            return {"kind": "code", "text": part.text, "first": part.first, "notes": part.notes}
        case Drawings():
            return {"kind": "drawings", "svgs": part.svgs}
        case Words():
            return {"kind": "words", "html": f"<p>{html(part.text)}</p>{_message(part.message)}"}
    raise TypeError(f"A page cannot show a {type(part).__name__}")


def _message(text: str) -> str:
    """Return a compiler's message as HTML. A single line is wrapped; the lines of others keep their columns."""
    look = "diagnostic" if "\n" in text else "diagnostic wrap"
    said = "role='group' aria-label='Compiler’s message'"
    return f"<pre class='{look}' tabindex='0' {said}>{escape(text)}</pre>" if text else ""


def _picture(picture: Picture) -> PublicPicture:
    pixels = np.asarray(picture.pixels)
    public: PublicPicture = {
        "width": pixels.shape[1],
        "height": pixels.shape[0],
        "caption": html(picture.caption),
        "unit": picture.unit,
        "signed": picture.signed,
        "low": picture.low,
        "high": picture.high,
    }
    if pixels.ndim == 3:
        return {**public, "bytes": _base64(np.ascontiguousarray(pixels, np.uint8)), "alpha": pixels.shape[2] == 4}
    return {**public, "values": _floats(pixels)}


def _floats(values: np.ndarray) -> Base64:
    """Return numbers in the browser's format, row by row: float32."""
    return _base64(np.ascontiguousarray(values, "<f4"))


def _base64(values: np.ndarray) -> Base64:
    return Base64(base64.b64encode(values.tobytes()).decode())
