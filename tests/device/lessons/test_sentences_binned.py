"""The sentences of the section on the fast kernels, against what memory holds at each step."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from splatscope.lessons.binned.lesson import COLUMNS

Told = Callable[..., tuple[Any, Any]]

CASES = [
    {},
    {"size": 0.5, "seed": 0},
    {"size": 8.0},
    {"size": 5.0, "seed": 42},
    {"size": 1.5, "seed": 99},
    {"size": 8.0, "seed": 7},
]
WHO = r"(Each of the eight threads|Thread \d|Threads [\d, ]+ and \d each|Threads \d to \d each)"
BOXES = (
    r"Each thread has drawn a box around its Gaussian: (\d+) pairs of a box and a tile, and as many tests\. "
    r"The sample would make 120\."
)
COUNTED = rf"{WHO} found a tile (?:under an ellipse|of Gaussian \d) and counted it: (\d+) (entry|entries) so far\."
NUMBERED = r"All (\d+) entries have numbers, Gaussian by Gaussian: so each has a place of its own for its gradients\."
GIVEN = rf"{WHO} gave a tile its part of the list: (\d+) of (\d+) places are taken\."
PLACED = rf"{WHO} put an entry (?:of Gaussian \d )?into the list of a tile: (\d+) of (\d+) are in\."
ORDER = [BOXES, COUNTED, NUMBERED, GIVEN, PLACED]


def threads_of(words: str) -> set[int]:
    if words.startswith("Each"):
        return set(range(8))
    numbers = [int(digit) for digit in re.findall(r"\d", words)]
    return set(range(numbers[0], numbers[1] + 1)) if " to " in words else set(numbers)


def done_between(query: Any, after: int, until: int, **wanted: Any) -> np.ndarray:
    steps = query.steps(**wanted)
    return steps[(steps > after) & (steps <= until)]


@pytest.mark.parametrize("values", CASES)
def test_each_round_is_what_the_threads_did_in_it(record_lesson: Told, values: dict[str, Any]) -> None:
    lesson, query = record_lesson("binned", **values)
    stops, sentences = lesson.stops(query), lesson.sentences(query)
    assert len(stops) == len(sentences)
    assert stops == sorted(set(stops))
    assert all(len(sentence) <= 150 for sentence in sentences)
    kinds = [next(i for i, pattern in enumerate(ORDER) if re.fullmatch(pattern, sentence)) for sentence in sentences]
    assert kinds == sorted(kinds)
    assert set(kinds) == set(range(len(ORDER)))

    total = int(query.output("tileList")[:, 1].sum())
    sums = {kind: 0 for kind in range(len(ORDER))}
    before = 0
    for stop, sentence, kind in zip(stops, sentences, kinds, strict=True):
        said = re.fullmatch(ORDER[kind], sentence).groups()
        if kind == 0:
            assert int(said[0]) == sum(columns * rows for *_, columns, rows in lesson.facts(query)["boxes"])
        elif kind == 2:
            assert int(said[0]) == total == query.output("duplicatesOf")[:, 1].sum()
        else:
            what = {
                1: {"kind": "atomic", "name": "tileCount", "function": "emit"},
                3: {"kind": "write", "name": "tileList"},
                4: {"kind": "write", "name": "lists", "path": ".number"},
            }[kind]
            steps = done_between(query, before, stop, **what)
            threads = query.threads(steps)
            assert len(set(threads.tolist())) == len(steps)  # no thread comes twice in a round
            assert threads_of(said[0]) == set(threads.tolist())
            sums[kind] += int(query.values(steps)[:, 1].sum()) if kind == 3 else len(steps)
            assert int(said[1]) == sums[kind]
            if kind != 1:
                assert int(said[2]) == total
            else:
                assert (said[2] == "entry") == (sums[kind] == 1)
        before = stop
    assert sums[1] == sums[3] == sums[4] == total


@pytest.mark.parametrize("values", CASES)
def test_a_round_is_one_turn_of_the_loop(record_lesson: Told, values: dict[str, Any]) -> None:
    lesson, query = record_lesson("binned", **values)
    facts = lesson.facts(query)
    wave = query.recording.trace.info.wave_size
    starts = {begin + i: tile for tile, (_, begin, length) in enumerate(facts["parts"]) for i in range(length)}
    before, found = 0, []
    for stop, sentence in zip(lesson.stops(query), lesson.sentences(query), strict=True):
        made = [entry for entry in facts["placed"] if before < entry[0] <= stop]
        turns = set()
        for step, place, gaussian, _ in made:
            column, row, across, down = facts["boxes"][gaussian]
            number = (starts[place] // COLUMNS - row) * across + starts[place] % COLUMNS - column
            large = across * down > wave
            turns.add((gaussian, number // wave) if large else number)
            said = re.search(r"of Gaussian (\d)", sentence)
            assert (said is not None) == large
            assert said is None or int(said[1]) == gaussian
            assert large or int(query.threads(np.array([step]))[0]) == gaussian
        assert len(turns) <= 1
        found += made
        before = stop
    assert found == facts["placed"]


@pytest.mark.parametrize("values", CASES)
def test_counting_takes_the_turns_that_placing_takes(record_lesson: Told, values: dict[str, Any]) -> None:
    lesson, query = record_lesson("binned", **values)
    if query.recording.trace.info.wave_size < 8:
        pytest.skip("the figure's threads are several waves, which take their turns when they like")
    sentences = lesson.sentences(query)
    counted = [re.match(COUNTED, sentence)[1] for sentence in sentences if re.match(COUNTED, sentence)]
    placed = [re.match(PLACED, sentence)[1] for sentence in sentences if re.match(PLACED, sentence)]
    assert counted == placed


def test_a_large_gaussian_is_walked_by_the_whole_wave(record_lesson: Told) -> None:
    lesson, query = record_lesson("binned", size=8.0)
    placed = lesson.facts(query)["placed"]
    threads = {int(query.threads(np.array([step]))[0]) for step, _, gaussian, _ in placed if gaussian == 7}
    boxes = lesson.facts(query)["boxes"]
    wave = boxes[7][2] * boxes[7][3] > 8 and query.recording.trace.info.wave_size == 8
    assert (len(threads) == 8) if wave else threads <= set(range(8))


def test_the_figure_opens_with_half_of_the_lists_filled(record_lesson: Told) -> None:
    for values in CASES:
        lesson, query = record_lesson("binned", **values)
        placed = [step for step, *_ in lesson.facts(query)["placed"]]
        inside = sum(step <= lesson.opening(query) for step in placed)
        assert lesson.opening(query) in lesson.stops(query)
        assert 0.4 * len(placed) <= inside
