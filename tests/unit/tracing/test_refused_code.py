"""Code that the compiler refused when instrumented stays as written."""

import pytest

from splatscope.gpu.kernel import CompileError
from splatscope.slang.program import Program
from splatscope.tracing.instrument.instrumenter import Exclusions
from splatscope.tracing.retries import exclude_refused

KERNEL = """int one() { return 1; }
static const int N = one();
[shader("compute")] [numthreads(1, 1, 1)]
void main()
{
    int x = 1;
}
"""
PROGRAM = Program.read(KERNEL, "k.slang")
ONE, MAIN = (("k.slang", block.start) for block in PROGRAM.own.source.functions())


def refuse(line: int | None, excluded: Exclusions, is_nearly_last: bool = False) -> Exclusions:
    quoted = KERNEL.split("\n")[line - 1] if line else ""
    said = f"error[E1]: no\n --> k.slang:{line}:1\n  |\n{line} | {quoted}\n" if line else "error: it crashed."
    error = CompileError(said)
    error.diagnostics = said
    exclude_refused(error, PROGRAM, {"k.slang": KERNEL}, excluded, is_nearly_last)
    return excluded


def test_first_a_line_then_its_function():
    excluded = refuse(6, Exclusions())
    assert (excluded.lines, excluded.functions) == ({("k.slang", 6)}, {})
    refuse(6, excluded)
    assert excluded.functions.keys() == {MAIN}


def test_a_line_outside_of_functions_excludes_what_the_compiler_runs():
    assert refuse(2, Exclusions()).functions == {ONE: "the compiler runs it"}


@pytest.mark.parametrize(("line", "nearly_last"), [(None, False), (6, True)])
def test_where_nobody_can_be_blamed_the_entry_point_is_the_last_to_go(line, nearly_last):
    excluded = refuse(line, Exclusions(), nearly_last)
    assert excluded.functions.keys() == {ONE}
    assert refuse(line, excluded, nearly_last).functions.keys() == {ONE, MAIN}


def test_a_reason_ends_without_a_full_stop():
    (reason,) = refuse(None, Exclusions()).functions.values()
    assert reason == "the compiler refused its recorded form: error: it crashed"
