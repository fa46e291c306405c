"""The table of grades: written row by row, taken up again, and safe to open in a spreadsheet."""

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from splatscope.cli.main import commands
from splatscope.exercises import grade as grading
from splatscope.exercises.causes import Cause
from splatscope.exercises.grade import grade
from splatscope.exercises.marking import CaseMark, Mark
from splatscope.exercises.task import load, tasks
from splatscope.paths import TASKS

TASK = load(TASKS / "turn-a-row")
RIGHT = Mark(TASK.name, True, [], [CaseMark("a", False, True), CaseMark("b", True, True)], 1.5)
WRONG = Mark(
    TASK.name, False, [Cause("race", "Two threads.", line=12)], [CaseMark("a", False, False), CaseMark("b", True, None)], 0.5
)


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that were marked; a kernel with `race` in it is wrong."""
    seen: list[str] = []

    def mark_all(asked, kernel, processes=0):
        for one in asked:
            try:
                _, source = kernel(one)
            except ValueError as error:
                yield one, str(error)
                continue
            seen.append(source)
            if "stop" in source:
                raise KeyboardInterrupt
            yield one, WRONG if "race" in source else RIGHT

    monkeypatch.setattr(grading, "mark_all", mark_all)
    return seen


def submit(folder: Path, **sources: str) -> None:
    for student, source in sources.items():
        (folder / student).mkdir(parents=True, exist_ok=True)
        (folder / student / "turn-a-row.slang").write_text(source)


def rows_in(table: Path) -> list[dict[str, str]]:
    with table.open(newline="") as file:
        return list(csv.DictReader(file))


def test_each_submission_has_a_row_with_points_and_the_first_cause(tmp_path: Path, marked: list[str]):
    submit(tmp_path / "in", anna="fine", ben="race")
    (tmp_path / "in" / "ben" / "no-such-task.slang").write_text("fine")
    grade(tmp_path / "in", [TASK], tmp_path / "grades.csv")
    rows = [(r["student"], r["task"], r["passed"], r["points"], r["cause"], r["line"]) for r in rows_in(tmp_path / "grades.csv")]
    assert rows == [
        ("anna", "turn-a-row", "1", "1.0", "", ""),
        ("ben", "no-such-task", "0", "0.0", "error", ""),
        ("ben", "turn-a-row", "0", "0.0", "race", "12"),
    ]


def test_a_lecturer_is_told_of_an_empty_file_and_of_the_task_that_was_meant(tmp_path: Path, marked: list[str]):
    submit(tmp_path / "in", anna=" \n")
    (tmp_path / "in" / "anna" / "turn_a_row.slang").write_text("fine")
    grade(tmp_path / "in", [TASK], tmp_path / "grades.csv")
    again = grade(tmp_path / "in", [TASK], tmp_path / "grades.csv")
    assert [row.words for row in again] == ["The file is empty.", "There is no task “turn_a_row”. Did you mean turn-a-row?"]
    assert not marked


def test_the_command_line_lists_tasks_and_counts_one_as_one(tmp_path: Path, marked: list[str]):
    run = CliRunner().invoke(commands, ["grade", "--list"])
    assert run.output.split() == [task.name for task in tasks()]
    submit(tmp_path / "in", anna="fine")
    run = CliRunner().invoke(commands, ["grade", str(tmp_path / "in"), "--csv", str(tmp_path / "grades.csv")])
    assert "1 submission of 1 student: 1 passed" in run.output


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path, marked: list[str]):
    submit(tmp_path / "in", anna="fine", ben="race", cleo="stop")
    with pytest.raises(KeyboardInterrupt):
        grade(tmp_path / "in", [TASK], tmp_path / "grades.csv")
    assert [row["student"] for row in rows_in(tmp_path / "grades.csv")] == ["anna", "ben"]
    submit(tmp_path / "in", ben="fine now", cleo="fine")
    marked.clear()
    grade(tmp_path / "in", [TASK], tmp_path / "grades.csv")
    assert marked == ["fine now", "fine"], "anna's row is there, ben's file has changed"
    assert [(row["student"], row["passed"]) for row in rows_in(tmp_path / "grades.csv")] == [
        ("anna", "1"),
        ("ben", "1"),
        ("cleo", "1"),
    ]


def test_a_row_that_was_cut_off_is_marked_again(tmp_path: Path, marked: list[str]):
    submit(tmp_path / "in", anna="fine", ben="fine, too")
    table = tmp_path / "grades.csv"
    grade(tmp_path / "in", [TASK], table)
    text = table.read_text()
    table.write_text(text[: text.rindex("ben") + 9])
    marked.clear()
    grade(tmp_path / "in", [TASK], table)
    assert marked == ["fine, too"]
    assert [row["student"] for row in rows_in(table)] == ["anna", "ben"]


def test_a_name_that_a_spreadsheet_would_run_is_text(tmp_path: Path, marked: list[str]):
    submit(tmp_path / "in", **{"=HYPERLINK(1)": "fine"})
    table = tmp_path / "grades.csv"
    for _ in range(2):
        (row,) = grade(tmp_path / "in", [TASK], table)
        assert row.student == "=HYPERLINK(1)"
        assert rows_in(table)[0]["student"] == "'=HYPERLINK(1)"
    assert len(marked) == 1


def test_a_file_that_is_no_table_of_grades_is_left_alone(tmp_path: Path, marked: list[str]):
    submit(tmp_path / "in", anna="fine")
    (tmp_path / "notes.csv").write_text("what,ever\n1,2\n")
    with pytest.raises(ValueError, match="not a table of grades"):
        grade(tmp_path / "in", [TASK], tmp_path / "notes.csv")
    assert (tmp_path / "notes.csv").read_text() == "what,ever\n1,2\n"


@pytest.mark.parametrize("student", ["=1+1", "+1", "-1", "@sum", "＝1", "'=1", "\t=1", "eve\n=1\x1b[2J", "eve\udcff"])
def test_a_student_s_name_is_no_formula_and_no_escape_code_and_is_found_again(tmp_path: Path, marked: list[str], student: str):
    submit(tmp_path / "in", **{student: "fine"})
    arguments = ["grade", str(tmp_path / "in"), "--csv", str(tmp_path / "grades.csv")]
    run = CliRunner().invoke(commands, arguments)
    assert run.exit_code == 0, run.output
    assert all(line.isprintable() for line in run.output.split("\n"))
    (row,) = rows_in(tmp_path / "grades.csv")
    assert not row["student"].startswith(("=", "+", "-", "@", "＝", "\t"))
    CliRunner().invoke(commands, arguments)
    assert len(marked) == 1
