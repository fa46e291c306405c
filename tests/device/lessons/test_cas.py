"""The section on compare-and-swap: recorded contention against sums in NumPy, and the results of its ways of adding."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splatscope.textbook.contents import find_lesson
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import Lesson
from splatscope.textbook.query import RecordingQuery

STEM = "cas"
CELLS = (1, 2, 4, 8, 32)


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return find_lesson(STEM)()


def chain(lesson: Lesson, threads: list[int], cell: int) -> np.float32:
    """Return the sum of what these threads add to a cell one after the other, rounded each time."""
    total = np.uint32(lesson.start).view(np.float32)
    for thread in threads:
        total = np.float32(total + lesson.values()[thread]) if thread % lesson.cells == cell else total
    return total


def ends(query: RecordingQuery) -> np.ndarray:
    return query.output("derivBuffer").view(np.float32)


@settings(max_examples=10, deadline=None)
@given(count=st.integers(1, 32), cells=st.sampled_from(CELLS), start=st.sampled_from([0x3F99999A, 0, 0x4B800000, 0xC2F60000]))
def test_every_number_gets_in_once_and_in_the_order_that_is_drawn(experiment: Experiment, count: int, cells: int, start: int):
    lesson = find_lesson(STEM)(count=count, cells=cells, start=start)
    query = experiment.record(lesson.job())
    assert query.recording.same_as_plain
    assert query.findings == []
    facts = lesson.facts(query)
    made = [thread for thread, _, _, outcome in facts["attempts"] if outcome == "made"]
    assert sorted(made) == list(range(count))
    assert [chain(lesson, made, cell) for cell in range(cells)] == ends(query).tolist()
    refused = len(facts["attempts"]) - count
    answer = lesson.failed(query)
    assert answer.value == str(refused)
    assert len(lesson.stops(query)) == count
    # who is refused in a round is beaten in it by another thread that adds to the same float
    winners = {(round_, thread % cells): thread for thread, round_, _, outcome in facts["attempts"] if outcome == "made"}
    for thread, round_, _, outcome in facts["attempts"]:
        if outcome == "refused":
            assert winners[round_, thread % cells] != thread
    for one in (answer, lesson.kept(query)):
        assert one.value in one.options
        assert len(set(one.options)) == len(one.options) <= 4


@settings(max_examples=6, deadline=None)
@given(count=st.integers(1, 32), cells=st.sampled_from(CELLS))
def test_without_the_compare_only_what_is_drawn_as_kept_is_in_the_sum(experiment: Experiment, count: int, cells: int):
    lesson = find_lesson(STEM)(count=count, cells=cells, compare=False)
    query = experiment.record(lesson.job())
    attempts = lesson.facts(query)["attempts"]
    kept = [thread for thread, _, _, outcome in attempts if outcome == "made"]
    assert [chain(lesson, kept, cell) for cell in range(cells)] == ends(query).tolist()
    assert len(attempts) == count
    assert lesson.kept(query).value == "1.4"  # of 1.2, 0.1 and 0.2, whatever the figure is set to
    assert lesson.failed(query).value == "0"


def test_a_compare_that_is_missing_loses_numbers_and_only_plain_accesses_race(experiment: Experiment, lesson: Lesson):
    rows = lesson.dropped(experiment).rows
    assert rows[0][1] == rows[0][2] == "52.8"
    assert float(rows[1][1]) < 52.8
    assert rows[1][3] == "no finding"
    assert rows[2][3].startswith("race on ")
    assert len(rows) == 3 or rows[3][1] == "52.8"


@settings(max_examples=20, deadline=None)
@given(pattern=st.integers(0, 2**32 - 1))
def test_the_kernel_takes_a_float_apart(experiment: Experiment, pattern: int):
    rows = dict(find_lesson(STEM)(start=pattern).bits(experiment).rows)
    value = np.uint32(pattern).view(np.float32)
    assert rows["bits"] == f"`0x{pattern:08X}`"
    assert rows["sign"].startswith(str(pattern >> 31))
    assert rows["exponent"].startswith(f"{pattern >> 23 & 255}:")
    assert rows["fraction"].startswith(f"{pattern & 0x7FFFFF:,} ")
    if not math.isnan(value):
        assert rows["as a float"] == f"**{value!s}**"
        assert rows["`asuint(asfloat(bits))`"] == f"`0x{pattern:08X}`"


def test_a_nan_swaps_by_bits_and_never_by_floats(experiment: Experiment, lesson: Lesson):
    rows = lesson.as_floats(experiment).rows
    assert [row[3] for row in rows[:3]] == ["ends"] * 3
    assert rows[3][2] == "64"
    assert rows[3][3] == "is stopped"


def test_all_ways_give_the_same_sum_but_for_the_last_bits(experiment: Experiment, lesson: Lesson):
    values = np.random.default_rng(5).normal(size=32_768).astype(np.float32)
    chart, table = lesson.last_bits(experiment).shows
    assert len(table.rows) >= 4
    for row, curve in zip(table.rows, chart.curves, strict=True):
        assert len(set(curve.y)) == int(row[1].strip("*"))
        assert abs(float(row[2]) - math.fsum(values.tolist())) < 0.02
        assert 1 <= int(row[3]) <= 100
    assert table.rows[-1][1] == "**1**"  # integers
    assert all(amount > 0 for amount in lesson.times(experiment).shows[0].amounts)


def test_the_claims(experiment: Experiment, lesson: Lesson):
    native = lesson.no_float_atomics(experiment)
    assert native.holds is (None if experiment.has("atomic_float") else True)
    assert "169.86" in native.ran
    gradients = lesson.same_gradients(experiment)
    assert gradients.holds == ("undecided" if "**0 of 1,080**" in gradients.ran else True)
    assert not lesson.not_on_cpus(experiment).holds
