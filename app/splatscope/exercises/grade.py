"""Grade a folder of submissions into a table. A row is added as soon as it is marked; rows already there are not marked again."""

import csv
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path

from splatscope.exercises.marking import Mark
from splatscope.exercises.parallel import mark_all
from splatscope.exercises.similarity import most_similar
from splatscope.exercises.submissions import Submission, submissions_in
from splatscope.exercises.task import Task

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet treats a cell that begins with one of these as a formula


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
    found, by_name = submissions_in(folder), {task.name: task for task in tasks}
    known = {(row.student, row.task, row.key): row for row in _rows_in(table)}
    left = [one for one in found if (one.student, one.task, one.key) not in known]

    def kernel(one: Submission) -> tuple[Task, str]:
        if one.wrong:
            raise ValueError(one.wrong)
        if one.task not in by_name:
            raise ValueError(f"There is no task “{one.task}”.{_meant(one.task, list(by_name))}")
        if not one.source.strip():
            raise ValueError("The file is empty.")
        return by_name[one.task], one.source

    is_new = not table.exists()
    with table.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow([field.name for field in fields(Row)])
        for one, mark in mark_all(left, kernel):
            row = _row(one, mark)
            known[one.student, one.task, one.key] = row
            writer.writerow(_cells(row))
            file.flush()
            os.fsync(file.fileno())
            on_row(row, len(found))
    rows = [known[one.student, one.task, one.key] for one in found]
    rows = _with_likeness(rows, found, by_name)
    _write(table, rows)
    return rows


def _meant(name: str, names: list[str]) -> str:
    """Return a question about the task whose name is most like this one; "" if none is."""
    near = get_close_matches(name.casefold().replace("_", "-").replace(" ", "-"), names, 1)
    return f" Did you mean {near[0]}?" if near else ""


def _row(one: Submission, mark: Mark | str) -> Row:
    if isinstance(mark, str):
        return Row(one.student, one.task, 0, 0.0, "error", 0, mark, 0.0, one.key)
    first = mark.causes[0] if mark.causes else None
    cause, line, words = (first.kind, first.line, first.words) if first else ("", 0, "")
    return Row(one.student, one.task, int(mark.passed), round(mark.points, 3), cause, line, words, round(mark.seconds, 2), one.key)


def _with_likeness(rows: list[Row], found: list[Submission], by_name: dict[str, Task]) -> list[Row]:
    likeness = {
        (student, name): f"{other} {share:.0%}"
        for name, task in by_name.items()
        for student, (other, share) in most_similar(
            {one.student: one.source for one in found if one.task == name}, task.start
        ).items()
    }
    return [replace(row, alike=likeness.get((row.student, row.task), "")) for row in rows]


def _cells(row: Row) -> list[str]:
    values = asdict(row) | {"line": row.line or ""}
    return [f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in map(str, values.values())]


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
            text = {name: cell[1:] if cell[:1] == "'" and cell[1:].startswith(_FORMULA) else cell for name, cell in cells.items()}
            kinds = {"passed": int, "line": int, "points": float, "seconds": float}
            rows.append(Row(**text | {name: kind(text[name] or 0) for name, kind in kinds.items()}))
        return rows


def _write(table: Path, rows: list[Row]) -> None:
    new = table.with_name(f".{table.name}.new")
    with new.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(Row)])
        writer.writerows(map(_cells, rows))
    new.replace(table)
