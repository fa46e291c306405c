"""A section's content for some inputs, as JSON. It is made once for all readers, and none of them needs a session.

A reader gets lines. The first one is sent at once and holds the whole page. The others hold what has changed since, until the
figure is recorded and all experiments have run. Later readers get the complete page in one line.
"""

import asyncio
import json
import logging
from bisect import bisect_right
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from cachetools import LRUCache

from splatscope.recordings.packed import PackedRecording
from splatscope.textbook.contents import find_lesson, text_of
from splatscope.web.assets import Asset
from splatscope.web.component import components, flat
from splatscope.web.lesson_page import first_recording
from splatscope.web.lesson_page.lesson_form import address_of, set_from_address, set_parameter
from splatscope.web.lesson_page.lesson_page import SETTLE, SHIPPED, LessonPage
from splatscope.web.lesson_results.results import BETS, Claim
from splatscope.web.shell.location import Location
from splatscope.web.shell.pages import entry_of
from splatscope.web.shell.shell import neighbours

log = logging.getLogger(__name__)

MOST = 256  # pages that are kept
PACE = 0.1  # seconds between two lines
COUNTED = ("sequence", "revision")  # values that the browser counts itself


@dataclass(frozen=True)
class Asked:
    """The options of a question or a claim, and which one is right; "" if this device cannot tell."""

    options: tuple[str, ...]
    right: str


class SectionView:
    """A section's page for some inputs. Its results are made while somebody reads it.

    Attributes:
        page: The whole page in its current state, as a line of JSON.
        done: Whether all results are there.
        asked: The questions and claims whose answer is known, by the block's kind and name.
        stops: The steps at which → and ← stop, the end last; empty if they are not known, or are counted in lockstep order.
        failed: Whether something could not be recorded or run, so that it should be tried again for the next reader.
    """

    def __init__(self, stem: str, inputs: Mapping[str, str]):
        self._lesson: LessonPage | None = build(stem, inputs)
        self._parts = components(self._lesson.page)
        self._changes: list[bytes] = []  # a line each
        self._changed = asyncio.Event()
        self._readers = 0
        self._filling: asyncio.Task[None] | None = None
        self._due: asyncio.TimerHandle | None = None
        self._unknown: dict[int, tuple[str, ...]] = {}  # by number of a component, its results that are pending
        self._packed: PackedRecording | None = None  # held, so that browsers can fetch it
        self._settles = bool(inputs)  # while a control is being moved, other inputs may follow at once
        self.done = self.failed = False
        self._describe()
        for part in self._parts:
            part.param.watch(self._soon, [*part.described()["values"]])

    async def changes(self) -> AsyncIterator[bytes]:
        """Yield a line for each change from now on, until the page is complete."""
        at = len(self._changes)
        self._readers += 1
        if self._filling is None and not self.done:
            self._filling = asyncio.create_task(self._fill(self._lesson))
        try:
            while True:
                for line in self._changes[at:]:
                    at += 1
                    yield line
                if at == len(self._changes):
                    if self.done:
                        return
                    await self._changed.wait()
        finally:
            self._readers -= 1
            if not self._readers and self._filling is not None:  # all have left
                self._filling.cancel()
                self._filling = None

    async def _fill(self, lesson: LessonPage) -> None:
        try:
            await lesson.fill(SETTLE if self._settles else 0.0)
        except Exception:
            log.exception("The page %s could not be filled", lesson.page.page)
            self.failed = True
        self.failed |= any(getattr(part, "error", "") for part in self._parts)
        self.done = True
        self._describe()
        self._filling, self._lesson = None, None
        self._parts.clear()
        lesson.page.close()

    def _soon(self, *_: Any) -> None:
        """Describe the page soon, including all changes until then."""
        if self._lesson is not None and self._due is None and self._filling is not None:
            self._due = asyncio.get_running_loop().call_later(PACE, self._describe)

    def _describe(self) -> None:
        """Describe the page's current state, and send the readers what has changed."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        before = getattr(self, "described", None)
        self.described = described = self._lesson.page.described()
        self._packed = self._lesson.stepper.packed if self._lesson.stepper else None
        numbers = {id(part): number for number, part in enumerate(self._parts)}
        pending = self._unknown
        self._unknown = unknown = {numbers[id(part)]: names for part, names in self._lesson.unknown()}
        self.asked = _asked(self._lesson)
        stepper = self._lesson.stepper
        self.stops = [] if stepper is None or stepper.lockstep else list(stepper.stops)  # in lockstep, their order differs
        self.page = Asset.of(_line({"view": described, "unknown": unknown}), "application/x-ndjson")
        if before is None:
            return
        changed = {
            number: values
            for number, (old, new) in enumerate(zip(flat(before), flat(described), strict=True))
            if (values := _difference(old["values"], new["values"], set(pending.get(number, ())) - set(unknown.get(number, ()))))
        }
        if changed:
            self._changes.append(_line({"values": changed}))
        told, self._changed = self._changed, asyncio.Event()
        told.set()


def _difference(old: Mapping[str, Any], new: Mapping[str, Any], learnt: set[str]) -> dict[str, Any]:
    """Return the new values that readers lack: changed ones, and `learnt` ones, of which they may have those of other inputs."""
    return {name: value for name, value in new.items() if name not in COUNTED and (value != old[name] or name in learnt)}


def _line(content: Any) -> bytes:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _asked(lesson: LessonPage) -> dict[str, Asked]:
    quizzes = {f"quiz-{name}": quiz.answer for name, quiz in lesson.quizzes.items() if quiz.answer}
    claims = {name: one.verdict for name, one in lesson.experiments.items() if isinstance(one, Claim) and one.verdict}
    return {name: Asked(tuple(answer["options"]), answer["value"]) for name, answer in quizzes.items()} | {
        f"claim-{name}": Asked(tuple(BETS.values()), BETS.get(verdict["holds"], "")) for name, verdict in claims.items()
    }


_views: LRUCache[tuple[str, str, str], SectionView] = LRUCache(MOST)


async def view_of(stem: str, inputs: Mapping[str, str]) -> SectionView:
    """Return a section's view for the inputs in an address, the same object for all readers."""
    key = stem, _address(stem, inputs), text_of(stem)
    if key not in _views or _views[key].failed:
        await first_recording.prepare(stem)
        if key not in _views or _views[key].failed:  # unless another request has made it meanwhile
            _views[key] = SectionView(stem, inputs)
    return _views[key]


