"""Unrolled loops are recorded as loops, where that changes nothing."""

import pytest

from splatscope.slang.loops import (
    attributes_before,
    is_counted,
    is_unrolled,
    line_of_lossy_unrolling,
    loops_that_may_not_end,
    roll,
    runs_more_than_once,
    without_unrolling,
)
from splatscope.slang.source import Source

LOOP = """
void f(uint n, float w, uint2 at)
{{
    float v[4]; uint u[4];
    [ForceUnroll]
    for (uint i = 0; i < 4; i++)
        {}
}}
"""


@pytest.mark.parametrize(
    ("body", "rolls"),
    [
        ("v[i] = load(i, n);", True),
        ("{ v[i] = load(i + 4 * n, at); }", True),
        ("u[i] = n;", True),
        ("v[i] = load(i, w);", False),  # the shares of w's gradient would be added up in another order
        ("v[i] = cos(i);", False),  # the compiler evaluates it
        ("v[i] = n * cos(float(i));", False),
        ("v[i] = load(at.x);", False),
        ("v[n] = load(i, n);", False),
        ("{ v[i] = load(i, n); u[i] = n; }", False),
        ("v[i] += load(i, n);", False),
        ("v[i] = load(i, unknown);", False),
    ],
)
def test_a_loop_is_rolled_only_where_no_result_can_tell(body, rolls):
    text = roll(LOOP.format(body))
    assert ("[loop] [MaxIters(4)]" in text) == rolls == ("[ForceUnroll]" not in text)
    assert text.count("\n") == LOOP.format(body).count("\n")


@pytest.mark.parametrize(
    ("loop", "counted"),
    [
        ("for (int i = 0; i < 8; i++) x += i;", True),
        ("for (uint i = a; i <= COUNT; i += 2) { x += i; }", True),
        ("for (int i = 0; i < n; i++) x += i;", False),
        ("for (int i = 0; i < 8; i++) i -= 1;", False),
        ("for (int i = 8; i > 0; i--) x += i;", False),
        ("for (int i = 0; i < 8; i++) { (i) = 0; }", False),
        ("for (int i = 0; i < 8; i++) { (i)--; }", False),
        ("for (int i = 0; i < 8; i++) { if (i-->0) x = 1; }", False),
        ("for (int i = 0; i < 8; i++) { i <<= 1; }", False),
        ("for (int i = 0; i < 8; i++) { InterlockedAdd(i, -1); }", False),
        ("for (int i = 0; i < 8; i++) { x = i <= 3 && i == 2 ? f(i) : (i); }", True),
        ("for (uint i = 0; i <= 4294967295; i++) { }", False),
        ("for (int i = 0; i <= 2147483647; i++) { }", False),
        ("while (x < 8) x++;", False),
    ],
)
def test_a_loop_is_counted_where_a_constant_bounds_it(loop, counted):
    assert is_counted(loop, {"COUNT"}) == counted


@pytest.mark.parametrize(
    ("loop", "longer"),
    [
        ("for (int i = 0; i < 8; i++) x += i;", True),
        ("for (uint i = 6; i < 8; ++i) x += i;", True),
        ("for (int i = 0; i < 1; i++) x += i;", False),
        ("for (int i = 7; i < 8; i++) x += i;", False),
        ("for (int i = 0; i <= 1; i++) x += i;", True),
        ("for (int i = 0; i <= 0; i++) x += i;", False),
        ("for (int i = 0; i < COUNT; i++) x += i;", False),
        ("for (int i = 0; i < 8; i += 8) x += i;", False),
    ],
)
def test_a_loop_runs_more_than_once_where_its_numbers_say_so(loop, longer):
    assert runs_more_than_once(loop) == longer


def test_attributes_before_a_loop_are_its_own():
    code = "x = a[1]; [loop] [MaxIters(4)] for (;;) {}"
    at = code.index("for")
    assert attributes_before(code, at).strip() == "[loop] [MaxIters(4)]"
    assert not is_unrolled(code, at)
    assert is_unrolled("[ForceUnroll] for (;;) {}", 14)
    assert attributes_before("x = 1; for (;;) {}", 7).strip() == ""


