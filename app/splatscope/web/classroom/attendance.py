"""Where the students of a class are and what they have answered, as numbers without names.

All texts in the numbers are the book's or the server's own. Answers are counted as they come. Beside the counts, a class keeps only
what it takes to count a student once, and that for a limited number of students.
"""

import re
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import astuple, dataclass, field, replace
from functools import lru_cache
from html import unescape
from textwrap import shorten
from typing import Any

from splatscope.exercises.marking import Mark
from splatscope.exercises.task import tasks
from splatscope.textbook.contents import lesson_names, text_of
from splatscope.textbook.markdown import inline, parse
from splatscope.web.lesson_page.inputs import Inputs
from splatscope.web.lesson_page.step_names import step_name
from splatscope.web.lesson_results.offer import Offer
from splatscope.web.shell.pages import BY_NAME

MOST_HERE = 1_000  # students that are counted at once
MOST_KNOWN = 4_000  # other students that are recognized when they come back
MOST_CHOICES = 200  # answers to one question that are told apart
MOST_QUESTION = 240  # characters of a question or claim that are shown as its name
MOST_OPTIONS = 8  # options listed for one question; students with other inputs are offered other options
OTHERS = "other options, with other inputs"
OWN = "a variable of their own"
STUCK = 60.0  # seconds after which a student who stays at one step on their own counts as stuck


@dataclass(frozen=True)
class _Place:
    page: str
    step: int
    inputs: str  # as in an address
    since: float


@dataclass
class _Student:
    """What is known of a student. `stopped` has the heading of the latest finding by exercise, "" once it is solved."""

    apart: bool = False
    place: _Place | None = None
    answered: set[tuple[str, str]] = field(default_factory=set)
    stopped: dict[str, str] = field(default_factory=dict)


@dataclass
class _Answers:
    """The answers to one question, each an option and what it was chosen from."""

    answered: int = 0
    right: int = 0
    chosen: Counter[tuple[str, Offer]] = field(default_factory=Counter)

    def add(self, option: str, offer: Offer) -> None:
        self.answered += 1
        self.right += option == offer.right
        if (option, offer) not in self.chosen and len(self.chosen) == MOST_CHOICES:
            del self.chosen[min(self.chosen, key=self.chosen.__getitem__)]  # is then one of the others
        self.chosen[option, offer] += 1


@dataclass
class _Tries:
    """The tries at one exercise. `causes` counts the students whom a finding stops, by its heading."""

    tried: int = 0
    solved: int = 0
    tries: int = 0
    causes: Counter[str] = field(default_factory=Counter)


