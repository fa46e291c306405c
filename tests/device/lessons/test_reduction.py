"""The section on summing over a workgroup, against the tree in NumPy."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splatscope.textbook.contents import find_lesson
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import Lesson
from splatscope.textbook.measured import quoted

STEM = "reduction"


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return find_lesson(STEM)()


def tree(values: np.ndarray) -> list[np.ndarray]:
    """What every place holds before the first round and after each, with float32 rounding."""
    now = np.clip(values, -10, 10).astype(np.float32)
    rows, stride = [now], len(values) // 2
    while stride:
        now = now.copy()
        now[:stride] += now[stride : 2 * stride]
        rows.append(now)
        stride //= 2
    return rows


@settings(max_examples=9, deadline=None)
@given(count=st.sampled_from([16, 32, 256]), scale=st.floats(0.1, 100.0), seed=st.integers(0, 9999))
def test_the_scene_is_the_tree(experiment: Experiment, count: int, scale: float, seed: int):
    lesson = find_lesson(STEM)(count=count, scale=scale, seed=seed)
    query = experiment.record(lesson.job())
    assert query.recording.same_as_plain
    assert query.findings == []
    facts, rows = lesson.facts(query), tree(lesson.values())
    assert np.array_equal(np.array(facts["rows"], np.float32), np.array(rows))
    assert query.output("derivBuffer").view(np.float32)[0] == rows[-1][0]
    assert [one["stride"] for one in facts["rounds"]] == [count >> i for i in range(1, int(math.log2(count)) + 1)]
    assert all(not one["stale"] for one in facts["rounds"])
    stops = lesson.stops(query)
    assert stops == sorted(set(stops))
    assert len(stops) == len(rows) + 1
    neighbour, idle = lesson.neighbour(query), lesson.idle(query)
    assert neighbour.value == f"round {len(rows) - 1}"  # the last, whose stride is 1
    assert idle.value == f"{count * (len(rows) - 1) - (count - 1):,}"
    for answer in (neighbour, idle):
        assert answer.value in answer.options
        assert len(set(answer.options)) == len(answer.options) <= 4


def test_without_the_barrier_the_race_is_found(experiment: Experiment, lesson: Lesson):
    rows = lesson.without_barrier(experiment).rows
    for with_it, without in (rows[:2], rows[2:]):
        assert with_it[2] == with_it[3]
        assert with_it[4:] == ("0", "no finding")
        assert re.search(r"^race, thread \d+ on line \d+ and thread \d+ on line \d+", without[5])
    if experiment.adapter.wave_size < 16:  # one wave that does all the adding may be lucky
        assert rows[1][2] != rows[1][3]
        assert int(rows[1][4]) > 0


@pytest.mark.parametrize("count", [16, 256])
def test_the_figure_without_its_barrier(experiment: Experiment, count: int):
    lesson = find_lesson(STEM)(count=count, barrier=False)
    query = experiment.record(lesson.job())
    assert {finding.kind for finding in query.findings} == {"race"}
    facts = lesson.facts(query)
    assert facts["rows"][-1][0] == float(query.output("derivBuffer").view(np.float32)[0])
    stops = lesson.stops(query)
    assert stops == sorted(set(stops))
    width = experiment.adapter.wave_size
    waves = sum(-(-one["stride"] // width) for one in facts["rounds"])  # each ends its rounds by itself
    early = [step for one in facts["rounds"] for _, step in one["stale"]]
    assert len(stops) == waves + 2 + bool(early)
    assert lesson.opening(query) == (min(early) if early else facts["rounds"][0]["end"])
    shown = lesson.findings(query)[0]
    order = query.recording.trace.order
    if early:  # the finding is shown by the first read that came too early, and by the write that it should have waited for
        read, write = (int(np.flatnonzero(order == event)[0]) + 1 for event in shown.events)
        assert read == min(early) < write
        assert shown.index == query.indices([write])[0] == shown.threads[1]
        assert f"reductionBuffer[{shown.index}]" in shown.message


def test_idle_lanes_are_what_is_left_of_the_waves_at_work(experiment: Experiment):
    width = experiment.adapter.wave_size
    rows = find_lesson(STEM)(count=256).idle_lanes(experiment).rows
    assert len(rows) == 8
    for number, row in enumerate(rows, 1):
        busy = 256 >> number
        waves = -(-busy // width)
        assert row == (str(number), str(busy), str(busy), f"{waves} of {256 // width}", str(waves * width - busy))


def test_the_clamp_acts_before_the_sum_and_does_not_fire(experiment: Experiment, lesson: Lesson):
    claim = lesson.clamp_prevents(experiment)
    assert not claim.holds
    assert "**2,560**" in claim.ran
    assert claim.ran.count("1.000 η") == 3
    for row in lesson.fires(experiment).rows:
        assert row[2] == "**0**"
        assert int(row[1].replace(",", "")) > 10_000
        assert float(row[3]) < 10


@pytest.mark.parametrize(("side", "some"), [(4, True), (64, False)])
def test_the_counting_kernel_counts_what_lies_beyond_the_clamp(experiment: Experiment, lesson: Lesson, side: int, some: bool):
    """Black, thin, opaque Gaussians, each with a pixel on its steep side: the clamp cuts at 4 × 4 pixels, and not at 64 × 64."""
    rng = np.random.default_rng(8)
    raw = np.zeros((9, 24))
    centres = rng.integers(0, side, (2, 24)) / side + rng.normal(size=(2, 24)) * 3e-4
    raw[:2] = 0.5 - np.sin(np.arcsin(1 - 2 * np.clip(centres, 0, 1)) / 3)  # where smoothstep is the centre
    raw[8] = 1
    target = np.zeros((side, side, 3))
    many, beyond, largest = lesson._count(experiment, (side, side), raw.astype(np.float32), target, {"SAMPLE_MODEL": 1})
    assert 0 <= beyond <= many
    assert (beyond > 0) == (largest > 10) == some


def test_the_ways_to_add(experiment: Experiment, lesson: Lesson):
    bars, words, table = lesson.ways(experiment).shows
    assert all(amount > 0 for amount in bars.amounts)
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["the tree"][1:] == (f"{quoted('reduction.tree')} µs", "9", "1")
    assert rows["sums of waves in shared memory, then one swap"][1:] == (f"{quoted('reduction.waves')} µs", "1", "1")
    assert [row[1] for row in table.rows] == list(bars.words)
    assert ("nine barriers" in words.text) == experiment.adapter.is_software
