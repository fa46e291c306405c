"""The page of exercises. The browser keeps the learner's kernels; Python marks them and records the case that shows an error."""

import logging
from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import Any, NamedTuple, TypedDict

import param

from splatscope.exercises.causes import Cause
from splatscope.exercises.learner_words import group_name
from splatscope.exercises.marking import LIMIT, Mark, count_of_runs, job_of, mark_in_sandbox
from splatscope.exercises.task import COURSES, Case, Task, tasks
from splatscope.gpu.device import DeviceError
from splatscope.gpu.diagnostics import DiagnosticDict
from splatscope.recordings.packed import PackedRecording
from splatscope.services.recordings import record_source
from splatscope.textbook.markdown import html_of
from splatscope.web.background import BackgroundTask
from splatscope.web.compare.compare import Compare
from splatscope.web.runtime.component import Child, Component, Maybe, Typed
from splatscope.web.runtime.receivers import receives
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import Page
from splatscope.web.shell.pages import BY_NAME
from splatscope.web.stepper.keys import KEYS
from splatscope.web.stepper.stepper import Stepper
from splatscope.web.training.challenge import CHALLENGES, Challenge, PublicChallenge
from splatscope.workers import worker_pool
from splatscope.workers.errors import WorkerError
from splatscope.workers.sandbox.supervisor import START_LIMIT

log = logging.getLogger(__name__)


class Course(NamedTuple):
    """A course by name."""

    name: str
    title: str


class PublicTask(TypedDict):
    """The part of a task that browsers get.

    Attributes:
        section: Address and title of the section of the book to read first.
        words, hints: HTML.
        start: The kernel to begin with.
        rules: Conditions besides the right outputs.
        cases: The name of each, and whether it is hidden.
    """

    name: str
    title: str
    course: str
    section: tuple[str, str] | tuple[()]
    words: str
    hints: list[str]
    start: str
    rules: list[str]
    cases: list[tuple[str, bool]]


class PublicCause(TypedDict):
    """The part of a `Cause` that browsers get, with its heading."""

    kind: str
    heading: str
    words: str
    case: str
    hidden: bool
    line: int
    step: int
    threads: list[int]
    meaning: str


class PublicMark(TypedDict):
    """The part of a mark that browsers get.

    Attributes:
        number: Counted, so that each mark is news.
        points: The share of cases that are passed.
        cases: The name of each, whether it is hidden, whether it is passed, None if it did not run, and the size of its waves.
    """

    task: str
    number: int
    passed: bool
    points: float
    causes: list[PublicCause]
    cases: list[tuple[str, bool, bool | None, int]]
    diagnostics: list[DiagnosticDict]


class Revealed(TypedDict):
    """What a learner may read after finishing a task. The explanation is HTML."""

    task: str
    explanation: str
    solution: str


