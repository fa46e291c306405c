"""Where the students of a class are and what they have answered, as numbers without names."""

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
MOST_QUESTION = 240  # characters of a question or claim that are shown as its name
MOST_OPTIONS = 8  # options listed for one question; students with other inputs are offered other options
OTHERS = "other options, with other inputs"
STUCK = 60.0  # seconds after which a student who stays at one step on their own counts as stuck


@dataclass(frozen=True)
class _Place:
    page: str
    step: int
    inputs: str  # as in an address
    since: float


@dataclass
class _Tried:
    """A student's tries at an exercise. `heading` is that of the latest finding."""

    tries: int = 0
    solved: bool = False
    heading: str = ""


class Attendance:
    """The students of a class, each identified by a name that their browser chose.

    Args:
        clock: Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._apart: dict[Hashable, bool] = {}
        self._places: dict[Hashable, _Place] = {}
        self._marks: dict[str, dict[Hashable, _Tried]] = {}  # by exercise
        self._answers: dict[tuple[str, str], dict[Hashable, tuple[str, Asked]]] = {}  # by page and question

    def came(self, student: Hashable, apart: bool) -> None:
        """Count a student as following the presenter, or as being on their own (`apart`)."""
        self._apart[student] = apart

    def left(self, student: Hashable) -> None:
        """Stop counting a student. Their answers still count."""
        self._apart.pop(student, None)
        self._places.pop(student, None)

    def is_at(self, student: Hashable, page: str, step: int, inputs: str = "") -> None:
        """Store where a student is; `inputs` as in an address."""
        before = self._places.get(student)
        if before is None or (before.page, before.step, before.inputs) != (page, step, inputs):
            self._places[student] = _Place(page, step, inputs, self._clock())

    def answered(self, student: Hashable, page: str, question: str, option: str, asked: Asked) -> None:
        """Store a student's first answer to a question, or bet on a claim. Questions that the page does not have are ignored.

        Args:
            student: The student.
            page: The section.
            question: The block's kind and name, "quiz-heaviest" or "claim-painter".
            option: What the student chose.
            asked: The options, and the right one.
        """
        if page in lesson_names() and question in questions(page) and option in asked.options:
            self._answers.setdefault((page, question), {}).setdefault(student, (option, asked))

    def marked(self, student: Hashable, task: str, passed: bool, heading: str) -> None:
        """Store how a student's kernel was marked. Unknown exercises are ignored.

        Args:
            student: The student.
            task: The exercise's name.
            passed: Whether it is solved.
            heading: The heading of the first finding, "Race on shared".
        """
        if task not in task_names():
            return
        tried = self._marks.setdefault(task, {}).setdefault(student, _Tried())
        tried.tries += 1
        tried.solved |= passed
        tried.heading = "" if passed else heading[:MOST_HEADING]

    @property
    def heads(self) -> dict[str, int]:
        """The number of students who `follow`, and of those who are `apart`."""
        apart = sum(self._apart.values())
        return {"follow": len(self._apart) - apart, "apart": apart}

    def summary(self, presented: dict[str, Any]) -> list[dict[str, Any]]:
        """Return a dict for each page with students or answers: first the presenter's page, then the others in the book's order.

        Keys of a page:
            page, title: Its name and title.
            here: How many students are there.
            steps: The most frequent steps, as [name of the step, number of students].
            stuck: The steps at which students are stuck, in the same form.
            questions: Its questions and claims. Each has `name` (the block's kind and name), `text`, `bet` (whether it is a claim),
                `answered` and `right` (numbers of students), and `options`, as [option, number of students, whether it is right].
            exercises: On the page of exercises, those that were tried. Each has `title`, `tried` and `solved` (numbers of
                students), `tries` (of all students), and `causes` that stop the others, as [heading, number of students].

        Args:
            presented: Where the presenter is, and all who follow with them; empty at first.
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
    """Return the name of a step of a page; "" for a page without a figure."""
    return step_name(page, read_inputs(dict(parse_qsl(inputs or ""))), step or 0) if BY_NAME[page].is_section else ""


def _chosen(given: list[tuple[str, Asked]]) -> list[tuple[str, int, bool]]:
    """Return how many students chose each option, and whether it is right.

    The options that most students were offered come first, in the order of the question. Other inputs offer other options; those
    that do not fit into the list are counted together.
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
    """Return the first words of a section's questions and claims, in order, by the block's kind and name."""
    return _questions(text_of(stem))


@lru_cache(64)
def _questions(text: str) -> dict[str, str]:
    blocks = [block for block in parse(text) if block.kind in ("quiz", "claim")]
    return {f"{block.kind}-{block.args[0]}": _first_words(block.text) for block in blocks}


def _first_words(text: str) -> str:
    """Return the first line of a Markdown text as plain words."""
    words = re.sub("<[^>]*>", "", inline(text.strip().split("\n")[0]))
    return shorten(unescape(words).strip("“”"), MOST_QUESTION, placeholder=" …")
