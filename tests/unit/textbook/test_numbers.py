"""Numbers as a learner reads them."""

import math

import pytest

from splatscope.textbook.numbers import about_times, number


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.0, 3, "0"),
        (0.0704, 3, "0.0704"),
        (0.000878, 3, "0.000878"),
        (0.0001, 1, "0.0001"),
        (0.00009996, 3, "0.0001"),
        (-0.0326412, 3, "−0.0326"),
        (1.8e-7, 3, "1.8 × 10⁻⁷"),
        (-3e-8, 1, "−3 × 10⁻⁸"),
        (9.96e-8, 2, "1 × 10⁻⁷"),
        (4294967295, 3, "4.29 × 10⁹"),
        (1234.0, 3, "1234"),
        (50.0, 1, "50"),
        (0.5, 3, "0.5"),
        (math.inf, 3, "∞"),
        (-math.inf, 3, "−∞"),
        (math.nan, 3, "NaN"),
    ],
)
def test_a_number_is_written_without_a_power_of_ten_unless_it_is_tiny_or_huge(value, digits, text):
    assert number(value, digits).replace("\u202f", " ") == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1.31, "about 1.3 times"),
        (5.4, "about 5 times"),
        (29.1, "about 30 times"),
        (30.4, "about 30 times"),
        (145.0, "about 140 times"),
        (1420, "about 1,400 times"),
    ],
)
def test_two_measurements_of_one_ratio_are_told_alike(ratio, text):
    assert about_times(ratio) == text
