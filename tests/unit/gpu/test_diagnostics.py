"""Parsing the output of Slang 2026.12 for faulty sources, which diagnostics.json has word for word."""

import json
import pickle
from pathlib import Path

import pytest

from splatscope.gpu.diagnostics import Diagnostic, blamed_lines, diagnostics_of, first_error, one_line, parse
from splatscope.gpu.kernel import CompileError, is_refused

SAID = json.loads(Path(__file__).with_name("diagnostics.json").read_text())

# The first error, and the lines of the source as it was written that an editor marks.
EXPECTED = {
    "undefined": ("a.slang:7:14: undefined identifier 'nobody'", [("error", 6)]),
    "two": ("a.slang:7:14: undefined identifier 'nobody'", [("error", 6), ("error", 7)]),
    "type": (
        "a.slang:7:24: expected an expression of type 'vector<float,3>', got 'matrix<float,2,2>'",
        [("error", 6), ("error", 7)],
    ),
    "syntax": ("a.slang:8:1: unexpected '}', expected ';'", [("error", 7)]),
    "include": ("a.slang:2:10: failed to find include file 'nothing.slang'", [("error", 1)]),
    "import": ("a.slang:2:8: cannot open file 'nothing_here.slang'", [("error", 1)]),
    "warning": ("a.slang:9:18: undefined identifier 'nobody'", [("warning", 6), ("error", 8)]),
    "imported": ("a.slang:8:12: undefined identifier 'nothing'", [("error", 7)]),
    "overload": ("a.slang:9:13: no overload for 'f' applicable to arguments of type (int, int)", [("error", 8)]),
    "differentiable": (
        "a.slang:3:26: derivative cannot be propagated through call to non-backward-differentiable function `g`, "
        "use 'no_diff' to clarify intention",
        [("error", 2)],
    ),
    "static": ("a.slang:3:15: unexpected integer literal, expected identifier", [("error", 2)]),
    "macro": ("a.slang:2:11: undefined identifier 'nobody'", [("error", 1)]),
    "recursion": (
        "a.slang:3:37: recursion detected in call to 'f', but the current code generation target does not allow recursion",
        [("error", 2)],
    ),
    "generic": ("a.slang:3:32: no overload for '+' applicable to arguments of type (T, int)", [("error", 2)]),
    "error_directive": ("a.slang:2:2: #error: stop here", [("error", 1)]),
    "unterminated": ("a.slang:8:1: unexpected end of file, expected '}'", [("error", 7)]),
    "missing_return": ("a.slang:3:6: non-void function must return in all cases for target 'spirv'", [("error", 2)]),
    "static_index": ("array index out of bounds", []),
    "redefine": ("a.slang:4:6: redeclared here", [("error", 3), ("error", 8)]),
    "inout": ("a.slang:8:7: argument passed to parameter '0' must be l-value", [("error", 7)]),
    "counter": (
        "a.slang:3:27: IncrementCounter is not available in a compute kernel on this device: give the kernel a counter of your "
        "own, and take numbers with InterlockedAdd",
        [("error", 2)],
    ),
    "private": ("a.slang:8:12: 'x' is not accessible from the current context", [("error", 7), ("error", 7)]),
}


def test_every_text_is_tried():
    assert EXPECTED.keys() == SAID.keys()


@pytest.mark.parametrize("name", SAID)
def test_the_first_error_is_one_line(name):
    assert first_error(SAID[name]["diagnostics"]) == EXPECTED[name][0]


@pytest.mark.parametrize("name", SAID)
def test_diagnostics_stand_on_the_lines_of_the_source_as_it_was_written(name):
    source, words = SAID[name]["source"], SAID[name]["diagnostics"]
    found = diagnostics_of(words, source, "a.slang")
    assert [(diagnostic.severity, diagnostic.line) for diagnostic in found] == EXPECTED[name][1]
    assert all(1 <= diagnostic.column < diagnostic.end for diagnostic in found)


@pytest.mark.parametrize("name", SAID)
def test_errors_blame_lines_and_warnings_do_not(name):
    source, words = SAID[name]["source"], SAID[name]["diagnostics"]
    errors = {("a.slang", line) for severity, line in EXPECTED[name][1] if severity == "error"}
    assert blamed_lines(words, {"a.slang": source}) == errors
    assert blamed_lines(words, {"folder/a.slang": source}) == {("folder/a.slang", line) for _, line in errors}
    assert blamed_lines(words, {"other.slang": source}) == set()


def test_the_marked_code_is_measured():
    (found,) = diagnostics_of(SAID["undefined"]["diagnostics"], SAID["undefined"]["source"], "a.slang")
    assert found == Diagnostic(6, 14, 20, "error", "undefined identifier 'nobody'")


def test_a_line_stays_where_slangpy_puts_none_before_it():
    source = SAID["undefined"]["source"]
    words = SAID["undefined"]["diagnostics"].replace("a.slang:7:", "a.slang:6:").replace("7 | ", "6 | ")
    assert [message.line_in(source) for message in parse(words) if message.file] == [6]


