"""The expressions of breakpoints and watches in Python."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splatscope.recordings.expressions import ExpressionError, NoValueError, as_text, parse, select

VALUES = {"i": 3, "f": 0.25, "done": False, "v": [1, 2, 3], "m": [[1, 2], [3, 4]]}


def look(name, steps):
    if name not in VALUES:
        raise NoValueError(f"{name} has no value yet.")
    value = VALUES[name]
    for step in steps:
        value = select(value, step)
    return value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/4", 0.25),
        ("1 + 2 * 3 - 4", 3),
        ("7 - 2 - 1", 4),
        ("-7 % 4", -3),
        ("1/0", math.inf),
        ("(-1)/0", -math.inf),
        ("i == 3 && !done", True),
        ("i < 3 || f > 0.2f", True),
        ("i & 2 == 2", 1),  # as in C: i & (2 == 2)
        ("1 << 4 | 1", 17),
        ("~0u", 0xFFFFFFFF),
        ("0x1F ^ 0b11", 28),
        ("i > 2 ? v.zyx : v", [3, 2, 1]),
        ("v[i - 1]", 3),
        ("v.y + 1e1", 12.0),
        ("v * 2", [2, 4, 6]),
        ("(v + v).rg", [2, 4]),
        ("m[1].x", 3),
        ("v == v", [True, True, True]),
        ("any(v > 2) && all(v > 0)", True),
        ("max(abs(-i), 2)", 3),
        ("isnan(nan) && nan == nan", True),
        ("isinf(-inf)", True),
    ],
)
def test_an_expression_has_the_value_that_it_has_in_slang(text, value):
    assert parse(text).value(look) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "missing"),
        ("i ==", "missing"),
        ("(i", "“)” is missing"),
        ("i i", "not expected"),
        ("i = 3", "not understood"),
        ("i; j", "not understood"),
        ("v.", "member is missing"),
        ("sin(1)", "not known here"),
        ("max(1)", "takes 2 values"),
        ("v + v.xy", "do not go together"),
        ("i.x", "no .x"),
        ("(" * 900, "nested too deeply"),
        ("1" * 1001, "at most 1,000 characters"),
    ],
)
def test_what_cannot_be_evaluated_is_told_in_one_line(text, words):
    with pytest.raises(ExpressionError, match=words.replace("(", r"\(").replace(")", r"\)")) as raised:
        parse(text).value(look)
    assert "\n" not in str(raised.value)


def test_a_condition_without_a_value_does_not_hold():
    assert not parse("later == 0").holds(look)
    assert not parse("v > 1").holds(look)
    assert parse("v > 0").holds(look)
    assert parse("later == 0 && i").names == {"later", "i"}


def test_a_path_is_told_from_other_expressions():
    path = parse("keys[i + 1].x").path
    assert path is not None
    assert path(look) == ("keys", [4, "x"])
    assert parse("i + 1").path is None


@given(st.text(alphabet="iv019.[]()+-*/%<>=!&|~?:, xef", max_size=40))
def test_any_text_is_evaluated_or_refused(text):
    try:
        answer = as_text(parse(text).value(look))
    except ExpressionError as error:
        answer = str(error)
    assert "\n" not in answer
