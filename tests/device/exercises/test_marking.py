"""Marking in the sandbox: the book's tasks, and kernels that do not end, crash, look where they may not, or depend on waves."""

import csv
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from splatscope.exercises.marking import Run, mark
from splatscope.exercises.task import Case, load, tasks
from splatscope.exercises.verify import judge
from splatscope.paths import TASKS
from splatscope.services import sandbox_jobs
from splatscope.workers.sandbox.supervisor import Sandbox

SLOW = 4  # times a learner's limit: a busy machine may take longer than 20 s to compile what takes 2 on a quiet one
EXAMPLE = load(TASKS / "turn-a-row")


@pytest.fixture(scope="module")
def run() -> Run:
    """A sandbox for all tests of this file."""
    box = Sandbox(sandbox_jobs.__name__)
    return lambda name, arguments, limit: box.run(name, arguments, SLOW * limit)


@pytest.mark.parametrize("task", tasks(), ids=lambda task: task.name)
def test_the_start_fails_for_its_stated_reason_and_the_solution_passes(task, run):
    """All other answers are verified by `make exercises`: they take minutes."""
    solution = next(answer for answer in task.answers("right") if answer.source == task.solution)
    start = replace(solution, name="start", source=task.start, kind=task.fails)
    for answer in (start, solution):
        assert judge(task, answer.name, answer, mark(task, answer.source, run)).wrong == ""


def test_a_cause_leads_to_its_step_in_the_recording_of_its_case(run):
    found = mark(EXAMPLE, EXAMPLE.start, run)
    cause = found.causes[0]
    assert cause.kind == "race"
    assert cause.line == 12
    assert cause.step > 0
    assert len(cause.threads) == 2
    assert [(case.hidden, case.passed) for case in found.cases] == [(False, False), (True, None)], (
        "hidden cases wait for the others"
    )


def test_any_number_of_cases_can_be_marked_at_once(run):
    cases = [replace(EXAMPLE.cases[0], name=f"case {n}") for n in range(8)]
    found = mark(replace(EXAMPLE, cases=tuple(cases)), EXAMPLE.solution, run)
    assert [case.passed for case in found.cases] == [True] * 8


def test_a_kernel_that_does_not_end_is_told_so(run):
    source = EXAMPLE.start.replace("    turned[lane]", "    while (shared[lane] < 10000) { }\n    turned[lane]")
    found = mark(EXAMPLE, source, run)
    assert found.causes[0].kind in ("livelock", "timeout")
    assert "the loop on line 12" in found.causes[0].words


def test_a_long_loop_over_many_workgroups_is_told_and_does_not_end_the_process(run):
    """Recording all workgroups at once would take more memory than a sandboxed process may have."""
    task = load(TASKS / "grey")
    loop = "for (uint k = 0; k < 10000; k++) { float3 d = picture[k % size.x]; s += d.x; }"
    body = f"    float s = 0;\n    {loop}\n    grey[pixel.y] = s;\n}}\n"
    cause = mark(task, task.start[: task.start.rindex("}")] + body, run).causes[0]
    assert cause.kind != "error", cause.words


def test_a_wait_for_a_workgroup_that_comes_later_is_told_with_that_workgroup_and_nothing_else(run):
    """Workgroups run one after another here, so that the wait never ends."""
    task = load(TASKS / "not-yet-begun")
    (cause,) = mark(task, task.start, run).causes
    assert cause.kind == "livelock"
    assert cause.step > 0
    assert (
        "thread 0 of group 1 (thread 8 of all) changes it on line 30, but a device may begin that group only when this one has"
        in cause.words
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('#include "/etc/passwd"', "#include is not allowed"),
        ("import no_such_module;", "There is no module no_such_module"),
        ("static uint broken = nobody;", "undefined identifier"),
    ],
)
def test_a_source_that_is_refused_or_does_not_compile_is_an_error_with_its_reason(line, said, run):
    found = mark(EXAMPLE, f"{line}\n{EXAMPLE.start}", run)
    assert found.causes[0].kind == "error"
    assert said in found.causes[0].words


def test_a_kernel_without_the_task_s_buffer_is_told_which_one_it_lacks(run):
    found = mark(EXAMPLE, EXAMPLE.solution.replace("turned", "mine"), run)
    assert found.causes[0].kind == "error"
    assert "turned" in found.causes[0].words


def test_a_process_that_dies_marks_its_own_kernel_alone(run):
    wild = EXAMPLE.start.replace(
        "    turned[lane]", "    uint* p = (uint*)(uint64_t(lane) * 4096 + 64);\n    *p = 3;\n    turned[lane]"
    )
    found = mark(EXAMPLE, wild, run)
    assert not found.passed
    assert mark(EXAMPLE, EXAMPLE.solution, run).passed


SUM_OF_WAVE = """
StructuredBuffer<uint> row;
RWStructuredBuffer<uint> turned;

[shader("compute")]
[numthreads(16, 1, 1)]
void add(uint lane : SV_GroupIndex)
{
    uint sum = WaveActiveSum(row[lane]);
    if (WaveIsFirstLane())
        InterlockedAdd(turned[0], WHAT);
}
"""


def test_a_kernel_that_counts_on_a_width_of_waves_fails_with_another(run):
    case = Case("sixteen ones", {"row": np.ones(16, np.uint32)})
    task = replace(
        EXAMPLE, cases=(case,), reference=lambda row: {"turned": np.array([16], np.uint32)}, mistakes=(), limits=(), waves=(4, 16)
    )
    assert mark(task, SUM_OF_WAVE.replace("WHAT", "sum"), run).passed
    found = mark(task, SUM_OF_WAVE.replace("WHAT", "8"), run)  # right where waves have 8 lanes
    assert not found.passed
    assert {one.waves for one in found.cases} == {0, 4, 16}
    assert found.causes[0].kind == "output"


def test_a_hidden_case_tells_no_number(run):
    """The kernel writes what it was given where a learner might read it: in the index that is out of bounds, and in the output."""
    source = EXAMPLE.solution.replace(
        "turned[lane] = shared[63 - lane];", "turned[lane == 5 ? 4000 + row[0] : lane] = shared[63 - lane];"
    )
    shown = next(case for case in EXAMPLE.cases if not case.hidden)
    task = replace(EXAMPLE, cases=(replace(shown, hidden=True),))
    found = mark(task, source, run)
    assert found.causes
    assert all(cause.hidden and cause.step == 0 and "400" not in cause.words for cause in found.causes)


def test_a_folder_is_graded_from_the_command_line(tmp_path: Path):
    """One passes, one races, one does not end, and one looks for files: each has its row."""
    kernels = {
        "anna": EXAMPLE.solution,
        "ben": EXAMPLE.start,
        "cleo": EXAMPLE.start.replace("    turned[lane]", "    for (;;) { }\n    turned[lane]"),
        "dora": f'#include "/etc/passwd"\n{EXAMPLE.start}',
    }
    for student, source in kernels.items():
        (tmp_path / "in" / student).mkdir(parents=True)
        (tmp_path / "in" / student / "turn-a-row.slang").write_text(source)
    table = tmp_path / "grades.csv"
    command = [sys.executable, "-m", "splatscope", "grade", str(tmp_path / "in"), "--csv", str(table)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "4 submissions of 4 students: 1 passed" in done.stdout.replace("\n", " ")
    with table.open(newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert [rows[student]["passed"] for student in kernels] == ["1", "0", "0", "0"]
    assert rows["ben"]["cause"] == "race"
    assert rows["cleo"]["cause"] in ("timeout", "livelock")
    assert "not allowed" in rows["dora"]["words"]
