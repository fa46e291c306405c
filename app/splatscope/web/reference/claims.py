"""The page of claims: all claims about the program, section by section, each tested on this device."""

import asyncio
import logging
from collections.abc import Collection, Coroutine
from functools import partial
from html import escape
from typing import Any

import panel as pn

from splatscope.services.lessons import run_experiment
from splatscope.textbook.contents import find_lesson, lesson_names, text_of
from splatscope.textbook.lesson import Lesson
from splatscope.textbook.markdown import inline, parse
from splatscope.textbook.results import Verdict
from splatscope.web.lesson_page.lesson_page import EXPECTED_ERRORS
from splatscope.web.lesson_results.results import Claim, public_verdict
from splatscope.web.runtime.component import Component, Typed
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import Page
from splatscope.web.shell.pages import PAGES, Entry
from splatscope.workers import worker_pool

log = logging.getLogger(__name__)

WORDS = """<h1>Claims</h1>
  <p>Much is said about programs like this one. Each claim is tested on this device, one after another, by running the kernels
  of its section.</p>"""


# Shown for a claim until its component is there.
STILL = """<section class="card claim"><ol><li><span class="tag">The claim</span>{}</li><li></li><li></li></ol></section>"""


class ClaimsBar(Component):
    """How many claims hold, hold in part, or do not hold; which of them to show; and whether to bet first."""

    sections = Typed(list[tuple[str, str]], default=[], doc="(name, title) of the sections that have claims")


class Claims:
    """One session's page. It tests every claim of these sections in the order of the book."""

    def __init__(self, sections: Collection[str]) -> None:
        self.claims: list[tuple[Claim, Lesson, str]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._labels: set[str] = set()
        entries = [entry for entry in PAGES if entry.name in sections]
        parts = [(entry, self._section(entry)) for entry in entries]
        bar = ClaimsBar(sections=[(entry.name, entry.title) for entry, part in parts if part])
        html = "".join(part for _, part in parts)
        self.page = Page(
            page="claims",
            html=f"""<article class="lesson"><div class="prose">{WORDS}</div>
              <div data-slot="{len(self.claims)}"></div>{html}</article>""",
            slots=[*(claim for claim, _, _ in self.claims), bar],
        )
        self.page.on_close(self.close)

    def close(self) -> None:
        """Cancel all tasks."""
        for task in self._tasks:
            task.cancel()

    def _section(self, entry: Entry) -> str:
        blocks = [block for block in parse(text_of(entry.name)) if block.kind == "claim"]
        if not blocks:
            return ""
        lesson, places = find_lesson(entry.name)(), []
        for block in blocks:
            number, name = len(self.claims), block.args[0]
            words, _, source = block.text.partition("\nFrom: ")
            claim = Claim(
                partial(self._run_again, number),
                claim=inline(words),
                source=inline(source),
                label=self._label(entry, words),
            )
            self.claims.append((claim, lesson, name))
            places.append(f'<div data-slot="{number}">{STILL.format(inline(words))}</div>')
        return f"""<section data-claims="{entry.name}" aria-labelledby="claims-{entry.name}">
          <div class="prose"><h2 id="claims-{entry.name}"><a href="{entry.address}">{escape(entry.title)}</a></h2></div>
          {"".join(places)}</section>"""

    def _label(self, entry: Entry, words: str) -> str:
        """Return the claim's words with its section, and a number if the section makes the claim more than once."""
        label = plain = f"{' '.join(words.split())} ({entry.title})"
        number = 1
        while label in self._labels:
            number += 1
            label = f"{plain}, {number}"
        self._labels.add(label)
        return label

    def _run_again(self, number: int) -> None:
        self._start(self._run(*self.claims[number], anew=True))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def begin(self) -> None:
        """Test all claims in the background."""
        self._start(self.all())

    async def all(self) -> None:
        """Test all claims, one after another."""
        for claim, lesson, name in self.claims:
            await self._run(claim, lesson, name)

    async def _run(self, claim: Claim, lesson: Lesson, name: str, anew: bool = False) -> None:
        claim.param.update(busy=True, error="")
        try:
            result = await run_experiment(worker_pool, lesson, name, anew=anew)
            assert isinstance(result, Verdict)
            claim.verdict = public_verdict(result, offer="")
        except EXPECTED_ERRORS as error:
            claim.error = str(error)
        except Exception as error:
            log.exception("The claim %s of %s failed", name, lesson.stem())
            claim.error = str(error).partition("\n")[0] or type(error).__name__
        finally:
            claim.busy = False


def claims(location: Location) -> Page:
    """Build the page."""
    view = Claims(lesson_names())
    pn.state.onload(view.begin)
    return view.page
