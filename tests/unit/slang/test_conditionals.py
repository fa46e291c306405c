"""Which branches of `#if` are known to be skipped; every other is kept."""

import pytest

from splatscope.slang.conditionals import Conditions
from splatscope.slang.program import Program


def kept(text: str, *others: str, **given: str) -> str:
    """Return the letters A to F that are left of a text, without directives."""
    visible = Conditions.of([text, *others], given).visible(text)
    assert len(visible) == len(text)
    assert [len(line) for line in visible.split("\n")] == [len(line) for line in text.split("\n")]
    return "".join(line for line in visible.split("\n") if line in tuple("ABCDEF"))


CHAIN = "#if X == 1\nA\n#elif X == 2\nB\n#else\nC\n#endif\nD"


@pytest.mark.parametrize(
    ("text", "given", "left"),
    [
        ("#ifdef X\nA\n#else\nB\n#endif", {}, "B"),
        ("#ifdef X\nA\n#else\nB\n#endif", {"X": ""}, "A"),
        ("#ifndef X\nA\n#endif\nB", {}, "AB"),
        ("#define X\n#ifdef X\nA\n#else\nB\n#endif", {}, "A"),
        ("#define X 2\n" + CHAIN, {}, "BD"),
        (CHAIN, {"X": "1"}, "AD"),
        (CHAIN, {"X": "0x7"}, "CD"),
        (CHAIN, {}, "CD"),
        ("#if 0\nA\n#endif\nB", {}, "B"),
        ("#if 1\nA\n#else\nB\n#endif", {}, "A"),
        ("#if defined(X) && !defined(Y) || 0\nA\n#else\nB\n#endif", {"X": "5"}, "A"),
        ("#if defined X && X > 6\nA\n#endif\nB", {"X": "(5u)"}, "B"),
        ("#if 0\n#if 1\nA\n#else\nB\n#endif\nC\n#else\nD\n#endif", {}, "D"),
        ("#ifdef X\n#define Y 1\n#endif\n#ifdef Y\nA\n#endif\nB", {"X": ""}, "AB"),
        ("#ifndef X\n#define X 3\n#endif\n#if X == 4\nA\n#else\nB\n#endif", {"X": "4"}, "A"),
        ("#ifndef X\n#define X 3\n#endif\n#if X == 4\nA\n#else\nB\n#endif", {}, "B"),
        ("#if !X == 1 && 3 > 2 > 0\nA\n#else\nB\n#endif", {}, "A"),
        ("#if 1 + 2 * 3 == 7 && -1 < 0\nA\n#else\nB\n#endif", {}, "A"),
        ("#ifndef K_H\n#define K_H\nA\n#endif", {}, "A"),
        ("#if X // 0\nA\n#endif /*\n#if 0 */\nB", {"X": "1"}, "AB"),
    ],
)
def test_a_branch_that_is_certainly_skipped_is_left_out(text, given, left):
    assert kept(text, **given) == left


@pytest.mark.parametrize(
    ("text", "others", "given"),
    [
        ("#ifdef __SPIRV__\nA\n#else\nB\n#endif", (), {}),
        ("#ifdef X\nA\n#else\nB\n#endif\n#define X", (), {}),
        ("#ifdef X\nA\n#else\nB\n#endif", ("#define X 1",), {}),
        ("#define X 1\n#ifdef X\nA\n#else\nB\n#endif\n#undef X", (), {}),
        ("#ifdef X\nA\n#else\nB\n#endif\n#define X 3", (), {"X": "2"}),
        ("#if F(2)\nA\n#else\nB\n#endif\n#define F(x) x", (), {}),
        ("#if X / 2\nA\n#else\nB\n#endif", (), {"X": "2"}),
        ("#if X\nA\n#else\nB\n#endif", (), {"X": "Y + 1"}),
        ("#if\nA\n#else\nB\n#endif", (), {}),
        ("#if 1 2\nA\n#else\nB\n#endif", (), {}),
        ("#if " + "!" * 99 + "1\nA\n#else\nB\n#endif", (), {}),
        ("#if 08\nA\n#else\nB\n#endif", (), {}),
        ("#if (1\nA\n#else\nB\n#endif", (), {}),
        ("#if 1 ** 99999\nA\n#else\nB\n#endif", (), {}),
    ],
)
def test_every_other_branch_is_kept(text, others, given):
    assert kept(text, *others, **given) == "AB"


def test_of_a_chain_what_is_certain_is_left_out():
    assert kept("#if __X\nA\n#elif 0\nB\n#else\nC\n#endif") == "AC"
    assert kept("#if 0\nA\n#elif __X\nB\n#else\nC\n#endif") == "BC"
    assert kept("#if __X\nA\n#elif 1\nB\n#else\nC\n#endif") == "ABC"


def test_octal_and_hexadecimal_numbers_are_read_as_c_does():
    assert kept("#if 011 == 9 && 0x1F == 31u\nA\n#else\nB\n#endif") == "A"


def test_a_text_with_more_directives_than_anybody_writes_is_left_as_it_is():
    text = "#if 0\n" * 6000 + "A\n" + "#endif\n" * 6000
    assert Conditions.of([text], {}).visible(text) == text


DECLARED = """#ifdef WIDE
RWStructuredBuffer<float2> kept;
void f(float2 x) {
#else
RWStructuredBuffer<float> kept;
void f(float x) {
#endif
    kept[0] = x;
}
"""


@pytest.mark.parametrize(("given", "type_"), [({"WIDE": "1"}, "float2"), ({}, "float")])
def test_the_declaration_that_is_compiled_is_the_one_that_counts(given, type_):
    module = Program.read(DECLARED, "k.slang", (), given).own
    (function,) = module.source.functions()
    assert module.source.parameters(function) == [f"{type_} x"]
    assert f"RWStructuredBuffer<{type_}>" in module.source.code
    assert module.source.code.count("RWStructuredBuffer") == 1
    assert module.source.line_column(module.source.code.index("kept[0]")) == (8, 5)
