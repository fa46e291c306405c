"""A section's content for some inputs, as JSON. It is made once for all readers, and none of them needs a session.

A reader gets lines. The first one is sent at once and holds the whole page. The others hold what has changed since, until the
figure is recorded and all experiments have run. Later readers get the complete page in one line.
"""

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from typing import Any

from cachetools import LRUCache

from splatscope.recordings.packed import PackedRecording
from splatscope.textbook.contents import find_lesson, written_of
from splatscope.web.assets import Asset
from splatscope.web.lesson_page import first_recording
from splatscope.web.lesson_page.inputs import Inputs
from splatscope.web.lesson_page.lesson_form import address_of, set_from_address, set_parameter
from splatscope.web.lesson_page.lesson_page import SETTLE, LessonPage, lesson_page
from splatscope.web.runtime.tree import Tree
from splatscope.web.shell.pages import entry_of
from splatscope.web.shell.shell import neighbours
from splatscope.web.turnstile import turnstile
from splatscope.workers import visitor

log = logging.getLogger(__name__)

MOST = 256  # pages that are kept
PACE = 0.1  # seconds between two lines


class SectionView:
    """A section's page for some inputs. Its results are made while somebody reads it.

    Attributes:
        page: The whole page in its current state, as a line of JSON.
        done: Whether all results are there.
        failed: Whether something could not be recorded or run, so that it should be tried again for the next reader.
    """

    def __init__(self, inputs: Inputs):
        self._key = inputs, written_of(inputs.stem)
        self._lesson: LessonPage | None = build(inputs.stem, inputs.query)
        self._tree = Tree(self._lesson.page, self._note)
        self._noted: defaultdict[int, set[str]] = defaultdict(set)  # by number of a component, what has changed since the last line
        self._changes: list[bytes] = []  # a line each
        self._changed = asyncio.Event()
        self._readers = 0
        self._visitors = visitor.Readers()
        self._filling: asyncio.Task[None] | None = None
        self._due: asyncio.TimerHandle | None = None
        self._unknown: dict[int, tuple[str, ...]] = {}  # by number of a component, its results that are pending
        self._packed: PackedRecording | None = None  # held, so that browsers can fetch it
        self._settles = bool(inputs.address)  # while a control is being moved, other inputs may follow at once
        self.done = self.failed = False
        self._describe()

    async def changes(self) -> AsyncIterator[bytes]:
        """Yield a line for each change from now on, until the page is complete."""
        position = len(self._changes)
        self._readers += 1
        self._visitors.join()
        if self._filling is None and self._lesson is not None:
            with self._visitors.working():
                self._filling = asyncio.create_task(self._fill(self._lesson))
        try:
            while True:
                for line in self._changes[position:]:
                    position += 1
                    yield line
                if position == len(self._changes):
                    if self.done:
                        return
                    await self._changed.wait()
        finally:
            self._readers -= 1
            if not self._readers:  # all have left
                self._rest()

    def _rest(self) -> None:
        """Let go of what nobody reads: the work and its page, unless it is done, and the changes, as later readers get the page."""
        if self._filling is not None:
            self._filling.cancel()
            self._filling = None
            if self._settles:
                _views.pop(self._key, None)
        elif self.done:
            self._changes.clear()

    async def _fill(self, lesson: LessonPage) -> None:
        try:
            await lesson.fill(SETTLE if self._settles else 0.0)
        except Exception:
            log.exception("The page %s could not be filled", lesson.page.page)
            self.failed = True
        self.failed |= any(getattr(part, "error", "") for part in self._tree.parts())
        self.done = True
        try:
            self._describe()
        except Exception:
            log.exception("The page %s could not be described", lesson.page.page)
            self.failed = True
            self._wake()
        self._filling, self._lesson = None, None
        self._tree.close()
        if self._settles:  # only a document needs this, and that shows a section's first inputs
            self.described = {}

    def _note(self, number: int, names: list[str]) -> None:
        """Note a change, and describe the page soon, including all changes until then."""
        self._noted[number].update(names)
        if self._lesson is not None and self._due is None and self._filling is not None:
            self._due = asyncio.get_running_loop().call_later(PACE, self._describe)

    def _describe(self) -> None:
        """Describe the page's current state, and send the readers what has changed."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        lesson, tree = self._lesson, self._tree
        assert lesson is not None  # it is let go of once the page is complete
        self.described = tree.described()
        self._packed = lesson.stepper.packed if lesson.stepper else None
        earlier, self._unknown = self._unknown, {tree.number_of(part): names for part, names in lesson.pending_results()}
        self.page = Asset.of(_line({"view": self.described, "unknown": self._unknown}), "application/x-ndjson")
        for number, names in earlier.items():  # of what was pending, readers may have the results for other inputs
            self._noted[number].update({*names} - {*self._unknown.get(number, ())})
        changed = {number: tree.values(number, sorted(names)) for number, names in sorted(self._noted.items()) if names}
        self._noted.clear()
        if changed:
            self._changes.append(_line({"values": changed}))
        self._wake()

    def _wake(self) -> None:
        """Let the readers see what there is."""
        event, self._changed = self._changed, asyncio.Event()
        event.set()


def _line(content: Any) -> bytes:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


_views: LRUCache[tuple[Inputs, tuple[str, ...]], SectionView] = LRUCache(MOST)


async def view_of(stem: str, query: Mapping[str, str]) -> SectionView:
    """Return a section's view for the inputs in an address, the same object for all readers.

    A view is made from the key under which it is kept, never from the query, so that no reader decides what others see.

    Raises:
        ServerBusy: The visitor has asked for too many views that are still to be made.
    """
    inputs = Inputs.of(stem, query)
    key = inputs, written_of(stem)
    view = _views.get(key)
    if view is None or view.failed:
        await first_recording.prepare(stem)
        async with turnstile.turn():
            view = _views.get(key)
            if view is None or view.failed:  # unless another request has made it meanwhile
                view = _views[key] = SectionView(inputs)
    return view


def build(stem: str, query: Mapping[str, str]) -> LessonPage:
    """Return a section's page that belongs to no session."""
    lesson = lesson_page(stem, query)
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
    return Inputs(stem, address_of(lesson)).query, notes
