"""A mark from the outcomes of cases: hidden ones wait for the others, and one cause is told once."""

from dataclasses import replace

import numpy as np
import pytest

from splatscope.exercises import marking
from splatscope.exercises.marking import count_of_runs, mark
from splatscope.exercises.task import load
from splatscope.paths import TASKS
from splatscope.services.case_outcomes import CaseOutcome
from splatscope.tracing.progress import COMPILING, RUNNING, progress_to, report_progress

EXAMPLE = load(TASKS / "turn-a-row")
SHOWN = next(case for case in EXAMPLE.cases if not case.hidden)
HIDDEN = next(case for case in EXAMPLE.cases if case.hidden)
TASK = replace(EXAMPLE, cases=(SHOWN, replace(SHOWN, name="the same again"), HIDDEN), waves=(4,))


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], int]]:
    """The rounds of cases that were run: their names and the width of waves. All leave what `left` makes of the right numbers."""
    seen: list[tuple[list[str], int]] = []

    def run(task, cases, source, waves, _):
        seen.append(([case.name for case in cases], waves))
        if source == "no such device" and waves:
            return None
        for _ in cases:
            for stage in (COMPILING, RUNNING):
                report_progress(stage)
        outcomes = []
        for case in cases:
            words = np.ascontiguousarray(task.expected(case)["turned"]).view(np.uint32).copy()
            if source == "wrong" or (source == "wrong if hidden" and case.hidden):
                words[3] = 1
            writers = {"turned": np.ones(words.size, np.int32)}
            outcomes.append(CaseOutcome(outputs={"turned": words}, plain={"turned": words}, writers=writers))
        return outcomes

    monkeypatch.setattr(marking, "_run", run)
    return seen


def never(*_):
    raise AssertionError("what runs in the sandbox is replaced here")


def test_all_rounds_are_run_and_hidden_cases_last(rounds):
    found = mark(TASK, "right", never)
    assert found.passed
    assert found.points == 1.0
    shown = [SHOWN.name, "the same again"]
    assert rounds == [(shown, 0), (shown, 4), ([HIDDEN.name], 0)]


def test_the_number_of_each_run_is_reported_as_progress(rounds):
    numbers: list[int] = []
    with progress_to(numbers.append):
        mark(TASK, "right", never)
    assert numbers == [1, 2, 3, 4, 5]
    assert count_of_runs(TASK) == 5
    with progress_to(numbers.append):
        mark(TASK, "no such device", never)
    assert numbers[5:] == [1, 2, 5]


def test_what_is_wrong_in_the_first_round_keeps_the_others_from_running(rounds):
    found = mark(TASK, "wrong", never)
    assert len(rounds) == 1
    assert [case.passed for case in found.cases] == [False, False, None, None, None]
    assert found.points == 0.0


def test_the_same_cause_in_two_cases_is_told_once(rounds):
    (cause,) = mark(TASK, "wrong", never).causes
    assert cause.case == SHOWN.name


def test_points_are_the_part_of_the_cases_that_are_passed(rounds):
    found = mark(TASK, "wrong if hidden", never)
    assert not found.passed
    assert found.points == 4 / 5


def test_a_width_that_this_machine_cannot_have_is_left_out(rounds):
    found = mark(TASK, "no such device", never)
    assert found.passed
    assert {case.waves for case in found.cases} == {0}


@pytest.mark.parametrize(
    "forged", [({}, [b""]), ({"outcomes": [{}]}, [b""]), ({"outcomes": [3]}, []), ({"outcomes": None}, [b"12"])]
)
def test_an_answer_that_is_none_is_an_error_of_its_kernel(forged):
    (cause,) = mark(EXAMPLE, EXAMPLE.start, lambda *_: forged).causes
    assert cause.kind == "error"
    assert "its answer is malformed" in cause.words