def asked_in(stem: str, inputs: Mapping[str, str], question: str) -> Asked | None:
    """Return the options of a question or claim for readers with these inputs; None if no reader was asked."""
    view = _views.get((stem, _address(stem, inputs), text_of(stem)))
    return view.asked.get(question) if view else None


def step_name(stem: str, inputs: Mapping[str, str], step: int) -> str:
    """Return the name of a step of a section's figure, "at pass 6", or its number if it has no name.

    Where the figure steps from line to line, the steps are counted, "at step 3 of 9", because lines have their own numbers.
    """
    view = _views.get((stem, _address(stem, inputs), text_of(stem)))
    stops = view.stops if view else []
    if step <= 0:
        return "at the start" if step == 0 else "where the figure opens"
    if stops and step >= stops[-1]:
        return "at the end"
    number, unit = bisect_right(stops, step), find_lesson(stem).unit
    if not number:
        return f"at step {step:,}"
    return f"at step {number} of {len(stops)}" if unit.startswith("line") else f"at {unit} {number}"


def build(stem: str, inputs: Mapping[str, str]) -> LessonPage:
    """Return a section's page that belongs to no session."""
    lesson = LessonPage(Location(page=stem, inputs=dict(inputs), live=False))
    lesson.page.html += neighbours(entry_of(stem))
    return lesson


def changed(stem: str, inputs: Mapping[str, str], change: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the inputs of an address after a change, and notes about the change, by input.

    Args:
        stem: The section.
        inputs: The inputs in the address.
        change: `set`, new values by name, or `fix`, whether the lesson's fix is applied.
    """
    lesson = find_lesson(stem)()
    set_from_address(lesson, inputs)
    notes = dict.fromkeys((name for name in lesson.param if name != "name"), "")
    for name, value in (change.get("set") or {}).items():
        try:
            if name in notes:
                set_parameter(lesson, name, value)
        except ValueError as error:
            notes[name] = str(error)
    if change.get("fix"):
        lesson.param.update(**lesson.fix)
    return dict(parse_qsl(address_of(lesson), keep_blank_values=True)), notes


def _address(stem: str, inputs: Mapping[str, str]) -> str:
    """Return the inputs of an address in their canonical form."""
    if not inputs or SHIPPED in inputs:
        return SHIPPED if inputs else ""
    lesson = find_lesson(stem)()
    set_from_address(lesson, inputs)
    return address_of(lesson)
