"""Why a kernel does not pass: the most telling cause first, and nothing of hidden cases."""

from dataclasses import replace

import numpy as np
import pytest

from splatscope.exercises.causes import causes_of
from splatscope.exercises.task import Case, Limit, load
from splatscope.paths import TASKS
from splatscope.services.case_outcomes import CaseOutcome
from splatscope.tracing.checks.finding import Finding

TASK = load(TASKS / "turn-a-row")
SHOWN = next(case for case in TASK.cases if not case.hidden)
HIDDEN = next(case for case in TASK.cases if case.hidden)
RACE = Finding(
    "race", "shared", "Thread 31 reads shared[32] on line 12, thread 32 writes it.", [12, 11], [31, 32], 32, [5], file="k"
)


def outcome(turned: np.ndarray, findings: tuple[Finding, ...] = (), **more) -> CaseOutcome:
    words = np.ascontiguousarray(turned).view(np.uint32).reshape(-1)
    steps = np.arange(1, words.size + 1, dtype=np.int32)
    known = {"outputs": {"turned": words}, "plain": {"turned": words}, "writers": {"turned": steps}, "counts": {"barriers": 1}}
    known["elements"] = {"turned": 64}
    return CaseOutcome(findings=list(findings), steps=[7 for _ in findings], **known | more)


def right(case: Case = SHOWN) -> np.ndarray:
    return TASK.expected(case)["turned"]


def test_a_kernel_that_leaves_the_right_numbers_passes():
    assert causes_of(TASK, SHOWN, outcome(right())) == []


def test_a_race_fails_a_kernel_that_leaves_the_right_numbers():
    (cause,) = causes_of(TASK, SHOWN, outcome(right(), (RACE,)))
    assert (cause.kind, cause.line, cause.step, cause.threads) == ("race", 12, 7, (31, 32))
    assert cause.heading == "Race on shared"


def test_a_finding_comes_before_the_wrong_numbers_that_it_leads_to():
    wrong = right().copy()
    wrong[3] += 1
    assert [cause.kind for cause in causes_of(TASK, SHOWN, outcome(wrong, (RACE,)))] == ["race", "output"]


def test_threads_that_part_at_a_barrier_come_before_the_race_that_this_leaves():
    parted = replace(RACE, kind="barrier-divergence")
    assert [cause.kind for cause in causes_of(TASK, SHOWN, outcome(right(), (RACE, parted)))] == ["barrier-divergence", "race"]


def test_of_a_kernel_that_was_ended_before_its_time_no_numbers_are_judged():
    wrong = right().copy()
    wrong[3] += 1
    waits = replace(RACE, kind="livelock")
    assert [cause.kind for cause in causes_of(TASK, SHOWN, outcome(wrong, (waits,)))] == ["livelock"]


def test_a_nan_comes_after_the_wrong_numbers_that_it_is_a_part_of():
    nan = replace(RACE, kind="nan")
    wrong = right().copy()
    wrong[3] += 1
    assert [cause.kind for cause in causes_of(TASK, SHOWN, outcome(wrong, (nan,)))] == ["output", "nan"]


def test_a_race_that_cannot_change_the_result_comes_after_the_wrong_numbers_that_it_did_not_lead_to():
    benign = replace(RACE, kind="benign-race")
    wrong = right().copy()
    wrong[3] += 1
    assert [cause.kind for cause in causes_of(TASK, SHOWN, outcome(wrong, (benign,)))] == ["output", "benign-race"]
    assert [cause.kind for cause in causes_of(TASK, SHOWN, outcome(right(), (benign,)))] == ["benign-race"]


def test_the_first_wrong_element_is_named_with_the_step_that_wrote_it():
    wrong = right().copy()
    wrong[[3, 9]] = 500
    (cause,) = causes_of(TASK, SHOWN, outcome(wrong))
    assert cause.words == "turned[3] is 500, but must be 60. 2 of 64 elements are wrong."
    assert cause.step == 4


@pytest.mark.parametrize(
    ("name", "output", "cell"), [("too-bright", "picture", "picture[1].g"), ("times-table", "table", "table[5]")]
)
def test_an_element_is_called_as_a_kernel_calls_it(name, output, cell):
    task = load(TASKS / name)
    wrong = {output: array.copy() for output, array in task.expected(task.cases[0]).items()}
    wrong[output].reshape(-1)[5] = 77
    words = {output: array.view(np.uint32).reshape(-1) for output, array in wrong.items()}
    (cause,) = causes_of(task, task.cases[0], CaseOutcome(outputs=words, plain=words))
    assert cause.words.startswith(f"{cell} is 77, but must be ")


def test_an_element_that_no_thread_wrote_is_said_to_be_so():
    wrong = right().copy()
    wrong[3] = 0
    (cause,) = causes_of(TASK, SHOWN, outcome(wrong, writers={"turned": np.zeros(64, np.int32)}))
    assert "No thread of the recorded workgroup wrote it." in cause.words


def test_numbers_that_the_plain_kernel_alone_leaves_count():
    wrong = right().copy()
    wrong[0] = 1
    (cause,) = causes_of(TASK, SHOWN, outcome(right(), plain={"turned": wrong}))
    assert cause.words == "turned[0] is 1, but must be 63."