def test_loops_that_may_run_forever_are_named_by_line():
    text = "void f(int n) {\nfor (int i = 0; i < 4; i++) n++;\nwhile (n > 0) n--;\ndo n++;\nwhile (n < 9);\nfor (;;) {}\n}"
    source = Source(text)
    assert loops_that_may_not_end(source, set(), set()) == [3, 4, 6]
    assert loops_that_may_not_end(source, {(3, 1), (6, 1)}, set()) == [4]


def test_an_unrolled_loop_stays_a_loop_and_every_column_its_place():
    source = (
        "[unroll] for (int i = 0; i < 4; i++) a += i;\n  [ForceUnroll]\nfor (;;) b;\n"
        "[unroll(8)] for (;;) c; d[unrolled]; [loop] for (;;) e;"
    )
    rolled = without_unrolling(source)
    assert len(rolled) == len(source)
    assert rolled.count("[loop]") == 4
    assert "nroll" not in rolled.replace("d[unrolled]", "")
    assert rolled.index("for (int") == source.index("for (int")


def test_where_derivatives_are_taken_loops_stay_unrolled():
    source = "[Differentiable] float f(float x) { [ForceUnroll] for (int i = 0; i < 4; i++) x *= x; return x; }"
    assert without_unrolling(source) == source
    assert without_unrolling(source.replace("[Differentiable]", "// Differentiable\n")) != source


@pytest.mark.parametrize(
    ("loop", "line"),
    [
        ("[ForceUnroll] for (int i = 0; i < 3; i++)\n{\n  n += 2;\n  if (max(n, g(1)) > 4)\n    break;\n}", 2),
        ("[ForceUnroll]\nfor (;;) { n++; if ((n)) { break; } }", 3),
        ("[forceunroll(4)] for (;;) { if (a) n++; else if (b) break; /* } */ }", 2),
        ("[ForceUnroll] for (;;) { n++; if (n > 4) break; n++; }", 0),
        ("[ForceUnroll] for (;;) { while (n) break; }", 0),
        ("[unroll] for (;;) { n++; if (n > 4) break; }", 0),
        ("[ForceUnroll] for (;;) n++;", 0),
        ("// [ForceUnroll] for (;;) { if (n) break; }", 0),
        ("[ForceUnroll] for (", 0),
        ("[ForceUnroll] for (;;) { ) break; }", 0),
        ("[ForceUnroll] for (;;) {" * 3_000, 0),
    ],
)
def test_the_unrolled_loop_that_the_compiler_gets_wrong_is_found(loop, line):
    assert line_of_lossy_unrolling(f"void f() {{ int n = 0;\n{loop}\n}}") == line


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("for (int i = 0; i < 8; i++)\nfor (int j = 0; j < 8; j++) i = 0;", [2]),
        ("for (int i = 0; i < 8; i++) if (a) x = 1; else i = 0;", [2]),
        ("do if (a) { b(); }\nwhile (a);", [2]),
        ("do { while (b) a(); } while (a);", [2, 2]),
        ("for (int i = 0; i < 8; i++) if (a) if (b) x = 1; else x = 2; else x = 3; while (c) { }", [2]),
        ("for (int i = 0; i < 8; i++) do x++; while (x < 3); i = 4;", [2]),
        ("do { try f(); }\ncatch (e: E) { while (a); }", [3]),
        ("for (int i = 0; i < 8; i++) do { try f(); } catch (e: E) { } catch { } i = 4;", []),
        ("for (int i = 0; i < 8; i++) do { try f(); } catch (e: E) { } catch { i = 4; }", [2]),
    ],
)
def test_a_loop_is_as_long_as_its_statement(body, lines):
    assert loops_that_may_not_end(Source(f"void f() {{\n{body}\n}}"), set(), set()) == lines


def test_a_subscript_is_no_attribute_and_a_float_after_a_comma_no_integer():
    assert without_unrolling("a[unroll] = 2;") == "a[unroll] = 2;"
    assert "[loop]" in roll("void f(uint n) {\n[forceunroll]\nfor (uint i = 0; i < 4; i++)\nv[i] = load(i, n);\n}")
    text = "uint n; float a, n;\n[ForceUnroll]\nfor (uint i = 0; i < 4; i++)\nv[i] = n * i;\n"
    assert roll(text) == text