def test_what_concerns_another_file_is_marked_on_the_first_line_with_its_name():
    (found,) = diagnostics_of(SAID["undefined"]["diagnostics"], "", "kernel.slang")
    assert found == Diagnostic(1, 1, 2, "error", "a.slang:7: undefined identifier 'nobody'")


def test_where_the_compiler_itself_fails_the_code_it_worked_on_is_blamed():
    words = (
        "/folder/a.slang(3): note 99999: an internal error threw an exception while working on code near this location\n"
        "(0): error 99999: Slang compilation aborted due to an exception of class Slang::InternalError: unexpected\n"
    )
    assert blamed_lines(words, {"a.slang": "one\ntwo\nthree\nfour"}) == {("a.slang", 3)}
    assert diagnostics_of(words, "one\ntwo\nthree", "a.slang") == []
    assert first_error(words).startswith("/folder/a.slang(3): note 99999")


@pytest.mark.parametrize("name", ["recursion", "missing_return", "static_index"])
def test_a_pipeline_that_slang_refuses_is_not_refused_by_the_driver(name):
    words = SAID[name]["diagnostics"]
    assert not is_refused(RuntimeError(words))
    assert is_refused(RuntimeError(words[: words.index("slang: ")]))
    assert is_refused(RuntimeError(words.replace("slang: error", "slang: warning")))


def test_an_error_of_the_compiler_itself_has_its_line():
    help_ = "For assistance, file an issue on GitHub (https://github.com/shader-slang/slang/issues)"
    where = " --> /folder/a.slang:3:5\n  |\n3 | two\n  | ^\n--'\n"
    words = f"RHI messages:\nslang: internal error[E99999]: Slang internal compiler error\n{help_}\n{where}"
    words += (
        f"error[E99997]: Slang compilation aborted due to an exception of N5Slang25AbortCompilationExceptionE\n{help_}\n{where}"
    )
    assert first_error(words, {"a.slang": "one\ntwo\nthree"}) == "a.slang:2:5: Slang internal compiler error"
    assert blamed_lines(words, {"a.slang": "one\ntwo\nthree"}) == {("a.slang", 2)}


def test_words_that_are_no_diagnostics():
    assert parse("nothing is wrong") == []
    assert first_error("nothing is wrong\nat all") == "nothing is wrong"
    assert first_error("") == "The source does not compile."
    assert diagnostics_of("nothing is wrong", "", "a.slang") == []


def test_one_line_for_a_page():
    found = diagnostics_of(SAID["warning"]["diagnostics"], SAID["warning"]["source"], "a.slang")
    assert one_line(found, "a.slang", "something else") == "a.slang:8:18: undefined identifier 'nobody'"
    assert one_line(found[:1], "a.slang", "something else") == "something else"


@pytest.mark.parametrize("name", [name for name, (_, marks) in EXPECTED.items() if marks])
def test_the_first_error_has_its_line_in_the_source_that_is_known(name):
    said = SAID[name]
    line = next(line for severity, line in EXPECTED[name][1] if severity == "error")
    assert first_error(said["diagnostics"], {"a.slang": said["source"]}).startswith(f"a.slang:{line}:")
    error = pickle.loads(pickle.dumps(CompileError(said["diagnostics"], {"folder/a.slang": said["source"]})))
    assert (error.file, error.line) == ("folder/a.slang", line)
    assert str(error).startswith(f"a.slang:{line}:")


@pytest.mark.parametrize(
    ("code", "said", "mend"),
    [
        ("    unsigned int a = 1;", "unexpected identifier, expected ';'", ": write `uint` for `unsigned int`"),
        ("technique T { pass P { } }", "unexpected '{', expected ';'", ": Slang has no techniques"),
        ("SamplerState s { Filter = MIN; };", "unexpected '{', expected ';'", ": write `SamplerState name;`"),
        ("    float s = v;", "expected an expression of type 'float', got 'vector<float,3>'", ": name the component"),
        ("    uint a = 1 b;", "unexpected identifier, expected ';'", ""),
    ],
)
def test_what_direct3d_takes_is_refused_with_its_mend(code, said, mend):
    words = f"error[E20001]: {said}\n --> a.hlsl:1:3\n  |\n1 | {code}\n  |   ^ {said}.\n--'\n"
    assert first_error(words, {"a.hlsl": code}).startswith(f"a.hlsl:1:3: {said}{mend}")
    assert bool(mend) == (": " in first_error(words, {"a.hlsl": code}).partition("1:3: ")[2])


def test_a_character_that_the_compiler_cannot_read_is_named():
    words = (
        'Failed to load slang module "m" from source\n'
        "/folder/a.slang(6): error 10000: illegal character '\\'\n    left[i] = i \\ 2;\n                ^\n"
        "error[E39999]: import failed due to compilation error\n"
    )
    source = "\n\n\n\n    left[i] = i \\ 2;\n"
    assert first_error(words, {"a.slang": source}) == "a.slang:5:17: illegal character '\\'"
    [mark] = [mark for mark in diagnostics_of(words, source, "a.slang") if mark.severity == "error"]
    assert (mark.line, mark.column, mark.end) == (5, 17, 18)