def test_a_typical_mistake_is_known_by_its_numbers():
    given = np.asarray(SHOWN.inputs["row"])
    (cause,) = causes_of(TASK, SHOWN, outcome(given))
    assert cause.kind == "mistake unturned"
    assert cause.words.startswith("The row comes out as it went in")


def test_no_mistake_is_guessed_where_a_race_explains_the_numbers():
    given = np.asarray(SHOWN.inputs["row"])
    assert [cause.kind for cause in causes_of(TASK, SHOWN, outcome(given, (RACE,)))] == ["race", "output"]


def test_a_mistake_that_leads_to_a_race_comes_before_it():
    task = replace(TASK, mistakes=(replace(TASK.mistakes[0], leads_to=("race",)),))
    given = np.asarray(SHOWN.inputs["row"])
    assert [cause.kind for cause in causes_of(task, SHOWN, outcome(given, (RACE,)))] == ["mistake unturned", "race"]


def test_masked_elements_of_a_mistake_may_hold_anything():
    def left(row):
        return {"turned": np.ma.masked_array(row, np.arange(64) == 5)}

    task = replace(TASK, mistakes=(replace(TASK.mistakes[0], outputs=left),))
    given = np.asarray(SHOWN.inputs["row"]).copy()
    given[5] = 77
    assert causes_of(task, SHOWN, outcome(given))[0].kind == "mistake unturned"


def test_a_finding_in_another_workgroup_names_that_workgroup():
    (cause,) = causes_of(TASK, SHOWN, outcome(right(), (replace(RACE, events=[]),), who=[[((0, 0, 0), 31), ((2, 0, 0), 0)]]))
    assert (cause.group, cause.lane) == ((2, 0, 0), 0)


def test_where_nothing_is_written_that_is_said():
    (cause,) = causes_of(TASK, SHOWN, outcome(np.zeros_like(right()), writers={"turned": np.zeros(64, np.int32)}, elements={}))
    assert cause.words == "Nothing is written to turned: all 64 elements are as they were."


def test_a_limit_that_is_not_kept_fails_a_kernel_that_is_right_otherwise():
    (cause,) = causes_of(TASK, SHOWN, outcome(right(), counts={"barriers": 2}))
    assert cause.kind == "limit barriers"
    assert cause.words.startswith("A thread meets 2 barriers; at most 1 is allowed.")
    assert cause.heading == "Too many barriers"


def test_too_few_count_as_well():
    task = replace(TASK, limits=(Limit("writes", least=64, name="shared", why="It goes through shared memory."),))
    (cause,) = causes_of(task, SHOWN, outcome(right(), counts={"writes shared": 1}))
    assert cause.words == ("The workgroup makes 1 write to shared; at least 64 are needed. It goes through shared memory.")


def test_work_that_is_left_to_one_thread_is_told_so():
    task = replace(TASK, limits=(Limit("accesses", most=8, name="turned", why="The work is for all threads."),))
    (cause,) = causes_of(task, SHOWN, outcome(right(), counts={"accesses turned": 64}))
    assert cause.kind == "limit accesses"
    assert cause.words == "One thread makes 64 accesses to turned; at most 8 are allowed. The work is for all threads."


def test_what_was_not_looked_at_does_not_pass():
    (cause,) = causes_of(TASK, SHOWN, outcome(right(), missed=["Nothing was recorded."]))
    assert (cause.kind, cause.words) == ("incomplete", "Not everything could be looked at. Nothing was recorded.")


def test_a_kind_that_the_task_allows_is_no_cause():
    assert causes_of(replace(TASK, allow=("race",)), SHOWN, outcome(right(), (RACE,))) == []


def test_a_buffer_that_is_gone_is_named():
    (cause,) = causes_of(TASK, SHOWN, outcome(right(), outputs={"other": right()}))
    assert cause.kind == "error"
    assert "There is no buffer turned" in cause.words


def test_the_compiler_s_error_is_the_cause_with_its_line():
    failed = CaseOutcome("k.slang:3: undefined identifier", [{"severity": "error", "line": 3, "message": "undefined identifier"}])
    (cause,) = causes_of(TASK, SHOWN, failed)
    assert (cause.kind, cause.line) == ("error", 3)


@pytest.mark.parametrize("findings", [(), (RACE,)])
def test_no_number_of_a_hidden_case_is_told(findings):
    wrong = right(HIDDEN).copy()
    wrong[5] = 987_654
    for cause in causes_of(TASK, HIDDEN, outcome(wrong, findings)):
        assert cause.hidden
        assert (cause.step, cause.threads) == (0, ())
        for secret in ("987", "31", "32", str(right(HIDDEN)[5]), "[5]"):
            assert secret not in cause.words


def test_floats_are_equal_within_the_tolerance_of_the_case():
    expected = np.linspace(0, 1, 64, dtype=np.float32)
    task = replace(TASK, reference=lambda row: {"turned": expected}, mistakes=())
    near = expected + np.float32(1e-5)
    assert causes_of(task, replace(SHOWN, tolerance=1e-4), outcome(near)) == []
    assert causes_of(task, SHOWN, outcome(near))[0].kind == "output"
