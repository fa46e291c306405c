"""Verify a task: its right answers pass, and its start and each wrong answer fail for their stated reasons."""

from collections.abc import Iterator
from dataclasses import dataclass

from splatscope.exercises.marking import Mark
from splatscope.exercises.task import SampleAnswer, Task


@dataclass(frozen=True)
class Verification:
    """The result for one answer of a task.

    `answer` is its name in the folder, "right/own.slang"; `wrong` says what is not as expected, "" if nothing.
    """

    task: str
    answer: str
    mark: Mark | None
    wrong: str = ""


def answers_of(task: Task) -> Iterator[tuple[str, SampleAnswer]]:
    """Yield the task's answers with their names in its folder. Raises ValueError for a wrong one that does not say why."""
    yield "start.slang", SampleAnswer("start", task.start, task.fails)
    for which in ("right", "wrong"):
        for answer in task.answers(which):
            yield f"{which}/{answer.name}.slang", answer


def judge(task: Task, name: str, answer: SampleAnswer, mark: Mark) -> Verification:
    """Compare the mark of an answer with the expected one."""
    first = mark.causes[0] if mark.causes else None
    if not answer.kind:
        wrong = f"it must pass, but: {first.kind}: {first.words}" if first else ""
    elif first is None:
        wrong = f"it must fail ({answer.kind}), but passes"
    elif first.kind != answer.kind:
        wrong = f"it must fail first for {answer.kind}, but fails for {first.kind}: {first.words}"
    else:
        wrong = ""
    return Verification(task.name, name, mark, wrong)


def shortfalls(task: Task, least_right: int, least_wrong: int) -> list[str]:
    """Return what a task lacks, a sentence each: right and wrong answers, a hidden case."""
    counts = {which: len(task.answers(which)) for which in ("right", "wrong")}
    lacks = [
        f"{task.name} needs {least} {which} answers, and has {counts[which]}."
        for which, least in (("right", least_right), ("wrong", least_wrong))
        if counts[which] < least
    ]
    return lacks if any(case.hidden for case in task.cases) else [*lacks, f"{task.name} has no hidden case."]
