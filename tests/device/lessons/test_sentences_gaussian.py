"""The sentences of the section on one Gaussian, against NumPy."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Told = Callable[..., tuple[Any, Any]]

SHARE = r"(0|\d\.\d{3}|less than 0\.001)"
NUMBER = r"(−?\d+\.\d+)"
PATTERNS = [
    r"The kernel reads (nine) numbers\. They are all that is stored of this Gaussian\.",
    rf"The log sizes stand for {NUMBER} and {NUMBER} pixels, the last number for an opacity of {SHARE}\.",
    r"The pixel lies (.*)\.",
    rf"Along the ellipse's own axes, that is {NUMBER} pixels on the first and {NUMBER} on the second\.",
    rf"Divided by the sizes: {NUMBER} and {NUMBER}\. So the pixel is {NUMBER} sizes from the centre\.",
    rf"{NUMBER} sizes from the centre, the bell curve (?:has fallen from 1 to {SHARE}|is still at its top, (1))\.",
    rf"Opacity {SHARE} times fall-off {SHARE}: α, the share of this pixel that the Gaussian covers, is {SHARE}\.",
    rf"`eval`, which the whole program uses, gets there by a shortcut: α = {SHARE}\.",
    rf"White paper keeps the other {SHARE}\. The pixel's red, green and blue are {NUMBER}, {NUMBER}, {NUMBER}\.",
]
DEFAULT = [25.0, 19.0, 2.4, 1.4, 0.5, 0.9, 0.3, 0.1, 1.5]
CASES = [
    {},
    {"numbers": [25.0, 19.0, 2.4, -1.2, -1.57, 0.9, 0.3, 0.1, 4.0], "pixel": [25, 19]},  # in the centre of a needle
    {"numbers": [25.0, 19.0, -1.2, -1.2, 0.0, 0.0, 0.0, 0.0, -4.0], "pixel": [59, 39]},  # so far that nothing arrives
    {"numbers": [0.0, 0.0, 3.2, 3.2, 1.57, 1.0, 1.0, 1.0, 0.0], "pixel": [0, 20]},  # white on white
    {"numbers": [30.5, 10.25, 1.0, 2.0, -0.7, 0.2, 0.4, 0.6, -2.0], "pixel": [25, 10]},
    {"numbers": DEFAULT, "pixel": [57, 3]},
]


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def is_share(text: str, value: float) -> bool:
    """Whether a text tells a share: to three digits, or that it is small and not nothing."""
    return 0 < value < 0.0005001 if text.startswith("less") else float(text) == pytest.approx(value, abs=5.1e-4)


@pytest.mark.parametrize("values", CASES)
def test_each_step_is_what_numpy_makes_of_the_nine_numbers(record_lesson: Told, values: dict[str, Any]) -> None:
    lesson, query = record_lesson("gaussian", **values)
    sentences = lesson.sentences(query)
    assert len(sentences) == len(lesson.stops(query)) == len(PATTERNS)
    assert all(len(sentence) <= 150 for sentence in sentences)
    said = [re.fullmatch(pattern, sentence).groups() for pattern, sentence in zip(PATTERNS, sentences, strict=True)]

    x, y, *logs, angle, r, g, b, logit = (float(np.float32(one)) for one in lesson.numbers)
    sizes, opacity = 0.3 + np.exp(logs), 1 / (1 + np.exp(-logit))
    way = np.array(lesson.pixel) - [x, y]
    axes = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    along = axes @ way
    distance = np.linalg.norm(along / sizes)
    falloff = np.exp(-0.5 * distance**2)
    alpha = opacity * falloff
    color = alpha * np.array([r, g, b]) + 1 - alpha

    np.testing.assert_allclose([number(one) for one in said[1][:2]], sizes, atol=0.051)
    assert is_share(said[1][2], opacity)
    assert_where(said[2][0], way)
    np.testing.assert_allclose([number(one) for one in said[3]], along, atol=0.0051)
    np.testing.assert_allclose([number(one) for one in said[4]], [*(along / sizes), distance], rtol=1e-4, atol=0.0051)
    assert number(said[5][0]) == pytest.approx(distance, rel=1e-4, abs=0.0051)
    assert is_share(said[5][1] or said[5][2], falloff)
    assert all(is_share(text, share) for text, share in zip(said[6], (opacity, falloff, alpha), strict=True))
    assert is_share(said[7][0], alpha)
    assert is_share(said[8][0], 1 - alpha)
    np.testing.assert_allclose([number(one) for one in said[8][1:]], color, atol=0.0051)


def assert_where(words: str, way: np.ndarray) -> None:
    """Assert that words such as “9.0 pixels to the right of the centre and 2.0 below it” tell a way from the centre."""
    across = re.search(r"([\d.]+) pixels to the (left|right)", words)
    down = re.search(r"([\d.]+) (?:pixels )?(above|below)", words)
    x = float(across[1]) * (1 if across[2] == "right" else -1) if across else 0.0
    y = float(down[1]) * (1 if down[2] == "below" else -1) if down else 0.0
    np.testing.assert_allclose([x, y], way, atol=0.051)
    assert (words == "in the centre") == (across is None and down is None)


def test_the_cases_bring_all_that_can_be_said(record_lesson: Told) -> None:
    said = " ".join(" ".join(lesson.sentences(query)) for lesson, query in (record_lesson("gaussian", **case) for case in CASES))
    for words in (
        "in the centre.",
        "less than 0.001",
        "to the left of",
        "to the right of",
        "below",
        "above",
        "still at its top",
        "from 1 to 0.",
    ):
        assert words in said, words


def test_the_figure_opens_where_the_bell_curve_answers(record_lesson: Told) -> None:
    lesson, query = record_lesson("gaussian")
    assert lesson.opening(query) == lesson.stops(query)[5] > 0
    assert query.site(lesson.opening(query)).name == "falloff"
