"""Quizzes, claims and shows: the components that show the results of a lesson's methods."""

import base64
from collections.abc import Callable
from typing import Any

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
from splatscope.web.runtime.component import Component
from splatscope.web.runtime.receivers import receives


class Quiz(Component):
    """A question whose answer comes from the recording in view."""

    question = param.String(doc="HTML")
    answer = param.Dict(default={}, doc="A textbook.results.Answer as a dict; empty until the recording is there")
    error = param.String(default="", doc="Why there will be no answer, in one line; empty if there may be one")

    def ask(self, page: str, name: str, answer: Answer) -> None:
        """Ask the question of this name on a page, now that its answer is known."""
        values = plain_answer(answer)
        self.answer = values | {"offer": Offer(page, f"quiz-{name}", tuple(values["options"]), values["value"]).sealed()}


class _Experiment(Component):
    """The result of a method of the lesson. With a session, `run` is called to run it again."""

    busy = param.Boolean(default=False)
    error = param.String(default="", doc="Why it could not be run, in one line")
    device = param.String(doc="The device that ran it, if it cannot be run again; empty for this one")

    __abstract = True

    def __init__(self, run: Callable[[], None] = lambda: None, **params: Any):
        super().__init__(**params)
        self._run = run

    @receives("run")
    def _run_again(self) -> None:
        self._run()


BETS = {True: "Holds", None: "In part", False: "Does not hold"}  # by whether a claim holds, as claim.ts has them


class Claim(_Experiment):
    """A claim with its verdict."""

    claim = param.String(doc="HTML")
    source = param.String(doc="The source of the claim, as HTML; empty if unknown")
    label = param.String(doc="A name that no other claim of the page has; empty for the claim's own words")
    bets = param.Boolean(default=True, doc="Whether the verdict is shown only after the reader's bet")
    verdict = param.Dict(default={}, doc="A textbook.results.Verdict as a dict; empty until it has run")

    def settle(self, page: str, name: str, verdict: Verdict) -> None:
        """Show the verdict on the claim of this name on a page."""
        offer = Offer(page, f"claim-{name}", tuple(BETS.values()), BETS.get(verdict.holds, ""))
        self.param.update(busy=False, verdict=plain_verdict(verdict) | {"offer": offer.sealed()})


class Show(_Experiment):
    """A result without a stepper."""

    caption = param.String(doc="HTML")
    method = param.String(doc="The name of the lesson's method")
    expects = param.String(doc="The type of the pending result, in lower case, for which space is reserved; empty if unknown")
    results = param.List(default=[], doc="The parts to draw, from top to bottom; empty until it has run")

    def show(self, result: Result) -> None:
        """Show a result."""
        self.results = parts_of(result)


def plain_answer(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON types."""
    return {
        "value": keep_terms_together(answer.value),
        "options": [keep_terms_together(option) for option in answer.options],
        "step": answer.step,
        "because": keep_terms_together(answer.because),
        "wrong": {keep_terms_together(option): keep_terms_together(why) for option, why in answer.wrong.items()},
        "question": inline(answer.question) if answer.question else "",
        "thread": answer.thread,
    }


def plain_verdict(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as JSON types."""
    return {"holds": verdict.holds, "ran": keep_terms_together(verdict.ran), "said": keep_terms_together(verdict.said)}


_drawn: LRUCache[int, tuple[Result, list[dict[str, Any]]]] = LRUCache(256)  # by id of a result, the result and its parts


def parts_of(result: Result) -> list[dict[str, Any]]:
    """Return the parts of a result to draw, from top to bottom. They are cached for all sessions with the same result."""
    if id(result) not in _drawn:
        _drawn[id(result)] = result, [plain(part) for part in (result.shows if isinstance(result, Several) else (result,))]
    return _drawn[id(result)][1]


def _item(curves: Curves) -> Any:
    """Return a chart as JSON. It gets its own document, because Bokeh would use the current one, whose session may have ended."""
    document = Document()
    with patch_curdoc(document):
        return json_item(curves_chart(curves))


def plain(part: Part) -> dict[str, Any]:
    """Return a part of a result as JSON types. Raises TypeError for a part of an unknown kind."""
    match part:
        case Curves():
            return {"kind": "chart", "x": part.x, "y": part.y, "words": in_words(part), "item": _item(part)}
        case Bars():
            return {"kind": "bars", **vars(part)}
        case Table():
            return {"kind": "table", **vars(part)}
        case Pictures():
            return {
                "kind": "pictures",
                "lens": part.lens,
                "at": part.at,
                "pictures": [_picture(picture) for picture in part.pictures],
            }
        case Scenes():
            words = tuple(map(keep_terms_together, part.words))
            return {"kind": "film", "scenes": [parts_of(scene) for scene in part.scenes], "words": words, "first": part.first}
        case Paths():
            paths = [{"label": path.label, "x": path.x.tolist(), "y": path.y.tolist()} for path in part.paths]
            heights = {"heights": _floats(part.heights), "columns": part.heights.shape[1]}
            return {"kind": "paths", **vars(part), **heights, "paths": paths}
        case Code():
            return {"kind": "code", **vars(part)}
        case Drawings():
            return {"kind": "drawings", "svgs": part.svgs}
        case Words():
            return {"kind": "words", "html": keep_terms_together(part.html)}
    raise TypeError(f"A page cannot show a {type(part).__name__}")


def _picture(picture: Picture) -> dict[str, Any]:
    pixels = np.asarray(picture.pixels)
    description = {name: getattr(picture, name) for name in ("unit", "low", "high", "signed")}
    description |= {"caption": keep_terms_together(picture.caption), "width": pixels.shape[1], "height": pixels.shape[0]}
    if pixels.ndim == 3:
        data = base64.b64encode(np.ascontiguousarray(pixels, np.uint8).tobytes()).decode()
        return description | {"bytes": data, "alpha": pixels.shape[2] == 4}
    return description | {"values": _floats(pixels)}


def _floats(values: np.ndarray) -> str:
    """Return numbers in the browser's format, row by row: float32 in base64."""
    return base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()
