"""The sentences on workgroups, against what the raw trace says had happened by each step."""

import re

import pytest

CASES = [
    {},
    {"away": 1},
    {"away": 31, "barrier": False},
    {"barrier": False},
    {"away": 8, "barrier": False},
    {"away": 16, "barrier": False},
    {"away": 1, "barrier": False},
]


def account(query, step: int) -> dict[str, set[int]]:
    """Which threads had written their number, come to each barrier and read by a step, told from the trace alone."""
    trace, order = query.recording.trace, query.recording.trace.order
    done: dict[str, set[int]] = {"wrote": set(), "first": set(), "second": set(), "read": set()}
    for event in order[:step]:
        site, thread = trace.sites[trace.site[event]], int(trace.thread[event])
        if site.kind == "arrive":
            done["second" if thread in done["first"] else "first"].add(thread)
        elif site.name == "blobs" and site.kind == "write" and trace.value(int(event))[0] > 0:
            done["wrote"].add(thread)
        elif site.name == "blobs" and site.kind == "read":
            done["read"].add(thread)
    return done


@pytest.mark.parametrize("values", CASES)
def test_every_sentence_is_what_the_trace_says(record_lesson, values):
    lesson, query = record_lesson("workgroups", **values)
    stops, sentences = lesson.stops(query), lesson.sentences(query)
    assert len(stops) == len(sentences)
    assert lesson.opening(query) in stops
    received, said_early = query.output("received"), 0
    for step, sentence in zip(stops, sentences, strict=True):
        assert len(sentence) <= 150
        now, before = account(query, step), account(query, step - 1)
        if sentence.startswith("All 32"):
            assert len(now["first"]) == 32
            assert len(before["first"]) == 31
            assert not now["wrote"]
            continue
        first, last = map(int, re.match(r"Threads (\d+) to (\d+) have ", sentence).groups())
        threads = set(range(first, last + 1))
        if "put their numbers" in sentence:
            assert threads <= now["wrote"]
            assert last not in before["wrote"]
            assert int(re.search(r"(\d+) of 32 are filled", sentence)[1]) == len(now["wrote"])
        elif "barrier" in sentence:
            assert lesson.barrier
            assert threads <= now["second"]
            assert int(re.search(r": (?:all )?(\d+)(?: of 32)? have come", sentence)[1]) == len(now["second"])
            assert ("opens" in sentence) == (len(now["second"]) == 32) == ("do not have to wait" in sentence)
        else:
            assert threads <= now["read"]
            assert int(re.search(r"the cells (\d+) places? on", sentence)[1]) == lesson.away
            wrong = [thread for thread in sorted(threads) if received[thread] != (thread + lesson.away) % 32 + 1]
            assert ("All of them had been written" in sentence) == (not wrong)
            if wrong:
                many, of, reader, cell, owner = map(
                    int, re.search(r"(\d+) of (\d+) too early: thread (\d+) read cell (\d+) before thread (\d+)", sentence).groups()
                )
                assert (many, of) == (len(wrong), len(threads))
                assert (reader, cell, owner) == (wrong[0], (wrong[0] + lesson.away) % 32, cell)
                assert received[reader] == 0
                said_early += many
    assert said_early == len(lesson.facts(query)["stale"])


def test_the_figure_opens_where_threads_wait_or_read_too_early(record_lesson, experiment):
    lesson, query = record_lesson("workgroups")
    at = lesson.stops(query).index(lesson.opening(query))
    if experiment.adapter.wave_size < 32:
        assert "wait there: 16 of 32 have come." in lesson.sentences(query)[at]
        broken, raced = record_lesson("workgroups", barrier=False)
        assert "too early" in broken.sentences(raced)[broken.stops(raced).index(broken.opening(raced))]
