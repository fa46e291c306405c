"""The lockstep order: which threads move together, where they meet again, and that no state is shown that never existed."""

import pytest
from playwright.sync_api import Page, expect

from helpers.stepping import STEPPING, ask, at, example, press, ready, site, stepper, to

# Of each run of events that are one statement: [epoch, line, kinds, threads].
ROWS = """root => {
    const {recording} = splatscope.inspect(root).moment, {order, row} = recording.lockstep, rows = []
    let last = null
    for (const e of order) {
        const key = `${recording.epoch[e]} ${row[e]}`, {line, kind} = recording.about(e)
        if (last?.key !== key) rows.push(last = {key, epoch: recording.epoch[e], line, kinds: new Set(), threads: new Set()})
        last.kinds.add(kind)
        last.threads.add(recording.thread[e])
    }
    return rows.map(({epoch, line, kinds, threads}) => [epoch, line, [...kinds], [...threads].sort((a, b) => a - b)])
}"""

# Whether each event comes once, each thread's in the order of its program, and each read finds what it read.
HOLDS = """root => {
    const {recording} = splatscope.inspect(root).moment, {order} = recording.lockstep
    const turn = new Uint32Array(recording.threads), cells = new Map()
    let inOrder = new Set(order).size === recording.length, unseen = 0
    for (const e of order) {
        inOrder &&= recording.turn[e] === turn[recording.thread[e]]++
        const {kind, memory} = recording.about(e), place = recording.target[e]
        if (memory === undefined || !place) continue
        if (kind === 'read' && cells.has(place) && cells.get(place) !== recording.value(e)) unseen++
        if (kind === 'write') cells.set(place, recording.value(e))
        if (kind === 'atomic') cells.delete(place)
    }
    return {inOrder, unseen}
}"""


@pytest.fixture
def sort(turn_to) -> Page:
    return ready(turn_to(STEPPING))


