"""The section on workgroups: which thread wrote first, against NumPy and the order of the recording."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splatscope.textbook.contents import find_lesson
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import Lesson
from splatscope.textbook.query import RecordingQuery

STEM = "workgroups"


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return find_lesson(STEM)()


def early(lesson: Lesson, query: RecordingQuery) -> list[int]:
    """Return the threads that, in the recorded order, read a cell before its owner wrote it."""
    wrote = {}
    for step in query.steps(kind="write", name="blobs"):
        thread, value = int(query.threads([step])[0]), int(query.values([step])[0])
        wrote[thread] = int(step) if value else wrote.get(thread, 0)
    reads = query.steps(kind="read", name="blobs")
    pairs = zip(reads.tolist(), query.threads(reads).tolist(), strict=True)
    return sorted(thread for step, thread in pairs if wrote[(thread + lesson.away) % 32] > step)


@settings(max_examples=8, deadline=None)
@given(away=st.integers(1, 31), barrier=st.booleans())
def test_the_scene_is_the_order_that_was_recorded(experiment: Experiment, away: int, barrier: bool):
    lesson = find_lesson(STEM)(away=away, barrier=barrier)
    query = experiment.record(lesson.job())
    facts = lesson.facts(query)
    assert facts["stale"] == early(lesson, query)
    wave = min(32, experiment.adapter.wave_size)
    served = sum(thread // wave != (thread + away) % 32 // wave for thread in range(32))
    assert lesson.stale(query).value == str(served if barrier else len(facts["stale"]))
    received = np.roll(np.arange(1, 33), -away)
    received[facts["stale"]] = 0
    assert np.array_equal(query.output("received"), received)
    assert {finding.kind for finding in query.findings} == (set() if barrier else {"race"})
    if barrier:
        assert facts["stale"] == []
        assert query.recording.same_as_plain
    assert facts["kinds"].count("arrive") == 32 * barrier
    assert facts["kinds"].count("write") == 32  # the numbers; what empties the cells comes before the first barrier
    assert not any(facts["kinds"][: facts["opened"]])
    assert facts["kinds"].count("read") == 32
    assert [facts["threads"][step - 1] for step in range(1, len(query) + 1)] == query.threads(np.arange(1, len(query) + 1)).tolist()
    stops = lesson.stops(query)
    assert stops == sorted(set(stops))
    for answer in (lesson.not_yet(query), lesson.stale(query)):
        assert set(answer.options) == {answer.value, *answer.wrong}
        assert answer.value not in answer.wrong
        assert len(set(answer.options)) == len(answer.options) <= 4
        assert ("in place" in answer.question) == barrier


def test_waves_that_run_first_do_not_wait_for_the_others_to_write(experiment: Experiment, lesson: Lesson):
    query = experiment.record(lesson.job())
    wave = min(32, experiment.adapter.wave_size)
    if experiment.adapter.is_software:  # one wave after the other
        assert lesson.not_yet(query).value == str(32 - wave)
        claim = lesson.same_moment(experiment)
        assert claim.holds is None  # the threads of one wave do
        assert f"**{256 - wave} of 256**" in claim.ran
    for row in lesson.waves(experiment).rows:
        assert int(row[2]) * int(row[3]) == int(row[1])


def test_without_the_barrier_there_is_a_race_at_every_distance(experiment: Experiment, lesson: Lesson):
    rows = lesson.without_barrier(experiment).rows
    assert rows[0][2:] == ("0 of 32", "no finding")
    assert all(re.fullmatch(r"race: cell \d+, thread \d+ (reads|writes), thread \d+ (reads|writes)", row[3]) for row in rows[1:])


def test_only_the_atomic_counter_counts_every_thread(experiment: Experiment, lesson: Lesson):
    plain, atomic = lesson.counters(experiment).rows
    assert atomic[2:] == ("32 of 32", "no race")
    assert plain[3] == "a race"
    if experiment.adapter.is_software:  # the lanes of a wave read before any of them writes
        assert int(plain[2].split()[0]) < 32


def test_the_fix_is_the_barrier(experiment: Experiment):
    broken = find_lesson(STEM)(barrier=False)
    mended = find_lesson(STEM)(**broken.fix)
    lines = [set(one.job().source.split("\n")) for one in (broken, mended)]
    assert lines[0] <= lines[1]
    assert (
        mended.job().source.count("GroupMemoryBarrierWithGroupSync")
        == broken.job().source.count("GroupMemoryBarrierWithGroupSync") + 1
    )


def test_memory_is_farther_the_larger_it_is(experiment: Experiment, lesson: Lesson):
    bars = lesson.latency(experiment).shows[0]
    assert len(bars.amounts) == 4
    assert bars.amounts[3] > 3 * bars.amounts[2]  # some tens of times, also on a machine that is busy
    claim = lesson.hundreds(experiment)
    assert "shared memory" in claim.ran
    assert ("caches of a CPU." in claim.said) == experiment.adapter.is_software == (claim.holds == "undecided")
