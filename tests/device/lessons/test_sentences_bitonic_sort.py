"""The sentences on the bitonic sort, against the network in Python and the raw order of reads and writes."""

import re
from collections import Counter

import numpy as np
import pytest

import reference

MERGE = "the last merge of eight"
ORDERLY = [
    {},
    {"count": 2},
    {"count": 13, "seed": 3},
    {"count": 64, "order": "falling"},
    {"runs": MERGE},
    {"runs": MERGE, "eight": "1 9 2 8 3 7 4 6"},
    {"runs": MERGE, "eight": "3 1 2 5 7 8 6 4", "barrier": False},
]
BROKEN = [
    {"barrier": False},
    {"barrier": False, "count": 64},
    {"barrier": False, "count": 5},
    {"barrier": False, "order": "rising"},
]


@pytest.mark.parametrize("values", ORDERLY)
def test_every_sentence_is_what_the_network_does(record_lesson, values):
    lesson, query = record_lesson("bitonic-sort", **values)
    sentences, stops = lesson.sentences(query), lesson.stops(query)
    network = reference.bitonic_network(lesson.keys().tolist(), merge_alone=lesson.runs == MERGE)
    twin = [(k, j, len(swapped), keys) for k, j, swapped, keys in network]
    assert len(sentences) == len(stops) == len(twin)
    assert lesson.opening(query) in stops
    size = len(twin[-1][3])
    for number, (sentence, (k, j, swaps, now)) in enumerate(zip(sentences, twin, strict=True), 1):
        assert len(sentence) <= 150
        said = re.match(r"Pass (\d+) of (\d+) \(`k` = (\d+), `j` = (\d+)\): (\d+) of (\d+) pairs? changed places\. (.+)$", sentence)
        assert tuple(map(int, said.groups()[:6])) == (number, len(twin), k, j, swaps, size // 2)
        why = said[7]
        groups = [now[at : at + k] for at in range(0, size, k)]
        if "sorted" in why:
            assert (now == sorted(now)) == ("not" not in why)
            assert j == 1
            assert k == size
        elif group := re.match(r"Groups of (\d+) are in order", why):
            assert int(group[1]) == k
            assert all(own == sorted(own, reverse=i % 2 == 1) for i, own in enumerate(groups))
        elif within := re.match(r"Each key is now within the (\d+) places", why):
            width = int(within[1])
            ends = sorted(now)
            assert all(sorted(now[at : at + width]) == ends[at : at + width] for at in range(0, size, width))
        else:
            assert why == f"Keys {j} places apart were compared."


@pytest.mark.parametrize("values", BROKEN)
def test_without_the_barrier_the_sentences_name_reads_that_came_too_early(record_lesson, values):
    lesson, query = record_lesson("bitonic-sort", **values)
    sentences, stops = lesson.sentences(query), lesson.stops(query)
    assert len(sentences) == len(stops)
    opening = lesson.opening(query)
    assert opening == len(query) > stops[-1] or sentences[stops.index(opening)].startswith("Too early: ")
    trace, order = query.recording.trace, query.recording.trace.order
    turn, compared, swaps, touched = Counter(), Counter(), Counter(), []  # told from the trace alone
    through: dict[tuple[int, int], int] = {}  # (thread, pass): the last step that it made in it
    for step, event in enumerate(order, 1):
        site, thread = trace.sites[trace.site[event]], int(trace.thread[event])
        if site.kind == "value" and site.name == "j" and site.function == "sortWithoutBarrier" and trace.value(int(event))[0] > 0:
            turn[thread] += 1
        if site.function in ("orderPair", "sortWithoutBarrier") and turn[thread]:
            through[thread, turn[thread]] = step
        if site.function == "orderPair" and site.kind in ("read", "write"):
            touched.append((step, site.kind, thread, int(trace.index[event]), turn[thread]))
            compared[thread, turn[thread]] += site.kind == "read"
            swaps[thread, turn[thread]] += site.kind == "write"

    def came_too_early(sentence: str, until: int) -> bool:
        found = re.search(r"Thread (\d+) read `blobs\[(\d+)\]` before thread (\d+) had written it\.", sentence)
        reader, place, writer = map(int, found.groups())
        reads = [
            (step, at)
            for step, kind, thread, cell, at in touched
            if (kind, thread, cell) == ("read", reader, place) and step <= until
        ]
        writes = [(step, at) for step, kind, thread, cell, at in touched if (kind, thread, cell) == ("write", writer, place)]
        return reader != writer and any(wrote > read and by == at - 1 for read, at in reads for wrote, by in writes)

    end = lesson.conclusion(query)
    for step, sentence in zip(stops, sentences, strict=True):
        assert len(sentence) <= 150
        if early := re.match(
            r"Too early: for pass (\d+), thread (\d+) reads (\d+) from `blobs\[(\d+)\]`\. Thread (\d+) ", sentence
        ):
            number, reader, got, place, writer = map(int, early.groups())
            assert (step, "read", reader, place, number) in touched
            assert got == query.values([step])[0]
            assert any(one[1:] == ("write", writer, place, number - 1) and one[0] > step for one in touched)
            continue
        said = re.match(r"Threads (\d+) to (\d+) have finished pass (\d+) of (\d+): (.+)$", sentence)
        first, last, number, _ = map(int, said.groups()[:4])
        mine = [(thread, number) for thread in range(first, last + 1)]
        assert max(through[one] for one in mine) <= step
        pairs, swapped = sum(compared[one] for one in mine) // 2, sum(swaps[one] for one in mine) // 2
        assert said[5].startswith(f"{swapped} of their {pairs} pairs" if pairs else "they have no pair")
        if "before" in sentence:
            assert came_too_early(sentence, step)
    result = query.output("sorted")
    wrong = int(np.sum(result != np.arange(len(result))))
    assert end.startswith(f"{wrong} of {len(result)} keys are in the wrong place." if wrong else "By luck, all keys are in order.")
    if "before" in end:
        assert came_too_early(end, len(query))
    else:
        assert not wrong or "No thread read too early" in end


def test_on_this_device_the_missing_barrier_is_seen_and_told(record_lesson, experiment):
    lesson, query = record_lesson("bitonic-sort", barrier=False)
    if experiment.adapter.wave_size < 16:
        assert re.match(r"\d+ of 16 keys are in the wrong place. Thread \d+ read", lesson.conclusion(query))
        assert lesson.facts(query)["stale"]
