"""The state of a recording at any position, compared with searches of the recording from its beginning."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import splatscope
from splatscope.paths import LESSONS
from splatscope.recordings.expressions import ExpressionError, NoValueError, parse
from splatscope.recordings.timeline import Cell, Timeline
from splatscope.textbook.query import RecordingQuery


@cache
def opened(stem: str = "bitonic-sort") -> tuple[Timeline, RecordingQuery]:
    recorded = splatscope.load(LESSONS / stem / "recording-software.npz").recorded
    assert recorded.job is not None
    return Timeline(recorded, recorded.job, recorded.layouts), RecordingQuery(recorded, recorded.job, [])


def known(timeline: Timeline, name: str, index: int, position: int):
    memory = timeline.memory(name, [])
    assert memory is not None
    return timeline.cell(Cell(memory[0], index), position)[""]


@settings(deadline=None)
@given(st.data())
def test_cells_hold_what_was_written_last(data):
    timeline, query = opened()
    position = data.draw(st.integers(1, timeline.length))
    for name in ("blobs", "sorted"):
        assert [known(timeline, name, i, position) or 0 for i in range(16)] == query.contents(name, 16, [position])[0].tolist()


@settings(deadline=None)
@given(st.data())
def test_variables_hold_what_their_call_set_last(data):
    timeline, query = opened()
    thread, position = data.draw(st.integers(0, 31)), data.draw(st.integers(1, timeline.length))
    here = timeline.here(thread, position)
    assert here is not None
    for number, about in enumerate(timeline.variables):
        if about["function"] != here[1].function:
            continue
        steps = query.steps(kind="value", name=about["name"], function=about["function"], thread=thread)
        steps = steps[steps <= position]
        try:
            value = timeline.local(thread, number, position)
        except NoValueError:
            begin = timeline.own[thread][here[1].begin]
            looped = any(site.kind == "loop" for site in map(query.site, query.steps(thread=thread, kind="loop")))
            assert not len(steps) or steps[-1] <= begin or looped
        else:
            assert value == query.values(steps[-1:])[0]


@pytest.mark.parametrize("thread", [0, 31])
def test_steps_go_back_the_way_they_came(thread):
    timeline, _ = opened()
    first = position = int(timeline.own[thread][0])
    while not timeline.is_done(thread, position):
        following = timeline.over(thread, position)
        assert following > position
        here, there = timeline.here(thread, position), timeline.here(thread, following)
        assert here is not None
        assert there is not None
        if there[1] is here[1] and not timeline.is_done(thread, following):
            assert timeline.back(thread, following) == position
        position = following
    while position > first:
        earlier = timeline.back(thread, position)
        assert earlier < position
        position = earlier
    assert timeline.back(thread, first) == first


def test_steps_go_into_calls_past_their_parameters_and_out_again():
    timeline, _ = opened()
    at = int(timeline.statements_on("shortlist.slang", 70)[0])
    thread = timeline.thread(at)
    inner = timeline.into(thread, at)
    site, frame = timeline.here(thread, inner) or pytest.fail("the thread is nowhere")
    assert (frame.function, frame.depth, site.line) == ("orderPair", 2, 81)
    assert {parse(name).value(timeline.look(thread, inner)) for name in ("ascending", "l == i + 1")} == {True}
    outer = timeline.here(thread, timeline.out(thread, inner))
    assert outer is not None
    assert outer[1] is frame.parent
    call = timeline.line_of(frame)
    assert call is not None
    assert "orderPair(" in timeline.trace.info.sources[call.file].split("\n")[call.line - 1]


def test_a_statement_that_calls_begins_once():
    timeline, _ = opened()
    starts = timeline.statements_on("shortlist.slang", 55)  # uint end = nextPowerOfTwo(…): a call, then its value
    assert np.unique(timeline.trace.thread[timeline._order[starts]]).tolist() == list(range(32))
    assert len(starts) == 32


def test_a_variable_of_a_loops_body_has_no_value_at_its_head():
    timeline, _ = opened("training-loop")
    with_loops = [number for number, loops in enumerate(timeline._loops) if loops]
    assert with_loops
    variable = next(number for number in with_loops if len(timeline.changes(0, number)) > 1)
    about = timeline.variables[variable]
    second = int(timeline.changes(0, variable)[1])
    own = timeline.own[0]
    heads = [int(p) for p in own[own < second] if timeline._site[p] in timeline._loops[variable]]
    with pytest.raises(NoValueError, match="no value yet"):
        timeline.local(0, variable, heads[-1] + 1)
    assert about["name"]


def test_names_are_resolved_as_a_reader_means_them():
    timeline, _ = opened()
    end = timeline.length
    look = timeline.look(5, end)
    assert parse("SV_DispatchThreadID.x + lane * 0 + thread - 5").value(look) == 5
    assert parse("sorted[0] <= sorted[1] && sorted[14] <= sorted[15]").value(look) is True
    assert len(parse("sorted").value(look)) == 16
    for text, words in (("sorted[16]", "16 is outside"), ("nobody", "No variable"), ("padded", "in parts: padded._dummy")):
        with pytest.raises(ExpressionError, match=words):
            parse(text).value(look)
    assert timeline.knows({"keys", "i", "thread"}) == ""
    assert timeline.knows({"keys", "nobody"}) == "nobody"


def test_atomics_change_their_cell():
    timeline, query = opened("reduction")
    memory = timeline.memory("derivBuffer", [])
    assert memory is not None
    cell = Cell(memory[0], 0)
    writes = timeline.accesses(cell, reads=False, writes=True)
    before, after = (timeline.cell(cell, position) for position in (int(writes[0]), timeline.length))
    assert before != after
    assert {timeline.site(position).kind for position in writes.tolist()} <= {"atomic", "write"}
    assert after[""] == query.recording.outputs["derivBuffer"][0]  # its bits: the kernel compares and swaps them
