"""Two recordings side by side: a broken kernel and its fix."""

import re

import pytest
from playwright.sync_api import Page, expect

from helpers.stepping import next_frame

# The first event, thread by thread, whose value or memory differs, barriers and other lines left out; the slow way.
PARTS = """root => {
    const [first, second] = splatscope.inspect(root).recordings, {order} = first.lockstep
    const told = (recording, e) => {
        const s = recording.about(e)
        return [s.kind, s.name, recording.value(e), recording.target[e]].join()
    }
    const valued = (recording, t) => Array.from({length: recording.count(t)}, (_, i) => recording.nth(t, i))
        .filter((e) => ['value', 'element', 'read', 'write', 'atomic'].includes(recording.about(e).kind))
    let found = null
    for (let t = 0; t < first.threads; t++) {
        const a = valued(first, t), b = valued(second, t)
        const i = a.findIndex((e, i) => b[i] === undefined || told(first, e) !== told(second, b[i]))
        if (i >= 0 && (!found || order.indexOf(a[i]) < order.indexOf(found[0]))) found = [a[i], b[i]]
    }
    return found.map((e) => e + 1)
}"""


@pytest.fixture
def pair(turn_to) -> Page:
    page = turn_to("/parts?page=compared")
    expect(compare(page)).to_have_attribute("data-steps", re.compile(r"\d+"))
    return page


def compare(page: Page):
    return page.get_by_test_id("compare")


def steps(page: Page) -> list[int]:
    next_frame(page)
    return [int(half.get_attribute("data-step")) for half in compare(page).locator("[data-half]").all()]


def test_it_opens_where_the_two_part(pair):
    assert steps(pair) == compare(pair).evaluate(PARTS)
    expect(compare(pair)).to_contain_text("First different event")
    heard = compare(pair).get_by_test_id("compare-heard")
    expect(heard).to_have_text(re.compile(r"^First different event\. Before the fix: .+\. First different value\. [^→]+\.$"))
    expect(heard).not_to_contain_text("Show")
    expect(compare(pair)).to_contain_text(re.compile(r"data differs at the end in \d+ of 64 elements"))
    first, second = compare(pair).locator("[data-half]").all()
    expect(first).to_contain_text("Before the fix")
    expect(first).to_contain_text(re.compile(r"\d+ finding"))
    expect(second).to_contain_text("nothing found")
    values = [half.locator(".now code").text_content() for half in (first, second)]
    assert values[0] != values[1]


def test_the_first_different_event_is_the_barrier_that_the_fix_adds(pair):
    pair.get_by_role("button", name="Show the first different event").click()
    expect(compare(pair).locator("[data-half='2'] .now")).to_contain_text("reaches the barrier")
    difference = [int(step) for step in compare(pair).get_attribute("data-difference").split(",")]
    assert steps(pair) == difference


def test_both_move_together(pair):
    pair.keyboard.press("Home")
    assert steps(pair) == [0, 0]
    for _ in range(3):
        pair.keyboard.press("ArrowRight")
    assert len(set(steps(pair))) == 1
    pair.keyboard.press("Shift+ArrowRight")
    epochs = "root => splatscope.inspect(root).sides.map(({moment, recording}) => recording.epoch[moment.event])"
    assert compare(pair).evaluate(epochs) == [0, 0]
    pair.get_by_role("radio", name="Event by event").click()
    pair.keyboard.press("End")
    lengths = compare(pair).evaluate("root => splatscope.inspect(root).recordings.map((recording) => recording.length)")
    assert compare(pair).evaluate("root => splatscope.inspect(root).sides.map((side) => side.moment.position)") == lengths
    pair.keyboard.press("d")
    assert steps(pair) == compare(pair).evaluate(PARTS)


def test_a_joint_position_keeps_to_its_epoch(pair):
    ok = compare(pair).evaluate(
        """root => { const {alignment, recordings} = splatscope.inspect(root)
        for (let q = 0; q <= alignment.length; q += 7) for (const i of [0, 1]) {
            const p = alignment.at(i, q)
            if (alignment.at(i, alignment.of(i, p)) !== p || p > recordings[i].length) return [q, i, p]
        }
        return recordings.every(({length}, i) => alignment.at(i, alignment.length) === length) }"""
    )
    assert ok is True


def test_a_cell_is_followed_in_both(pair):
    compare(pair).locator("[data-half='1'] .grid .cell").nth(10).click()
    expect(compare(pair).locator("[data-half='2'] .grid .cell.sel")).to_have_count(1)


def test_another_pair(pair):
    before = compare(pair).get_attribute("data-difference")
    pair.get_by_role("button", name="Zero by zero").click()
    expect(compare(pair)).not_to_have_attribute("data-difference", before)
    expect(compare(pair)).to_contain_text("shares differs at the end in 12 of 16 elements")
    expect(compare(pair).locator("[data-half='1'] .now")).to_contain_text("NaN")


@pytest.mark.parametrize("width", [390, 1240])
def test_it_fits_the_screen(turn_to, width):
    page = turn_to("/parts?page=compared", width=width, height=844)
    expect(compare(page)).to_have_attribute("data-steps", re.compile(r"\d+"))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
