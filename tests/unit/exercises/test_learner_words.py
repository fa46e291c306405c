"""What a learner is told: loops without an end, threads beyond an edge, and the compiler's errors in plain words."""

import numpy as np
import pytest

from splatscope.exercises.compiler_words import PYTHON, is_python, meaning_of
from splatscope.exercises.learner_words import group_name, words_of
from splatscope.exercises.task import Case
from splatscope.services.case_outcomes import CaseOutcome
from splatscope.tracing.checks.finding import Finding

HEAD = 'RWStructuredBuffer<uint> o;\n[shader("compute")]\n[numthreads(8, 4, 1)]\nvoid k(uint2 pixel : SV_DispatchThreadID)\n{\n'
SIX = "    for (uint i = 10; i >= 0; i--)\n        o[i] = 1;\n}\n"
CASE = Case("20 × 6 pixels", {"size": np.array([20, 6], np.uint32)}, groups=(3, 2, 1))


def said(finding: Finding, source: str = "", outcome: CaseOutcome | None = None, case: Case = CASE) -> str:
    return words_of(finding, 0, case, outcome or CaseOutcome(), source)


def test_a_loop_that_does_not_end_is_told_with_its_line_and_turns():
    ended = Finding("timeout", "k", "The loop on line 6 was ended in thread 0 after 20,000 iterations.", [6], [0])
    assert said(ended) == "Too many steps: the loop on line 6 was still running after 20,000 turns. Does it ever end?"


def test_a_uint_that_counts_down_to_zero_is_said_to_be_always_true():
    ended = Finding("timeout", "k", "The loop on line 6 was ended in thread 0 after 20,000 iterations.", [6], [0])
    assert "On line 6, `i >= 0` is always true: i is a uint" in said(ended, HEAD + SIX)
    assert "always true" not in said(ended, HEAD + SIX.replace("uint", "int"))
    below = Finding("out-of-bounds", "o", "Thread 0 writes o[-1] on line 7, which is outside.", [7], [0], -1)
    assert "On line 6, `i >= 0` is always true" in said(below, HEAD + SIX)


def test_a_thread_beyond_the_edge_is_named_by_its_place():
    race = Finding("race", "grey", "Thread 4 of group 2,0,0 writes.", [9], [4, 8], 20)
    beyond = CaseOutcome(who=[[((2, 0, 0), 4), ((0, 0, 0), 8)]], group_size=(8, 4, 1))
    assert said(race, "", beyond) == (
        "Thread 4 of workgroup (2, 0) writes. Thread (20, 0) is beyond the right edge: it should do nothing."
    )


def test_threads_that_all_write_everything_are_told_to_write_their_own():
    words = np.zeros(64, np.uint32)
    outcome = CaseOutcome(outputs={"o": words}, counts={"threads": 32, "writes o": 32 * 64}, elements={"o": 64}, who=[[]])
    race = Finding("benign-race", "o", "…", [9], [0, 32], 0)
    case = Case("64", {}, groups=(2, 1, 1))
    assert said(race, "", outcome, case).startswith(
        "All 64 threads write all 64 elements of o (line 9); each should write its own."
    )


def test_workgroups_in_a_row_are_numbered():
    assert group_name((3, 0, 0), (4, 1, 1)) == "group 3"
    assert group_name((1, 2, 0), (4, 4, 1)) == "group (1, 2)"


@pytest.mark.parametrize(
    ("line", "message", "meaning"),
    [
        ("float y = x ** 2;", "unexpected integer literal, expected ')'", "There is no **"),
        ("if (a < b and b < c)", "unexpected identifier, expected ')'", "`and` is written &&"),
        ("float y = a if a > b else b;", "unexpected 'if', expected ';'", "c ? a : b"),
        ("celsius[id] = 3;", "left of '=' is not an l-value", "begins with RW"),
        ("float3 c = picture[pixel];", "expected an expression of type 'int', got 'vector<uint,2>'", "row · width + column"),
        ("int half = count // 2;", "unexpected '}', expected ';'", "// begins a comment"),
        ("float y = 3", "unexpected identifier, expected ';'", "A ; is missing at the end of line 6"),
        ("if id >= count:", "unexpected identifier, expected '('", "No colon"),
    ],
)
def test_what_is_python_in_a_line_is_said_in_slang(line, message, meaning):
    assert meaning in meaning_of(message, 6, f"{HEAD}{line}\n}}\n")


def test_a_missing_semicolon_is_told_on_the_line_before():
    assert "line 6" in meaning_of("unexpected 'float', expected ';'", 7, f"{HEAD}float y = 3\nfloat z = 4;\n}}\n")


def test_python_as_a_whole_is_called_so():
    assert is_python("import numpy as np\n\ndef f(x):\n    return x\n")
    assert not is_python(HEAD + SIX)
    assert meaning_of("unexpected identifier", 1, "import numpy as np\n") == PYTHON


def test_a_name_that_is_declared_further_down_is_told_where():
    source = "void f()\n{\n    if (i >= count)\n        return;\n    uint i = id.x;\n}\n"
    assert meaning_of("undefined identifier 'i'.", 3, source).startswith("i is declared only on line 5.")
    assert meaning_of("undefined identifier 'j'.", 3, source).startswith("Nothing has this name here.")
    assert meaning_of("undefined identifier 'i'.", 3, source.replace("uint i", "// uint i")).startswith(
        "Nothing has this name here."
    )
