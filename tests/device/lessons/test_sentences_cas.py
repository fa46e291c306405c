"""The sentences of the section on compare-and-swap, replayed thread by thread, against the trace and the memory left."""

import re

import numpy as np
import pytest

from helpers.numbers_in_text import value_of

CASES = [
    {},
    {"count": 1},
    {"count": 21, "cells": 4},
    {"cells": 32},
    {"start": 0x7FC00000},  # NaN
    {"start": 0x4B800000},  # 2²⁴: each addition rounds
    {"compare": False},
    {"compare": False, "count": 9, "cells": 2, "start": 0xC2F60000},
    {"compare": False, "count": 1},
]
FINDS = re.compile(
    r"Thread (\d+) finds ([^ ]+?)(?: in float (\d+))?, as it expected, and stores ([^ ]+)\. "
    r"Numbers in the sum: (\d+) of (\d+)\. Attempts refused: (\d+)\."
)
STORES = re.compile(
    r"Thread (\d+) stores ([^ ]+?)(?: in float (\d+))?, (in vain|made)(?:: .* after it| from the ([^ ]+) that it had read)\. "
    r"(?:Numbers in the sum: (\d+)\. Lost: (\d+)|Numbers lost so far: (\d+))\."
)


def number(text: str) -> float:
    return value_of(text)


def refusals(query) -> list[int]:
    """The steps at which a thread has found other bits than it expected."""
    guesses, steps = {}, []
    for step in query.steps(lambda site: site.kind == "value" and site.name in ("expected", "found")):
        thread, bits = int(query.threads([step])[0]), int(query.values([step])[0])
        if query.site(step).name == "found" and bits != guesses[thread]:
            steps.append(int(step))
        guesses[thread] = bits
    return steps


@pytest.mark.parametrize("values", [case for case in CASES if case.get("compare", True)])
def test_with_the_compare_each_sentence_goes_on_from_the_one_before(record_lesson, values):
    lesson, query = record_lesson("cas", **values)
    start = np.uint32(lesson.start).view(np.float32)
    sums, refused, adds = [start] * lesson.cells, refusals(query), lesson.values()
    sentences, stops = lesson.sentences(query), lesson.stops(query)
    assert len(sentences) == len(stops) == lesson.count
    for many, (step, sentence) in enumerate(zip(stops, sentences, strict=True), 1):
        thread, was, cell, now, inside, count, turned_away = FINDS.fullmatch(sentence).groups()
        cell = int(cell or 0)
        assert cell == int(thread) % lesson.cells
        assert number(was) == pytest.approx(float(sums[cell]), rel=1e-5, nan_ok=True)
        sums[cell] = np.float32(sums[cell] + adds[int(thread)])
        assert number(now) == pytest.approx(float(sums[cell]), rel=1e-5, nan_ok=True)
        assert (int(inside), int(count)) == (many, lesson.count)
        assert int(turned_away) == sum(one <= step for one in refused)
    np.testing.assert_array_equal(query.output("derivBuffer").view(np.float32), sums)


@pytest.mark.parametrize("values", [case for case in CASES if not case.get("compare", True)])
def test_without_it_the_numbers_that_are_said_to_be_in_make_the_sums(record_lesson, values):
    lesson, query = record_lesson("cas", **values)
    sums, adds = [np.uint32(lesson.start).view(np.float32)] * lesson.cells, lesson.values()
    loads = query.steps(kind="atomic", operation="load")
    read = dict(zip(query.threads(loads).tolist(), query.values(loads).astype(np.uint32).view(np.float32), strict=True))
    kept = lost = 0
    for sentence in lesson.sentences(query):
        thread, now, cell, outcome, was, inside, beside, lost_by_then = STORES.fullmatch(sentence).groups()
        thread, cell = int(thread), int(cell or 0)
        assert number(now) == pytest.approx(float(read[thread] + adds[thread]), rel=1e-5)
        if outcome == "made":
            kept += 1
            assert (int(inside), int(beside)) == (kept, lost)
            assert number(was) == pytest.approx(float(read[thread]), rel=1e-5)
            assert sums[cell] == read[thread]
            sums[cell] = np.float32(sums[cell] + adds[thread])
        else:
            lost += 1
            assert int(lost_by_then) == lost
    assert kept + lost == lesson.count
    np.testing.assert_array_equal(query.output("derivBuffer").view(np.float32), sums)


@pytest.mark.parametrize("values", CASES)
def test_openings_and_questions(record_lesson, values):
    lesson, query = record_lesson("cas", **values)
    assert lesson.opening(query) in lesson.stops(query)
    assert all(len(sentence) <= 150 for sentence in lesson.sentences(query))
    for answer in (lesson.failed(query), lesson.kept(query)):
        assert len(set(answer.options)) == len(answer.options) >= 2
        assert set(answer.wrong) == set(answer.options) - {answer.value}
