"""Grade a folder of submissions into a table. A row is added as soon as it is marked; rows already there are not marked again."""

import csv
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from splatscope.exercises.marking import Mark
from splatscope.exercises.parallel import mark_all
from splatscope.exercises.similarity import most_similar
from splatscope.exercises.submissions import Submission, submissions_in
from splatscope.exercises.task import Task
from splatscope.printable import cell, printable, text_of_cell


@dataclass(frozen=True)
class Row:
    """A row of the table. `line` is 0 for none; `key` is `Submission.key`; `alike` names the student of the most similar one."""

    student: str
    task: str
    passed: int
    points: float
    cause: str
    line: int
    words: str
    seconds: float
    key: str
    alike: str = ""


def grade(folder: Path, tasks: list[Task], table: Path, on_row: Callable[[Row, int], None] = lambda row, count: None) -> list[Row]:
    """Mark all submissions in a folder, and return the rows of the table sorted by student and task.

    Args:
        folder: A folder with one folder or archive per student, see `submissions`.
        tasks: All tasks.
        table: The CSV file. Rows are appended as they are marked, so that an interrupted run can be resumed; at the end the file is
            rewritten in order.
        on_row: Called with each new row and the number of submissions.

    Raises:
        OSError: The folder cannot be read, or the table cannot be written.
        ValueError: The file exists but is not a table of grades.
        WorkerError: This system has no sandbox.
    """
    submissions, by_name = submissions_in(folder), {task.name: task for task in tasks}
    rows_by_key = {(row.student, row.task, row.key): row for row in _rows_in(table)}
    unmarked = [
        submission for submission in submissions if (submission.student, submission.task, submission.key) not in rows_by_key
    ]

    def kernel(submission: Submission) -> tuple[Task, str]:
        if submission.wrong:
            raise ValueError(submission.wrong)
        if submission.task not in by_name:
            raise ValueError(f"There is no task “{submission.task}”.{_suggest_task(submission.task, list(by_name))}")
        if not submission.source.strip():
            raise ValueError("The file is empty.")
        return by_name[submission.task], submission.source

    is_new = not table.exists()
    with table.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow([field.name for field in fields(Row)])
        for submission, mark in mark_all(unmarked, kernel):
            row = _row(submission, mark)
            rows_by_key[submission.student, submission.task, submission.key] = row
            writer.writerow(_cells(row))
            file.flush()
            os.fsync(file.fileno())
            on_row(row, len(submissions))
    rows = [rows_by_key[submission.student, submission.task, submission.key] for submission in submissions]
    rows = _with_likeness(rows, submissions, by_name)
    _write(table, rows)
    return rows


def _suggest_task(name: str, names: list[str]) -> str:
    """Return a question about the task whose name is most like this one; "" if none is."""
    near = get_close_matches(name.casefold().replace("_", "-").replace(" ", "-"), names, 1)
    return f" Did you mean {near[0]}?" if near else ""


def _row(submission: Submission, mark: Mark | str) -> Row:
    if isinstance(mark, str):
        return Row(submission.student, submission.task, 0, 0.0, "error", 0, printable(mark), 0.0, submission.key)
    first = mark.causes[0] if mark.causes else None
    cause, line, words = (first.kind, first.line, printable(first.words)) if first else ("", 0, "")
    return Row(
        submission.student,
        submission.task,
        int(mark.passed),
        round(mark.points, 3),
        cause,
        line,
        words,
        round(mark.seconds, 2),
        submission.key,
    )


def _with_likeness(rows: list[Row], submissions: list[Submission], by_name: dict[str, Task]) -> list[Row]:
    likeness = {
        (student, name): f"{other} {share:.0%}"
        for name, task in by_name.items()
        for student, (other, share) in most_similar(
            {submission.student: submission.source for submission in submissions if submission.task == name}, task.start
        ).items()
    }
    return [replace(row, alike=likeness.get((row.student, row.task), "")) for row in rows]


def _cells(row: Row) -> list[str]:
    values = asdict(row) | {"line": row.line or ""}
    return [cell(str(value)) for value in values.values()]


def _rows_in(table: Path) -> list[Row]:
    if not table.exists():
        return []
    with table.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != [field.name for field in fields(Row)]:
            raise ValueError(f"{table} is not a table of grades: name another file.")
        rows = []
        for cells in reader:
            if None in cells.values() or None in cells:
                continue  # a truncated row
            values: dict[str, Any] = {name: text_of_cell(text) for name, text in cells.items()}
            kinds = {"passed": int, "line": int, "points": float, "seconds": float}
            values |= {name: kind(values[name] or 0) for name, kind in kinds.items()}
            rows.append(Row(**values))
        return rows


def _write(table: Path, rows: list[Row]) -> None:
    new = table.with_name(f".{table.name}.new")
    with new.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(Row)])
        writer.writerows(map(_cells, rows))
    new.replace(table)