def test_threads_move_together_and_meet_again_after_they_part(sort):
    rows = ask(sort, ROWS)
    everybody = list(range(32))
    turns = [threads for epoch, line, _, threads in rows if line == 19 and epoch >= 1]
    assert turns
    assert all(threads == everybody for threads in turns)  # who continues waits for the others before the next turn
    parted = [threads for _, line, _, threads in rows if line == 23]
    assert {len(threads) for threads in parted} == {16, 32}  # half of them, but for partners 32 places away
    assert all(threads == everybody for _, line, kinds, threads in rows if "arrive" in kinds)
    both_sides = [rows[i][3] + rows[i + 1][3] for i in range(len(rows) - 1) if (rows[i][1], rows[i + 1][1]) == (27, 28)]
    assert all(threads[: len(threads) // 2] == threads[len(threads) // 2 :] for threads in both_sides)


def test_branches_and_loops_of_unequal_length_end_together(sort):
    example(sort, "nan-across-threads")
    rows = [(line, threads) for _, line, _, threads in ask(sort, ROWS)]
    lines = [line for line, _ in rows]
    assert dict(rows)[22] == [0, 1, 2, 3]  # near += 1
    halving = [threads for line, threads in rows if line == 26]
    assert halving == [*[[4, 5, 6, 7]] * 4, [5, 6, 7], [6, 7], [7]]
    assert lines.index(22) < lines.index(26) < lines.index(28)
    assert all(threads == list(range(8)) for line, threads in rows if line in (20, 28, 29))
    assert [threads for line, threads in rows if line == 8] == [list(range(8))]  # in the function that all call


@pytest.mark.parametrize("name", ["bitonic-sort", "missing-barrier", "compare-and-swap", "plain-histogram", "divergent-barrier"])
def test_every_read_finds_what_it_read(sort, name):
    if name != "bitonic-sort":
        example(sort, name)
    assert ask(sort, HOLDS) == {"inOrder": True, "unseen": 0}


def test_who_has_diverged_is_shown(sort):
    press(sort, "o")
    to_line = """root => { const stepper = splatscope.inspect(root), {moment} = stepper, {recording} = moment
        for (let p = 6000; p < recording.length; p++)
            if (recording.about(moment.eventAt(p)).line === 23) return stepper.seek(p + 1) }"""
    ask(sort, to_line)
    expect(sort.locator(".threads .second .dim")).to_have_text("16 run, 16 diverged")
    expect(sort.locator("table.lanes .lane.apart")).to_have_count(16)
    press(sort, "o")
    expect(sort.locator("table.lanes .lane.apart")).to_have_count(0)


def test_a_statement_is_stepped_by_all_who_execute_it(sort):
    press(sort, "o")
    to(sort, 1)
    lines = []
    for _ in range(12):
        press(sort, "s")
        lines.append(site(sort)["line"])
    assert lines[:4] == [9, 10, 11, 12]
    assert at(sort) > 300
    there = stepper(sort).get_attribute("data-step")
    press(sort, "s")
    press(sort, "Shift+s")
    expect(stepper(sort)).to_have_attribute("data-step", there)


def test_the_other_order_of_a_figure_is_seen_and_left_again(turn_to):
    # No recording ships for this distance. One that does would be replaced by this device's own while the test steps.
    page = ready(turn_to("/app?page=workgroups&away=9"))
    switch = page.get_by_role("button", name="The device's order: show lockstep")
    way_back = page.get_by_role("button", name="Leave lockstep")
    expect(way_back).to_have_count(0)
    switch.click()
    expect(way_back).to_be_visible()
    expect(page.get_by_role("button", name="One statement forward")).to_be_visible()
    to(page, 1)
    for _ in range(6):
        press(page, "ArrowRight")
        together = "root => [...Array(32).keys()].every((thread) => splatscope.inspect(root).moment.isAtHand(thread))"
        assert ask(page, together), "an arrow moves all threads that execute the statement"
    way_back.press("Enter")
    expect(way_back).to_have_count(0)
    expect(page.get_by_role("button", name="One step forward")).to_be_focused()
    expect(page.get_by_role("button", name="One step forward")).to_be_visible()
    press(page, "ArrowRight")
    assert at(page) in ask(page, "root => splatscope.inspect(root).model.stops")


def test_another_recording_opens_in_lockstep_after_a_whole_statement(turn_to):
    page = ready(turn_to("/app?page=workgroups&away=9"))  # no recording ships for this distance, nor for the other
    before = stepper(page).get_attribute("data-recording")
    page.get_by_role("button", name="The device's order: show lockstep").click()
    expect(page.get_by_role("button", name="Leave lockstep")).to_be_visible()
    away = page.get_by_role("spinbutton").first
    away.fill("11")
    away.press("Enter")
    expect(stepper(page)).not_to_have_attribute("data-recording", before)
    expect(page.get_by_role("button", name="Leave lockstep")).to_be_visible()
    assert ask(
        ready(page),
        """root => {
          const {moment} = splatscope.inspect(root), {position} = moment
          return moment.lockstep && position > 0 && !moment.isTogether(moment.eventAt(position - 1), moment.eventAt(position))
        }""",
    )


def test_a_chosen_thread_that_steps_over_a_call_leaves_the_arrows_to_all(turn_to):
    page = ready(turn_to("/app?page=reduction"))
    stops = ask(page, "root => splatscope.inspect(root).model.stops")
    press(page, "Shift+n")
    press(page, "ArrowRight")
    assert at(page) in stops


def test_a_single_thread_has_one_order(turn_to):
    page = ready(turn_to("/app?page=undo"))
    press(page, "Home", "ArrowRight")
    first = at(page)
    press(page, "o")
    expect(page.get_by_test_id("step-sentence")).to_have_text("There is only one thread: both orders are the same.")
    press(page, "ArrowLeft", "ArrowRight")
    assert at(page) == first
    expect(page.get_by_role("button", name="show lockstep")).to_have_count(0)
