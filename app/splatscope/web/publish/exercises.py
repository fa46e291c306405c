"""The part of the exercises that needs no device: the text, and recordings of each kernel at the start and of a solution."""

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import TypedDict
from urllib.parse import urlencode

from splatscope.exercises.marking import job_of
from splatscope.exercises.task import COURSES, Task, tasks
from splatscope.services.recordings import record_source
from splatscope.textbook.markdown import html_of
from splatscope.web.exercises.exercises import Course, PublicTask, public
from splatscope.web.lesson_page.lesson_page import EXPECTED_ERRORS
from splatscope.web.publish.states import PageState
from splatscope.web.publish.tools import COMMANDS
from splatscope.web.runtime.component import Child, Component, Maybe, Typed
from splatscope.web.shell.page import Page
from splatscope.web.stepper.keys import KEYS
from splatscope.web.stepper.stepper import Stepper
from splatscope.web.training.challenge import CHALLENGES, Challenge, PublicChallenge
from splatscope.workers import worker_pool

DEFAULTS = {"task": "", "solved": False}
EVENTS, LOOP_BUDGET = 60_000, 1_000  # limits for recordings of kernels that do not end


class ShownTask(TypedDict):
    """A task with a kernel. The explanation and the commands to go on with are HTML; only a solution has an explanation."""

    task: str
    source: str
    explanation: str
    commands: str


class PublishedExercises(Component):
    """The list of tasks, or one of them with a kernel to step."""

    courses = Typed(list[Course], default=list(COURSES.items()), doc="The courses in order")
    tasks = Typed(list[PublicTask], default=[], doc="The tasks in order")
    challenges = Typed(list[PublicChallenge], default=CHALLENGES, doc="The challenges that are trained, in order")
    shown = Maybe(ShownTask, doc="What is shown in place of the list")
    stepper = Child(doc="The kernel's recording")
    challenge = Child(doc="The challenge in the address, if it is one that is trained")


def exercises(pages: Collection[str]) -> list[PageState]:
    """Return the page with the list, and with each task: its kernel at the start and a solution.

    Args:
        pages: The names of the book's pages, to which tasks may link.
    """
    all_tasks = tasks()
    public_tasks = [public(task) if task.section in pages else {**public(task), "section": ()} for task in all_tasks]
    states = [PageState(partial(_build_list_page, public_tasks))]
    for challenge in CHALLENGES:
        inputs = {"task": challenge["name"]}
        states.append(PageState(partial(_build_list_page, public_tasks), urlencode(inputs), inputs))
    for task in all_tasks:
        for solved in (False, True):
            inputs = {"task": task.name, "solved": True} if solved else {"task": task.name}
            address = urlencode({key: str(value).lower() if value is True else value for key, value in inputs.items()})
            states.append(PageState(partial(_build_task_page, public_tasks, task, solved), address, inputs))
    return states


async def _build_list_page(public_tasks: list[PublicTask]) -> Page:
    return _page(public_tasks, {}, Stepper())


async def _build_task_page(public_tasks: list[PublicTask], task: Task, solved: bool) -> Page:
    source = task.solution if solved else task.start
    case = next(case for case in task.cases if not case.hidden)
    job = replace(job_of(task, case, source), records=EVENTS, loop_budget=LOOP_BUDGET)
    stepper = Stepper(kernel=task.name)
    try:
        packed = await record_source(worker_pool, job, trusted=True)
        stepper.show(packed, opening=packed.meta.get("opening", 0))
    except EXPECTED_ERRORS as error:
        stepper.error = str(error)
    explanation = html_of(task.explanation) if solved else ""
    return _page(public_tasks, {"task": task.name, "source": source, "explanation": explanation, "commands": COMMANDS}, stepper)


def _page(public_tasks: list[PublicTask], content: dict[str, str], stepper: Stepper) -> Page:
    part = PublishedExercises(tasks=public_tasks, shown=content, stepper=stepper, challenge=Challenge(server=""))
    return Page(
        page="exercises", html='<div class="exercise-holder" data-slot="workplace"></div>', slots={"workplace": part}, keys=KEYS
    )
