"""Macros written out: text before, text after."""

import pytest

from splatscope.slang.preprocessor import definitions, expand, macros_in
from splatscope.slang.source import Source


def expanded(text: str) -> Source:
    source = Source(text)
    return expand(source, macros_in([source]))


@pytest.mark.parametrize(
    ("define", "call", "becomes"),
    [
        ("#define SET(v) a[0] = v", "SET(2);", "a[0] = 2;"),
        ("#define SET(i, v) a[i] = v", "SET(f(x, y), 3);", "a[f(x, y)] = 3;"),
        ("#define NOW a[0] = 1", "NOW;", "a[0] = 1;"),
        ("#define LONG(x) a[0] \\\n = x", "LONG(1);", "a[0] = 1;"),
        ("#define A(x) B(x)\n#define B(x) a[x] = x", "A(1);", "a[1] = 1;"),
        ("#define FOUR 4", "x = FOUR;", "x = FOUR;"),  # a mere value needs no record
        ("#define WIDE (T + 1)", "x = WIDE;", "x = WIDE;"),
        ("#define S Barrier()", "S;", "Barrier();"),
        ("#define S Barrier", "S();", "Barrier();"),
        ("#define OUT block.data", "OUT[0] = 1;", "block.data[0] = 1;"),
        ("#ifndef S\n#define S Barrier()\n#endif", "S;", "Barrier();"),
        ("int i;\n#ifndef S\n#define S Barrier()\n#else\n#define S\n#endif", "S;", "S;"),
        ("#define NAME(x) #x", "NAME(1);", "NAME(1);"),
        ("#define JOIN(x) a##x = 1", "JOIN(1);", "JOIN(1);"),
        ("#define ANY(...) f(__VA_ARGS__);", "ANY(1);", "ANY(1);"),
        ("#define ADD(x) ADD(x) + 1", "ADD(1);", "ADD(1);"),
        ("#ifdef F\n#define P(x) a[0] = x\n#endif", "P(1);", "P(1);"),
        ("#define P(x) a[0] = x\n#define P(x) a[1] = x", "P(1);", "P(1);"),
        ("#define P(x) a[0] = x\n#undef P", "P(1);", "P(1);"),
        ("#define TWO(x, y) a[x] = y", "TWO(1);", "TWO(1);"),
    ],
)
def test_a_call_becomes_what_the_macro_says_if_that_is_certain(define, call, becomes):
    assert expanded(f"{define}\nvoid f() {{ {call} }}").text.split("\n")[-1] == f"void f() {{ {becomes} }}"


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("void f() { BAR; }", "given();"),
        ("#ifndef BAR\n#define BAR own()\n#endif\nvoid f() { BAR; }", "given();"),
        ("#define BAR own()\nvoid f() { BAR; }", "BAR;"),  # the compiler warns, and takes the later one
        ("#undef BAR\n#define BAR own()\nvoid f() { BAR; }", "BAR;"),
        ("#ifdef BAR\nvoid f() { BAR; }\n#endif", "given();"),
    ],
)
def test_a_given_macro_is_written_out_unless_the_source_defines_it_otherwise(text, becomes):
    source = Source(text)
    expanded = expand(source, macros_in([source], {"BAR": "given()", "WIDTH": "4"}))
    assert f"void f() {{ {becomes} }}" in expanded.text
    assert expanded.text.count("#ifdef BAR") == text.count("#ifdef BAR")


def test_the_guard_of_a_header_is_no_condition():
    header = Source("#ifndef H\n#define H\n#define SET(v) a[0] = v\n#endif", "h.slangh")
    main = Source("void f() { SET(1); }", "k.slang")
    assert "a[0] = 1;" in expand(main, macros_in([header, main])).text


def test_what_a_macro_became_stands_where_it_is_called():
    source = expanded("#define SET(v) long_name[0] = v\nvoid f() { SET(1); int x; }")
    assert source.line_column(source.text.index("long_name[0] = 1")) == (2, 12)
    assert source.line_column(source.text.index("= 1")) == (2, 12)
    assert source.line_column(source.text.index("int x")) == (2, 20)


def test_a_call_over_two_lines_keeps_the_lines_after_it():
    source = expanded("#define SET(i, v) a[i] = v\nvoid f() { SET(1,\n2);\nint x; }")
    assert source.text.count("\n") == 3
    assert source.line_column(source.text.index("int x"))[0] == 4


def test_definitions_are_read_as_written():
    one, two, three = definitions("#define A 1\n# define B() x;\n#define C(a, b) a + \\\n b\n")
    assert [d.name for d in (one, two, three)] == ["A", "B", "C"]
    assert [d.takes_arguments for d in (one, two, three)] == [False, True, True]
    assert three.parameters == "a, b"
    assert three.body.split() == ["a", "+", "\\", "b"]
