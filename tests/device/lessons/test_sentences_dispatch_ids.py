"""The sentences on threads and pixels, against arithmetic and the raw writes of the recording."""

import re

import numpy as np
import pytest

CASES = [
    {},
    {"group": 3},
    {"arrangement": "from a list"},
    {"arrangement": "from a list", "group": 2},
    {"arrangement": "by shape"},
    {"arrangement": "by shape", "group": 1},
]
FOUND = re.compile(r"Threads (\d+) to (\d+) (.+): rows? (\d+)(?: to (\d+))?, columns? (\d+)(?: to (\d+))?\.$")
DREW = re.compile(r"Threads (\d+) to (\d+) have drawn their pixels: (\d+) of the workgroup's 32 have a colour\.$")


def pixel_of(arrangement: str, number: int) -> tuple[int, int]:
    """The pixel of a thread of the dispatch, by arithmetic."""
    group, lane = divmod(number, 32)
    match arrangement:
        case "in a row":
            return number % 16, number // 16
        case "from a list":  # as the sample lists them: x outside, y inside, of tiles and of places
            return group // 2 * 8 + lane // 4, group % 2 * 4 + lane % 4
    return group % 2 * 8 + lane % 8, group // 2 * 4 + lane // 8


@pytest.mark.parametrize("values", CASES)
def test_every_sentence_is_what_arithmetic_and_the_writes_say(record_lesson, values):
    lesson, query = record_lesson("dispatch-ids", **values)
    stops, sentences = lesson.stops(query), lesson.sentences(query)
    assert len(stops) == len(sentences)
    assert len(stops) == len(set(stops))  # in lockstep: no order by step
    assert lesson.opening(query) in stops
    wave = min(32, int(query.recording.trace.info.wave_size))
    covered = {"found": [], "drew": []}
    for step, sentence in zip(stops, sentences, strict=True):
        assert len(sentence) <= 150
        if drew := DREW.match(sentence):
            first, last, done = map(int, drew.groups())
            covered["drew"] += range(first, last + 1)
            written = query.steps(kind="write", name="picture")
            by_now = written[written <= step]
            assert done == len(by_now)
            assert set(range(first, last + 1)) <= set(query.threads(by_now).tolist())
            continue
        first, last = map(int, FOUND.match(sentence).groups()[:2])
        covered["found"] += range(first, last + 1)
        assert last - first + 1 == wave
        low = lesson.group * 32 + first
        pixels = np.array([pixel_of(lesson.arrangement, low + i) for i in range(wave)])
        row, row_to, column, column_to = (int(n) if n else None for n in FOUND.match(sentence).groups()[3:])
        assert (row, row if row_to is None else row_to) == (pixels[:, 1].min(), pixels[:, 1].max())
        assert (column, column if column_to is None else column_to) == (pixels[:, 0].min(), pixels[:, 0].max())
        assert ("divide" in sentence) == (lesson.arrangement == "in a row")
        assert ("list" in sentence) == (lesson.arrangement == "from a list")
        if numbers := re.search(r"(\d+) to (\d+)(?:, by 16| of the list)", sentence):
            assert tuple(map(int, numbers.groups())) == (low, low + wave - 1)
    assert all(sorted(threads) == list(range(32)) for threads in covered.values())


def test_the_figure_opens_with_pixels_that_are_drawn(record_lesson):
    lesson, query = record_lesson("dispatch-ids")
    assert "have drawn" in lesson.sentences(query)[lesson.stops(query).index(lesson.opening(query))]
