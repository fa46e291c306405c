"""The section on the bitonic sort, against the network in NumPy."""

import re
import sys
from itertools import permutations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import reference
from splatscope.textbook.contents import find_lesson, text_of
from splatscope.textbook.experiment import Experiment
from splatscope.textbook.lesson import Lesson

STEM = "bitonic-sort"
CLAIMS = ("lower_half", "nearest_first", "no_idle")


@settings(max_examples=12, deadline=None)
@given(count=st.integers(2, 70), order=st.sampled_from(["shuffled", "rising", "falling", "a hill"]), seed=st.integers(0, 9999))
def test_the_scene_is_the_network(experiment: Experiment, count: int, order: str, seed: int):
    lesson = find_lesson(STEM)(count=count, order=order, seed=seed)
    query = experiment.record(lesson.job())
    assert query.recording.same_as_plain
    assert query.findings == []
    assert np.array_equal(query.output("sorted"), np.arange(count))
    facts, twin = lesson.facts(query), reference.bitonic_network(lesson.keys().tolist())
    assert [(p["k"], p["j"], p["swapped"], after) for p, after in zip(facts["passes"], facts["after"], strict=True)] == twin
    assert lesson.stops(query) == [p["end"] for p in facts["passes"]] == sorted({p["end"] for p in facts["passes"]})
    swaps, sentinels = lesson.swaps(query), lesson.sentinels(query)
    assert swaps.value == str(len(twin[0][2]))
    assert sentinels.value == str(len(twin[0][3]) - count)
    for answer in (swaps, sentinels):
        assert set(answer.options) == {answer.value, *answer.wrong}
        assert answer.value not in answer.wrong
        assert 2 <= len(set(answer.options)) == len(answer.options) <= 4
    assert str(count) in sentinels.question


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return find_lesson(STEM)()


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_claims_do_not_hold(experiment: Experiment, lesson: Lesson, claim: str):
    assert getattr(lesson, claim)(experiment).holds is False


def test_the_claim_on_steps_holds_in_part(experiment: Experiment, lesson: Lesson):
    assert lesson.serial_fifteen(experiment).holds is None


def test_what_was_counted(experiment: Experiment, lesson: Lesson):
    assert "80 of 160" in lesson.lower_half(experiment).ran
    assert "sorted, 0 and 1: **(0.75, 0.25, 0.50)**" in lesson.nearest_first(experiment).ran
    assert "in 10 passes: **80**" in lesson.serial_fifteen(experiment).ran
    assert "23,040" in lesson.no_idle(experiment).ran
    assert "11,520 return at once" in lesson.no_idle(experiment).ran


@settings(max_examples=25, deadline=None)
@given(peak=st.integers(0, 7), turn=st.integers(0, 7), keys=st.lists(st.integers(0, 99), min_size=8, max_size=8))
def test_three_passes_sort_what_is_bitonic(experiment: Experiment, peak: int, turn: int, keys: list[int]):
    keys = sorted(keys)
    hill = np.roll(keys[:peak] + keys[peak:][::-1], turn)
    table, words = find_lesson(STEM)(eight=" ".join(map(str, hill))).merge(experiment).shows
    assert "the list is sorted: the sequence was bitonic" in words.text
    assert [int(cell) for cell in table.rows[-1][1:9]] == keys
    now = [int(cell.split()[0].strip("*")) for cell in table.rows[0][1:9]]
    for row, j in zip(table.rows[1:], (4, 2, 1), strict=True):
        swapped = [i for i in range(8) if not i & j and now[i] > now[i + j]]
        for i in swapped:
            now[i], now[i + j] = now[i + j], now[i]
        assert row[9] == f"{len(swapped)} of 4"
        assert [int(cell.split()[0].strip("*")) for cell in row[1:9]] == now


