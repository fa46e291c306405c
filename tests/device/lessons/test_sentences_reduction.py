"""The sentences of the section on reduction against a tree in NumPy, and without the barrier against the trace itself."""

import re

import numpy as np
import pytest

from helpers.numbers_in_text import numbers_in

CASES = [
    {},
    {"count": 32, "scale": 100.0},
    {"count": 256, "scale": 20.0, "seed": 9},
    {"scale": 0.1, "seed": 2},  # its sum is 0
    {"barrier": False},
    {"count": 32, "barrier": False},
    {"count": 256, "barrier": False, "scale": 20.0},
]


def numbers(sentence: str) -> list[float]:
    return numbers_in(sentence)


def sums(values: np.ndarray) -> list[float]:
    """Thread 0's sum before the first round and after each, if every thread waits for the others."""
    row = np.clip(values, -10, 10).astype(np.float32)
    found = [float(row[0])]
    while len(row) > 1:
        row = row[: len(row) // 2] + row[len(row) // 2 :]
        found.append(float(row[0]))
    return found


def early_reads(query, count: int) -> list[list[int]]:
    """By round, the threads whose partner's last write before their read was not that of the round before."""
    writes, reads = (query.steps(kind=kind, name="reductionBuffer") for kind in ("write", "read"))
    owners, readers, cells = query.threads(writes), query.threads(reads), query.indices(reads)
    rounds = []
    stride = count // 2
    while stride:
        theirs = (cells - readers == stride) & (readers < stride)
        due = 1 + len(rounds)  # writes that the owner has to have made: its gradient, and one in each round before
        early = [
            int(thread)
            for step, thread in zip(reads[theirs], readers[theirs], strict=True)
            if np.sum((owners == thread + stride) & (writes < step)) < due
        ]
        rounds.append(early)
        stride //= 2
    return rounds


@pytest.mark.parametrize("values", [case for case in CASES if case.get("barrier", True)])
def test_each_sentence_is_true(record_lesson, values):
    lesson, query = record_lesson("reduction", **values)
    first, *rounds, last = lesson.sentences(query)
    gradients, count = lesson.values(), lesson.count
    wanted = sums(gradients)
    cut = int(np.sum(np.abs(gradients) > 10))
    assert numbers(first) == pytest.approx([count, *([cut] if cut else []), 10, 0, wanted[0]], rel=1e-4)
    assert ("none of them" in first) == (cut == 0)
    for number, sentence in enumerate(rounds, 1):
        stride = count >> number
        assert sentence.startswith(f"Round {number}: {stride} of {count} threads added the value {stride} place")
        assert numbers(sentence.split("Thread 0 got")[1]) == pytest.approx([wanted[number], count // stride], rel=1e-4)
    total = float(query.output("derivBuffer").view(np.float32)[0])
    assert numbers(last)[1] == pytest.approx(total, rel=1e-4)
    assert ("nothing to add" in last) == (total == 0)


@pytest.mark.parametrize("values", [case for case in CASES if not case.get("barrier", True)])
def test_without_the_barrier_each_sentence_is_true_of_its_wave(record_lesson, values):
    lesson, query = record_lesson("reduction", **values)
    early, writes = early_reads(query, lesson.count), query.steps(kind="write", name="reductionBuffer")
    told = []
    for step, sentence in zip(lesson.stops(query), lesson.sentences(query), strict=True):
        if said := re.match(r"Round (\d+): threads? (\d+)(?: to (\d+))? added the value (\d+) places? away", sentence):
            number, first, last, stride = (int(part or said[2]) for part in said.groups())
            assert stride == lesson.count >> number
            mine = [thread for thread in early[number - 1] if first <= thread <= last]
            assert f", {len(mine)} too early" in sentence if mine else "early" not in sentence
            own = writes[query.threads(writes) == last][number]  # its gradient comes first, then a sum in each round
            assert own <= step
            assert numbers(sentence.split(f"Thread {last} got")[1])[0] == pytest.approx(float(query.values([own])[0]), rel=1e-4)
            told.append((number, first))
        elif said := re.match(r"Too early: for round (\d+), thread (\d+) reads", sentence):
            assert int(said[2]) in early[int(said[1]) - 1]
            assert query.site(step).kind == "read"
            assert step == lesson.opening(query)
    assert len(told) == len(set(told))
    assert {number for number, _ in told} == set(range(1, len(early) + 1))


def test_taking_the_barrier_out_is_told(record_lesson, experiment):
    """With two waves at work one of them runs ahead; where one wave does it all, nothing need go wrong."""
    lesson, query = record_lesson("reduction", count=256, barrier=False)
    if experiment.adapter.wave_size < 128:
        assert any(sentence.startswith("Too early") for sentence in lesson.sentences(query))


@pytest.mark.parametrize("values", CASES)
def test_stops_and_questions(record_lesson, values):
    lesson, query = record_lesson("reduction", **values)
    stops, sentences = lesson.stops(query), lesson.sentences(query)
    assert len(stops) == len(sentences)
    assert stops == sorted(set(stops))
    assert stops[-1] <= len(query)
    assert lesson.opening(query) in stops
    row = np.clip(lesson.values(), -10, 10).astype(np.float32)
    for one in lesson.facts(query)["rounds"]:
        row = row[: len(row) // 2] + row[len(row) // 2 :]
        writes = query.steps(kind="write", name="reductionBuffer")
        mine = [query.values(writes[query.threads(writes) == place]) for place in range(len(row))]
        got = [float(values_[1 + lesson.facts(query)["rounds"].index(one)]) for values_ in mine]
        assert one["wrong"] == [place for place in range(len(row)) if got[place] != row[place]]
    assert all(len(sentence) <= 150 for sentence in sentences)
    for answer in (lesson.neighbour(query), lesson.idle(query)):
        assert set(answer.wrong) == set(answer.options) - {answer.value}
        assert str(lesson.count) in answer.question
