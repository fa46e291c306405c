"""Where the students of a class are and what they have answered, in numbers: nobody is named."""

import re
import time
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from textwrap import shorten
from typing import Any
from urllib.parse import parse_qsl

from splatscope.exercises.task import task_names, tasks
from splatscope.textbook.contents import lesson_names, text_of
from splatscope.textbook.markdown import inline, parse
from splatscope.web.lesson_page.section_view import Asked, step_name
from splatscope.web.shell.pages import BY_NAME
from splatscope.web.shell.router import read_inputs

MOST_HEADING = 80  # characters
MOST_QUESTION = 240  # characters of a question or claim that name it
MOST_OPTIONS = 8  # that are listed of a question; students with other inputs are asked to choose between others
OTHERS = "others, of other inputs"
STUCK = 60.0  # seconds at one step, of a student who is on their own, after which they count as stuck there


@dataclass(frozen=True)
class _Place:
    page: str
    step: int
    inputs: str  # as in an address
    since: float


@dataclass
class _Tried:
    """A student's tries at an exercise; `heading` is that of the last cause."""

    tries: int = 0
    solved: bool = False
    heading: str = ""


class Attendance:
    """The students of a class, each known by what their browser says it is.

    Args:
        clock: Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._apart: dict[Hashable, bool] = {}
        self._places: dict[Hashable, _Place] = {}
        self._marks: dict[str, dict[Hashable, _Tried]] = {}  # by exercise
        self._answers: dict[tuple[str, str], dict[Hashable, tuple[str, Asked]]] = {}  # by page and question, what each chose

    def came(self, student: Hashable, apart: bool) -> None:
        """Count a student, as one who is on their own, `apart`, or follows the presenter."""
        self._apart[student] = apart

    def left(self, student: Hashable) -> None:
        """Count a student no longer; what they answered still counts."""
        self._apart.pop(student, None)
        self._places.pop(student, None)

    def is_at(self, student: Hashable, page: str, step: int, inputs: str = "") -> None:
        """Take in where a student is; `inputs` as in an address."""
        before = self._places.get(student)
        if before is None or (before.page, before.step, before.inputs) != (page, step, inputs):
            self._places[student] = _Place(page, step, inputs, self._clock())

    def answered(self, student: Hashable, page: str, question: str, option: str, asked: Asked) -> None:
        """Take in a student's first answer to a question, or bet on a claim; one that the page does not have is ignored.

        Args:
            student: Whose it is.
            page: The section.
            question: The block's kind and name, "quiz-heaviest" or "claim-painter".
            option: What they chose.
            asked: From what, and what is right.
        """
        if page in lesson_names() and question in questions(page) and option in asked.options:
            self._answers.setdefault((page, question), {}).setdefault(student, (option, asked))

    def marked(self, student: Hashable, task: str, passed: bool, heading: str) -> None:
        """Take in what came of a student's kernel; what is no exercise is ignored.

        Args:
            student: Whose it is.
            task: The exercise's name.
            passed: Whether it is solved.
            heading: That of the first cause, "Race on shared".
        """
        if task not in task_names():
            return
        tried = self._marks.setdefault(task, {}).setdefault(student, _Tried())
        tried.tries += 1
        tried.solved |= passed
        tried.heading = "" if passed else heading[:MOST_HEADING]

    @property
    def heads(self) -> dict[str, int]:
        """The number of students who `follow`, and of those `apart`."""
        apart = sum(self._apart.values())
        return {"follow": len(self._apart) - apart, "apart": apart}

    def summary(self, presented: dict[str, Any]) -> list[dict[str, Any]]:
        """Return a dict for each page on which anybody is or has answered a question: first the presenter's, then as in the book.

        It holds the page's `page` and `title`, how many are `here`, the `steps` at which most of these are and those at which some
        are `stuck`, as [what the step is called, how many]; and of each of its `questions`, claims among them, the block's kind and
        `name`, the `text`, whether it is a `bet`, how many `answered` it, how many of these are `right`, and its `options`, as
        [option, how many chose it, whether it is right].

        The page of exercises has `exercises`: of each that was tried the `title`, how many `tried` and `solved` it, all their
        `tries`, and the `causes` at which others are, as [heading, how many].

        Args:
            presented: Where the presenter is, and with them all who follow; empty at first.
        """
        now, name_of = self._clock(), lru_cache(None)(_step_name)
        steps: dict[str, Counter[str]] = {}
        stuck: dict[str, Counter[str]] = {}
        for student, apart in self._apart.items():
            place = self._places.get(student) if apart else None
            where = (place.page, place.step, place.inputs) if place else tuple(map(presented.get, ("page", "step", "inputs")))
            if where[0] in BY_NAME:
                page, name = where[0], name_of(*where)
                steps.setdefault(page, Counter())[name] += 1
                if place and BY_NAME[page].is_section and now - place.since >= STUCK:
                    stuck.setdefault(page, Counter())[name] += 1
        asked = {page for page, _ in self._answers} | ({"exercises"} if self._marks else set())
        return [
            {
                "page": name,
                "title": entry.title,
                "here": steps.get(name, Counter()).total(),
                "steps": steps.get(name, Counter()).most_common(3) if entry.is_section else [],
                "stuck": stuck.get(name, Counter()).most_common(3),
                "questions": self._questions(name) if entry.is_section else [],
                "exercises": self._exercises() if name == "exercises" else [],
            }
            for name, entry in sorted(BY_NAME.items(), key=lambda page: page[0] != presented.get("page"))
            if name in steps or name in asked
        ]

    def _exercises(self) -> list[dict[str, Any]]:
        listed = []
        for task in tasks():
            if given := list(self._marks.get(task.name, {}).values()):
                causes = Counter(tried.heading for tried in given if not tried.solved and tried.heading)
                solved, tries = sum(tried.solved for tried in given), sum(tried.tries for tried in given)
                about = {"title": task.title, "tried": len(given), "solved": solved, "tries": tries}
                listed.append(about | {"causes": causes.most_common(3)})
        return listed

    def _questions(self, page: str) -> list[dict[str, Any]]:
        listed = []
        for question, text in questions(page).items():
            given = list(self._answers.get((page, question), {}).values())
            about = {"name": question, "text": text, "bet": question.startswith("claim-"), "options": _chosen(given)}
            listed.append(about | {"answered": len(given), "right": sum(option == asked.right for option, asked in given)})
        return listed


def _step_name(page: str, step: int | None, inputs: str | None) -> str:
    """Return what a step of a page is called; "" for one without a figure of its own."""
    return step_name(page, read_inputs(dict(parse_qsl(inputs or ""))), step or 0) if BY_NAME[page].is_section else ""


def _chosen(given: list[tuple[str, Asked]]) -> list[tuple[str, int, bool]]:
    """Return how many chose each option, and whether it is right.

    Those of most students come first, in the order in which they were asked. Who has other inputs has others, of which the last are
    counted together.
    """
    if not given:
        return []
    ((main, _),) = Counter(asked for _, asked in given).most_common(1)
    counts = Counter(option for option, _ in given)
    rights = {asked.right for _, asked in given}
    listed = [(option, counts.pop(option, 0), option == main.right) for option in main.options]
    listed += [(option, count, option in rights) for option, count in counts.most_common(MOST_OPTIONS - len(listed))]
    rest = len(given) - sum(count for _, count, _ in listed)
    return [*listed, (OTHERS, rest, False)] if rest else listed


def questions(stem: str) -> dict[str, str]:
    """Return what a section asks, in order: the first words of each question and claim, by the block's kind and name."""
    return _questions(text_of(stem))


@lru_cache(64)
def _questions(text: str) -> dict[str, str]:
    blocks = [block for block in parse(text) if block.kind in ("quiz", "claim")]
    return {f"{block.kind}-{block.args[0]}": _first_words(block.text) for block in blocks}


def _first_words(text: str) -> str:
    """Return the first line of a Markdown text as plain words."""
    words = re.sub("<[^>]*>", "", inline(text.strip().split("\n")[0]))
    return shorten(unescape(words).strip("“”"), MOST_QUESTION, placeholder=" …")