def test_what_is_not_bitonic_stays_unsorted_and_says_so(experiment: Experiment):
    _, words = find_lesson(STEM)(eight="1 9 2 8 3 7 4 6").merge(experiment).shows
    assert "the list is not sorted: the sequence was not bitonic" in words.text
    assert "Type eight" in find_lesson(STEM)(eight="1 2 3").merge(experiment).text


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=8, max_size=8))
@example([2, 4, 6, 8, 7, 5, 3, 1])
@example([3, 3, 3, 3, 3, 3, 3, 3])
@example([1, 9, 2, 8, 3, 7, 4, 6])
def test_the_rings_show_one_pass_at_every_height(experiment: Experiment, keys: list[int]):
    shown = find_lesson(STEM)(eight=" ".join(map(str, keys))).ring(experiment)
    low, high = zip(*(sorted((keys[i], keys[i + 4])) for i in range(4)), strict=True)
    heights = sorted(set(keys))[:-1] or keys[:1]
    assert len(shown.words) == len(heights)
    for height, scene, words in zip(heights, shown.scenes, shown.words, strict=True):
        before, after = ([int(key) for key in re.findall(r"middle\">(\d+)</text>", svg)] for svg in scene.svgs)
        assert (before, after) == (keys, [*low, *high])
        assert scene.svgs[0].count('class="strong"') == sum(keys[i] > keys[i + 4] for i in range(4))
        assert scene.svgs[0].count('class="full"') == scene.svgs[1].count('class="full"') == sum(key > height for key in keys)
        circle = "".join("●" if key > height else "○" for key in keys)
        runs = (circle + circle[0]).count("○●")
        many = circle.count("●")
        assert words.startswith(
            f"Above {height}: {f'{many} ● in {runs} runs' if runs > 1 else f'a run of {many} ●' if many else 'no ●'}."
        )
        assert ("left half all ○" in words) == (max(low) <= height)
        assert ("right half all ●" in words) == (min(high) > height)


def test_the_proof_opens_on_a_run_of_three(experiment: Experiment):
    shown = find_lesson(STEM)().ring(experiment)
    assert shown.words[shown.first] == "Above 5: a run of 3 ●. After the pass: left half all ○"
    assert "Type eight" in find_lesson(STEM)(eight="1 2 3").ring(experiment).text


def test_padding_ends_up_behind_all_keys(experiment: Experiment):
    came, padded, done = (row[1:] for row in find_lesson(STEM)().padding(experiment).rows)
    assert padded == (*came[:5], "∞", "∞", "∞")
    assert done == (*map(str, range(5)), "∞", "∞", "∞")


def test_the_missing_barrier_is_found(experiment: Experiment):
    with_it, without = find_lesson(STEM)(count=64).without_barrier(experiment).rows
    assert with_it[1:] == ("0 of 64 places", "0", "no finding")
    assert int(without[2]) > 0
    assert without[3].startswith("lines ")
    broken = find_lesson(STEM)(count=64, barrier=False)
    query = experiment.record(broken.job())
    assert {finding.kind for finding in query.findings} == {"race"}
    wave = min(32, int(query.recording.trace.info.wave_size))
    stale = broken.facts(query)["stale"]
    assert len(broken.stops(query)) == 21 * (32 // wave) + bool(stale)  # each wave ends each pass by itself
    if stale:
        shown, order = broken.findings(query)[0], query.recording.trace.order
        assert [int(np.flatnonzero(order == event)[0]) + 1 for event in shown.events] == [stale[0]["step"], stale[0]["write"]]
        assert shown.threads == [stale[0]["thread"], stale[0]["writer"]]
        assert shown.index == stale[0]["place"]
    wrong = broken.facts(query)["wrong"]
    assert wrong == np.flatnonzero(query.output("sorted") != np.arange(64)).tolist()


def test_the_partners_that_are_shown_differ_in_one_bit(experiment: Experiment, lesson: Lesson):
    rows = lesson.pairs(experiment).rows
    assert len(rows) == 8
    for i, row in enumerate(rows):
        assert [int(cell.split(" = ")[1]) for cell in row] == [i, i ^ 1, i ^ 2, i ^ 4]
        assert [int(cell.split("`")[1], 2) for cell in row] == [i, i ^ 1, i ^ 2, i ^ 4]


def test_most_that_the_merge_sorts_is_not_bitonic(lesson: Lesson):
    """The text says so: of 40,320 orders of eight keys, 4,096 come out sorted, and 512 of these are bitonic."""
    lists = np.array(list(permutations(range(8))))
    merged = lists.copy()
    for j in (4, 2, 1):
        low = [i for i in range(8) if not i & j]
        high = [i + j for i in low]
        merged[:, low], merged[:, high] = np.minimum(merged[:, low], merged[:, high]), np.maximum(merged[:, low], merged[:, high])
    comes_out = lists[(merged == np.arange(8)).all(axis=1)]
    bitonic = sys.modules[type(lesson).__module__].bitonic
    assert len(comes_out) == 4096
    assert sum(bitonic(row) for row in comes_out) == 512
    assert all(number in text_of(STEM) for number in ("40,320", "4,096", "512 of these are bitonic"))


def test_a_tile_looks_different_unsorted_and_other_sorts_sort_too(experiment: Experiment, lesson: Lesson):
    assert lesson.why_sort(experiment).pictures[2].pixels.max() > 0.1
    assert len(lesson.others(experiment).amounts) == 3  # raises where one does not sort
    assert [curve.y[-1] for curve in lesson.cost(experiment).curves[:2]] == [45, 11520]
