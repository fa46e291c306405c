"""Exchanges become compare-exchanges for drivers that crash on them, and nothing else changes."""

import pytest

from splatscope.tracing.instrument.exchange import MODULE, TEXT, as_written, by_compare_exchange

DECLARED = "RWStructuredBuffer<Atomic<uint>> a;\n"
OWN = "struct Desk { int n; [mutating] int exchange(int by) { n += by; return n; } }\n"


@pytest.mark.parametrize("call", ["InterlockedExchange(g, 5, was);", "a[0].exchange (7);", "p->exchange(7, MemoryOrder.Relaxed);"])
def test_an_exchange_is_renamed_where_it_stands(call):
    (text,) = by_compare_exchange([DECLARED + call], [True])
    first, second, imported, _ = text.split("\n")
    assert first == DECLARED.strip()
    assert second != call
    assert len(second) == len(call)
    assert imported == f"import {MODULE};"
    assert as_written(second) == call


@pytest.mark.parametrize(
    "text", ["a[0].compareExchange(1, 2);", "a[0].add(1); // no exchange(1)", "exchange(1);", DECLARED + OWN + "desk.exchange(1);"]
)
def test_anything_else_stays_as_written(text):
    assert by_compare_exchange([text], [True]) == [text]


def test_texts_that_are_included_import_nothing_and_modules_all_do():
    included, module = by_compare_exchange([DECLARED + "a[0].exchange(1);", "void f() {}"], [False, True])
    assert "import" not in included
    assert module == f"void f() {{}}\nimport {MODULE};\n"


def test_a_method_of_the_program_leaves_the_function_replaced():
    (text,) = by_compare_exchange([DECLARED + OWN + "desk.exchange(1); InterlockedExchange(g, 5);"], [True])
    assert "desk.exchange(1)" in text
    assert "InterlockedExchange" not in text


def test_no_substitute_is_an_exchange_itself_nor_compares_floats_by_value():
    assert "InterlockedExchange" not in TEXT
    assert ".exchange(" not in TEXT
    for block in TEXT.split("[ForceInline]")[1:]:
        if "compare" in block.lower() and ("float seen" in block or "half seen" in block):
            assert "asuint" in block