class Attendance:
    """The students of a class, each identified by a name that their browser chose.

    Args:
        clock: Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._here: dict[Hashable, _Student] = {}
        self._others: OrderedDict[Hashable, _Student] = OrderedDict()  # who has left, the longest gone first, or is one too many
        self._apart = 0  # how many of those who are here are on their own
        self._answers: dict[tuple[str, str], _Answers] = {}  # by page and question
        self._tries: dict[str, _Tries] = {}  # by exercise

    def described(self) -> dict[str, Any]:
        """Return what has been counted as plain data, for `restore`. Where students are is left out: they come again."""
        known = {**self._others, **self._here}
        return {
            "students": [
                [name, sorted(record.answered), record.stopped]
                for name, record in known.items()
                if isinstance(name, str) and (record.answered or record.stopped)
            ],
            "answers": [
                [
                    *name,
                    answers.answered,
                    answers.right,
                    [[option, *astuple(offer), n] for (option, offer), n in answers.chosen.items()],
                ]
                for name, answers in self._answers.items()
            ],
            "tries": [[name, tries.tried, tries.solved, tries.tries, dict(tries.causes)] for name, tries in self._tries.items()],
        }

    def restore(self, described: dict[str, Any]) -> None:
        """Count again what `described` has returned. Nobody is here yet."""
        for name, answered, stopped in described["students"]:
            self._keep(name, _Student(answered={(page, question) for page, question in answered}, stopped=stopped))
        for page, question, answered, right, chosen in described["answers"]:
            counts = {(option, Offer(at, name, tuple(options), best)): n for option, at, name, options, best, n in chosen}
            self._answers[page, question] = _Answers(answered, right, Counter(counts))
        for name, tried, solved, tries, causes in described["tries"]:
            self._tries[name] = _Tries(tried, solved, tries, Counter(causes))

    def came(self, student: Hashable, apart: bool) -> None:
        """Count a student as following the presenter, or as being on their own (`apart`)."""
        if student not in self._here and len(self._here) < MOST_HERE:
            self._here[student] = self._others.pop(student, None) or _Student()
        if student in self._here:
            self._apart += apart - self._here[student].apart
            self._here[student].apart = apart

    def left(self, student: Hashable) -> None:
        """Stop counting a student. Their answers still count."""
        if record := self._here.pop(student, None):
            self._apart -= record.apart
            record.apart, record.place = False, None
            self._keep(student, record)

    def is_at(self, student: Hashable, page: str, step: int, inputs: str = "") -> None:
        """Store where a student is; `inputs` as `Inputs.address` has them."""
        record = self._here.get(student)
        before = record.place if record else None
        if record and (before is None or (before.page, before.step, before.inputs) != (page, step, inputs)):
            record.place = _Place(page, step, inputs, self._clock())

    def answered(self, student: Hashable, option: str, offer: Offer) -> None:
        """Count a student's first answer to a question, or bet on a claim. What the page does not ask or offer is ignored.

        Args:
            student: The student.
            option: What the student chose.
            offer: The question, its options, and the right one.
        """
        name = offer.page, offer.question
        if offer.page not in lesson_names() or offer.question not in questions(offer.page) or option not in offer.options:
            return
        record = self._find_or_add(student)
        if name not in record.answered:
            record.answered.add(name)
            self._answers.setdefault(name, _Answers()).add(option, offer)

    def marked(self, student: Hashable, mark: Mark) -> None:
        """Count how a student's kernel was marked."""
        record, tries = self._find_or_add(student), self._tries.setdefault(mark.task, _Tries())
        before = record.stopped.get(mark.task)
        tries.tries += 1
        tries.tried += before is None
        if before == "":  # has solved it before
            return
        if before is not None:
            tries.causes[before] -= 1
        record.stopped[mark.task] = heading = _heading(mark)
        if heading:
            tries.causes[heading] += 1
        else:
            tries.solved += 1

    def _find_or_add(self, student: Hashable) -> _Student:
        """Return what is known of a student, who may have left or be one too many."""
        record = self._here.get(student) or self._others.get(student)
        if record is None:
            record = _Student()
            self._keep(student, record)
        return record

    def _keep(self, student: Hashable, record: _Student) -> None:
        self._others[student] = record
        if len(self._others) > MOST_KNOWN:
            self._others.popitem(last=False)

    @property
    def heads(self) -> dict[str, int]:
        """The number of students who `follow`, and of those who are `apart`."""
        return {"follow": len(self._here) - self._apart, "apart": self._apart}

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
        for student in self._here.values():
            place = student.place if student.apart else None
            location = (place.page, place.step, place.inputs) if place else tuple(map(presented.get, ("page", "step", "inputs")))
            if location[0] in BY_NAME:
                page, name = location[0], name_of(*location)
                steps.setdefault(page, Counter())[name] += 1
                if place and BY_NAME[page].is_section and now - place.since >= STUCK:
                    stuck.setdefault(page, Counter())[name] += 1
        pages_with_answers = {page for page, _ in self._answers} | ({"exercises"} if self._tries else set())
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
            if name in steps or name in pages_with_answers
        ]

    def _exercises(self) -> list[dict[str, Any]]:
        tried = [(task, self._tries[task.name]) for task in tasks() if task.name in self._tries]
        return [
            {
                "title": task.title,
                "tried": tries.tried,
                "solved": tries.solved,
                "tries": tries.tries,
                "causes": (+tries.causes).most_common(3),
            }
            for task, tries in tried
        ]

    def _questions(self, page: str) -> list[dict[str, Any]]:
        summaries = []
        for question, text in questions(page).items():
            answers = self._answers.get((page, question), _Answers())
            description = {"name": question, "text": text, "bet": question.startswith("claim-"), "options": _count_choices(answers)}
            summaries.append(description | {"answered": answers.answered, "right": answers.right})
        return summaries


def _step_name(page: str, step: int | None, inputs: str | None) -> str:
    """Return the name of a step of a page; "" for a page without a figure."""
    return step_name(Inputs(page, inputs or ""), step or 0) if BY_NAME[page].is_section else ""


def _heading(mark: Mark) -> str:
    """Return the heading of what a learner is to mend first; "" if the kernel passes.

    Of the names in it, only the task's own are shown. The others are words that the learner chose.
    """
    if mark.passed or not mark.causes:
        return ""
    cause, task = mark.causes[0], next(task for task in tasks() if task.name == mark.task)
    names = set(re.findall(r"\w+", f"{task.start} {task.solution}"))
    return (cause if not cause.name or cause.name in names else replace(cause, name=OWN)).heading


def _count_choices(answers: _Answers) -> list[tuple[str, int, bool]]:
    """Return how many students chose each option, and whether it is right.

    The options that most students were offered come first, in the order of the question. Other inputs offer other options; those
    that do not fit into the list are counted together.
    """
    if not answers.answered:
        return []
    offered, counts = Counter[Offer](), Counter[str]()
    for (option, offer), count in answers.chosen.items():
        offered[offer] += count
        counts[option] += count
    ((main, _),) = offered.most_common(1)
    right_options = {offer.right for offer in offered}
    rows = [(option, counts.pop(option, 0), option == main.right) for option in main.options]
    rows += [(option, count, option in right_options) for option, count in counts.most_common(MOST_OPTIONS - len(rows))]
    rest = answers.answered - sum(count for _, count, _ in rows)
    return [*rows, (OTHERS, rest, False)] if rest else rows


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
