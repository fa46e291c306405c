"""`splatscope grade`: mark a folder of submissions, or verify tasks."""

from pathlib import Path
from typing import Annotated

import typer

from splatscope.cli.errors import CallError

LEAST_RIGHT, LEAST_WRONG = 3, 6  # the fewest right and wrong answers that a task of the book must have


def grade(
    folder: Annotated[
        Path | None,
        typer.Argument(help="A folder with STUDENT/TASK.slang or STUDENT.zip; with --verify, of tasks, the book's by default."),
    ] = None,
    csv: Annotated[Path, typer.Option("--csv", help="The table. Rows that are there already are not marked again.")] = Path(
        "grades.csv"
    ),
    html: Annotated[
        Path | None, typer.Option("--html", help="A page of the whole table as well, with each submission and its verdict.")
    ] = None,
    tasks: Annotated[Path | None, typer.Option(help="A folder of tasks of your own, instead of the book's.")] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Check tasks: right answers pass, the start and wrong ones fail for their stated reasons."),
    ] = False,
    only: Annotated[str | None, typer.Option(help="Verify this task alone.")] = None,
    names: Annotated[bool, typer.Option("--list", help="Print the names of the tasks, which submissions are called by.")] = False,
) -> None:
    """Mark a folder of submissions into a table, with points, findings, time, and which are alike. See docs/exercises.md.

    Exit status: 0 when all were marked or verified, 1 when a task does not verify.
    """
    from splatscope.exercises.task import tasks as tasks_in

    folders = [tasks] if tasks else []
    if names:
        print(*(task.name for task in tasks_in(*folders)), sep="\n")
        return
    if verify:
        raise typer.Exit(_verify([folder] if folder else folders, only))
    if folder is None or not folder.is_dir():
        raise CallError("Name a folder of submissions: STUDENT/TASK.slang, or STUDENT.zip.")
    _grade(folder, csv, html, tasks_in(*folders))


def _grade(folder: Path, table: Path, page: Path | None, tasks: list) -> None:
    from rich.console import Console

    from splatscope.exercises.grade import Row, grade

    console = Console(highlight=False, soft_wrap=True, markup=False)
    count = 0

    def show(row: Row, total: int) -> None:
        nonlocal count
        count += 1
        state = "passed" if row.passed else row.cause
        console.print(f"{count:>5}/{total} {row.student:<20} {row.task:<28} {row.points:5.2f} {row.seconds:6.1f} s  {state}")

    try:
        rows = grade(folder, tasks, table, show)
        if page is not None:
            from splatscope.exercises.report import html_of
            from splatscope.exercises.submissions import submissions_in

            page.write_text(html_of(rows, submissions_in(folder), tasks), encoding="utf-8")
    except OSError as error:
        raise CallError(f"{error.filename or folder}: {error.strerror}.") from None
    if not rows:
        raise CallError(f"There is no submission in {folder}: it holds STUDENT/TASK.slang, or STUDENT.zip.")
    passed, similar = sum(row.passed for row in rows), sum(bool(row.alike) for row in rows)
    submissions, students = _count(len(rows), "submission"), _count(len({row.student for row in rows}), "student")
    console.print(f"{submissions} of {students}: {passed} passed, in {table}.")
    if similar:
        console.print(f"{similar} {'is' if similar == 1 else 'are'} like another student's: see the column “alike”.")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _verify(folders: list[Path], only: str | None) -> int:
    from rich.console import Console

    from splatscope.exercises.parallel import mark_all
    from splatscope.exercises.task import tasks as tasks_in
    from splatscope.exercises.verify import Verification, answers_of, judge, shortfalls

    console = Console(highlight=False, soft_wrap=True, markup=False)
    tasks = [task for task in tasks_in(*folders) if only in (None, task.name)]
    if not tasks:
        where = folders[0] if folders else "the book"
        raise CallError(f"There is no task {only or ''} in {where}.".replace("  ", " "))
    answers = [(task, name, answer) for task in tasks for name, answer in answers_of(task)]
    wrong = [sentence for task in tasks for sentence in shortfalls(task, LEAST_RIGHT, LEAST_WRONG)]
    for (task, name, answer), mark in mark_all(answers, lambda item: (item[0], item[2].source)):
        verification = Verification(task.name, name, None, mark) if isinstance(mark, str) else judge(task, name, answer, mark)
        seconds = f"{verification.mark.seconds:5.1f} s" if verification.mark else ""
        console.print(f"{task.name:<28} {name:<36} {seconds}  {'ok' if not verification.wrong else 'WRONG'}")
        if verification.wrong:
            wrong.append(f"{task.name}/{name}: {verification.wrong}")
    for sentence in wrong:
        console.print(sentence, style="red")
    failed = {task.name for task in tasks if any(sentence.startswith((f"{task.name} ", f"{task.name}/")) for sentence in wrong)}
    console.print(f"{len(answers)} answers, {len(wrong)} wrong: {len(tasks) - len(failed)} of {len(tasks)} tasks")
    return int(bool(wrong))
