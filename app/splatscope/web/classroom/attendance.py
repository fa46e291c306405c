"""Where the students of a class are and what they have answered, in numbers: nobody is named."""

import time
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from splatscope.exercises.task import task_names, tasks
from splatscope.textbook.contents import lesson_names
from splatscope.web.lesson_page.first_recording import quizzes
from splatscope.web.shell.pages import BY_NAME

MOST_HEADING = 80  # characters
STUCK = 60.0  # seconds at one step, of a student who is on their own, after which they count as stuck there


@dataclass(frozen=True)
class _Place:
    page: str
    step: int
    since: float


@dataclass
class _Tried:
    """A student's tries at an exercise; `heading` is that of the last cause."""

    tries: int = 0
    solved: bool = False
    heading: str = ""


class Attendance:
    """The students of a class, each known by an object of their session's.

    Args:
        clock: Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._apart: dict[Hashable, bool] = {}
        self._places: dict[Hashable, _Place] = {}
        self._marks: dict[str, dict[Hashable, _Tried]] = {}  # by exercise
        self._answers: dict[tuple[str, str], dict[Hashable, bool]] = {}  # by page and question, whether each student was right

    def came(self, student: Hashable, apart: bool) -> None:
        """Count a student, as one who is on their own, `apart`, or follows the presenter."""
        self._apart[student] = apart

    def left(self, student: Hashable) -> None:
        """Count a student no longer; what they answered still counts."""
        self._apart.pop(student, None)
        self._places.pop(student, None)

    def is_at(self, student: Hashable, page: str, step: int) -> None:
        """Take in where a student is."""
        before = self._places.get(student)
        if before is None or (before.page, before.step) != (page, step):
            self._places[student] = _Place(page, step, self._clock())

    def answered(self, student: Hashable, page: str, question: str, right: bool) -> None:
        """Take in a student's first answer to a question; what is no question of the page's is ignored."""
        if page in lesson_names() and question in quizzes(page):
            self._answers.setdefault((page, question), {}).setdefault(student, right)

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
        """Return a dict for each page on which anybody is or has answered a question, in the order of the book.

        It holds the page's `page` and `title`, how many are `here`, the `steps` at which most of these are and those at which some
        are `stuck`, as [step, how many], and of each of its `questions` how many `answered` it, and how many of these are `right`.

        The page of exercises has `exercises`: of each that was tried the `title`, how many `tried` and `solved` it, all their
        `tries`, and the `causes` at which others are, as [heading, how many].

        Args:
            presented: Where the presenter is, and with them all who follow; empty at first.
        """
        now = self._clock()
        steps: dict[str, Counter[int]] = {}
        stuck: dict[str, Counter[int]] = {}
        for student, apart in self._apart.items():
            place = self._places.get(student) if apart else None
            page, step = (place.page, place.step) if place else (presented.get("page"), presented.get("step", 0))
            if page in BY_NAME:
                steps.setdefault(page, Counter())[step] += 1
                if place and BY_NAME[page].is_section and now - place.since >= STUCK:
                    stuck.setdefault(page, Counter())[step] += 1
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
            for name, entry in BY_NAME.items()
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

    def _questions(self, page: str) -> list[dict[str, int]]:
        answers = [self._answers.get((page, question), {}) for question in quizzes(page)]
        return [{"answered": len(given), "right": sum(given.values())} for given in answers]
