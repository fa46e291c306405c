"""Array sizes as numbers: literals, named constants, and what is made of them."""

import pytest

from splatscope.slang.integer_constants import integer, named_integers

SOURCE = """static const uint TILE = 8;
public static const int COUNT = TILE * TILE;
#define ROWS (TILE + 1u)
static const float SCALE = 2.5;
static const uint ROUND = ROUND2; static const uint ROUND2 = ROUND;
"""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8), ("0x10u", 16), ("TILE", 8), ("2 * TILE + 1", 17), ("COUNT / 2", 32), ("ROWS * 4", 36), ("1 << 3", 8),
        ("uint(TILE)", 8), ("SCALE", None), ("unknown", None), ("TILE / 0", None), ("f(2)", None), ("ROUND", None), ("", None),
        ("9 << 99", None), ("'a'", None), ("2.0", None), ("-1", None),
    ],
)  # fmt: skip
def test_an_expression_has_a_value_or_none(text, value):
    assert integer(text, named_integers(SOURCE)) == value


def test_deep_brackets_and_long_texts_are_refused():
    assert integer("(" * 90 + "1" + ")" * 90, {}) in (1, None)
    assert integer("1+" * 200 + "1", {}) is None


def test_constants_that_double_sixty_times_are_worked_out_once_each():
    chain = "static const uint A0 = 1;" + "".join(f"static const uint A{i} = A{i - 1} - A{i - 1} + 1;" for i in range(1, 61))
    assert integer("A60", named_integers(chain)) == 1


@pytest.mark.parametrize(("text", "value"), [("(0 - 7) / 2", -3), ("(0 - 7) % 2", -1), ("7 / 2", 3), ("7 % 2", 1)])
def test_division_rounds_towards_zero(text, value):
    assert integer(text, {}) == value