class Exercises(Component):
    """The list of tasks, or the task in the address: its text, an editor, the verdict, and a stepper.

    The root has `data-testid="exercises"` and `data-task`; the verdict has `data-passed` once a kernel was marked.
    """

    courses = Typed(list[Course], default=[], doc="The courses in order")
    tasks = Typed(list[PublicTask], default=[], doc="The tasks in order")
    challenges = Typed(list[PublicChallenge], default=CHALLENGES, doc="The challenges that are trained, in order")
    mark = Maybe(PublicMark, doc="The verdict on the last kernel")
    busy = param.String(default="", doc="What is being waited for; empty when nothing is")
    error = param.String(default="", doc="Why a kernel could not be marked or recorded, in one line")
    revealed = Maybe(Revealed, doc="What a learner may read of the last finished task")
    place = param.String(default="", doc="The workgroup and case that the stepper shows")
    view = param.Selector(default="", objects=["", "stepper", "compare"], doc="What is shown below the editor")
    stepper = Child(doc="The case that shows what is wrong")
    compare = Child(doc="The learner's recording beside that of a solution")
    challenge = Child(doc="The challenge in the address, if it is one that is trained")

    def __init__(self, **params: Any):
        self._tasks = {task.name: task for task in tasks()}
        public_tasks = [public(task) for task in self._tasks.values()]
        parts = {"stepper": Stepper(), "compare": Compare(), "challenge": Challenge()}
        super().__init__(**parts, courses=list(COURSES.items()), tasks=public_tasks, **params)
        self.on_mark: Callable[[Mark], object] = lambda _: None
        self._work = BackgroundTask()
        self._marked: tuple[Task, str, Mark] | None = None
        self._number = 0
        self._marks = False  # whether a kernel is being marked; another press of the button must not interrupt it

    def close(self) -> None:
        """Stop waiting for workers."""
        self._work.cancel()
        self.stepper.close()
        self.challenge.close()

    @receives("mark")
    def _begin_mark(self, task: str, source: str) -> None:
        if task in self._tasks and not self._marks:
            self._work.start(self._mark(self._tasks[task], source), self._guard)

    @receives("moment")
    def _begin_moment(self, cause: int) -> None:
        if not self._marks:
            self._work.start(self._show_moment(cause), self._guard)

    @receives("compare")
    def _begin_comparison(self, task: str) -> None:
        if task in self._tasks and not self._marks:
            self._work.start(self._compare(self._tasks[task]), self._guard)

    @receives("reveal")
    def _show_solution(self, task: str) -> None:
        if task in self._tasks:
            self._reveal(self._tasks[task])

    async def _guard(self, work: Any) -> None:
        try:
            await work
            self.param.update(busy="", error="")
        except (WorkerError, DeviceError, ValueError) as error:
            self.param.update(busy="", error=str(error))
        except Exception as error:
            log.exception("An exercise failed")
            self.param.update(busy="", error=str(error).partition("\n")[0] or type(error).__name__)

    async def _mark(self, task: Task, source: str) -> None:
        self._marks = True
        try:
            self.param.update(busy="Marking …", error="", view="")
            limit = 3 * (LIMIT + START_LIMIT)
            arguments = (task.folder, source)
            mark = await worker_pool.run(mark_in_sandbox, *arguments, limit=limit, untrusted=True, on_progress=self._at_case(task))
        finally:
            self._marks = False
        self._marked, self._number = (task, source, mark), self._number + 1
        if mark.passed:
            self._reveal(task)
        self.mark = verdict(mark, self._number)
        self.on_mark(mark)

    def _at_case(self, task: Task) -> Callable[[int], None]:
        """Return a callback that shows which of the task's cases is running, until it is marked."""

        def show(number: int) -> None:
            if self._marks:
                self.busy = f"Marking, case {number} of {count_of_runs(task)} …"

        return show

    async def _show_moment(self, number: int) -> None:
        if self._marked is None:
            return
        task, source, mark = self._marked
        cause = mark.causes[min(max(0, number), len(mark.causes) - 1)]
        case = next((case for case in task.cases if case.name == cause.case), None)
        if case is None or case.hidden:  # it did not run, or must not be seen
            return
        run = next(run for run in mark.cases if run.name == case.name and run.passed is False)
        self.busy = "Recording …"
        group = run.group if cause.step else cause.group
        packed = await self._record(task, case, source, group, run.waves)
        self.stepper.kernel = task.name
        reason = {name: getattr(cause, name) for name in ("heading", "words", "kind", "name", "line", "lane", "element")}
        self.stepper.show(packed, opening=cause.step, reason=reason)
        prefix = "" if case.groups == (1, 1, 1) else f"Work{group_name(group, case.groups)}, "
        self.param.update(place=f"{prefix}case “{case.name}”", view="stepper")

    async def _compare(self, task: Task) -> None:
        if self._marked is None or self._marked[0] is not task:
            return
        _, source, mark = self._marked
        failed = next((run.name for run in mark.cases if run.passed is False and not run.hidden), None)
        case = next((case for case in task.cases if case.name == failed), task.cases[0])
        self.busy = "Recording both …"
        own = await self._record(task, case, source)
        solution = await self._record(task, case, task.solution)
        self.compare.show(own, solution, ("Yours", "A solution"))
        self.view = "compare"

    async def _record(
        self, task: Task, case: Case, source: str, group: tuple[int, int, int] = (0, 0, 0), waves: int = 0
    ) -> PackedRecording:
        job = replace(job_of(task, case, source), group=group)
        return await record_source(worker_pool, job, task.device(waves))

    def _reveal(self, task: Task) -> None:
        solution = task.solution
        self.revealed = {"task": task.name, "explanation": html_of(task.explanation), "solution": solution}


def public(task: Task) -> PublicTask:
    """Return the part of a task that browsers get."""
    section = BY_NAME.get(task.section)
    return {
        "name": task.name,
        "title": task.title,
        "course": task.course,
        "section": (section.address, section.title) if section else (),
        "words": html_of(task.words),
        "hints": [html_of(hint) for hint in task.hints],
        "start": task.start,
        "rules": [limit.rule for limit in task.limits],
        "cases": [(case.name, case.hidden) for case in task.cases],
    }


def verdict(mark: Mark, number: int) -> PublicMark:
    """Return the part of a mark that browsers get."""
    return {
        "task": mark.task,
        "number": number,
        "passed": mark.passed,
        "points": round(mark.points, 3),
        "causes": [_public_cause(cause) for cause in mark.causes],
        "cases": [(run.name, run.hidden, run.passed, run.waves) for run in mark.cases],
        "diagnostics": mark.diagnostics,
    }


def _public_cause(cause: Cause) -> PublicCause:
    return {
        "kind": cause.kind,
        "heading": cause.heading,
        "words": cause.words,
        "case": cause.case,
        "hidden": cause.hidden,
        "line": cause.line,
        "step": cause.step,
        "threads": list(cause.threads),
        "meaning": cause.meaning,
    }


def _first_words(public_tasks: list[PublicTask]) -> str:
    """Return the list of tasks that is shown until its component is there."""
    links = "".join(f'<li><a href="?page=exercises&task={task["name"]}">{escape(task["title"])}</a></li>' for task in public_tasks)
    words = "Kernels to repair and to write. Each is run on several inputs, and every access is checked."
    return f'<article class="words"><h1>Exercises</h1><p>{words}</p><ul>{links}</ul></article>'


def exercises(location: Location) -> Page:
    """Build the page."""
    part = Exercises()
    page = Page(
        page="exercises",
        html=f'<div class="exercise-holder" data-slot="workplace">{_first_words(part.tasks)}</div>',
        slots={"workplace": part},
        keys=[
            ("Ctrl+Enter", "Mark the kernel"),
            ("Tab Shift+Tab", "In the editor: indent or unindent the line"),
            ("Esc", "Leave the editor; Tab then moves to the next control"),
            *KEYS,
        ],
    )
    part.on_mark = lambda mark: location.param.update(mark=mark)
    page.on_close(part.close)
    return page
