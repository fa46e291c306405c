"""Queries of a recording: breakpoints, search, watched expressions, the origin of a NaN."""

import pytest
from playwright.sync_api import Page, expect

from helpers.stepping import STEPPING, ask, at, example, press, ready, site, stepper, to

VALUES = """(root, names) => {
    const {moment} = splatscope.inspect(root), {recording, state, thread} = moment
    state.seek(moment.position)
    return names.map((name) => state.value(thread, recording.variables.findIndex((variable) => variable.name === name)))
}"""

FIRST_ABOVE = """(root, [name, bound]) => {
    const {recording} = splatscope.inspect(root).moment
    for (let e = 0; e < recording.length; e++) {
        const {kind, name: of} = recording.about(e)
        if (kind === 'value' && of === name && +recording.value(e) > bound) return e + 1
    }
}"""


@pytest.fixture
def sort(turn_to) -> Page:
    return ready(turn_to(STEPPING))


def test_breakpoints_stop_both_ways(sort):
    row = sort.locator('.ln-row[data-line="27"]')
    row.locator(".gut").click()
    expect(row.locator(".bp")).to_have_attribute("aria-pressed", "true")
    sort.keyboard.press("]")
    first = at(sort)
    assert first > 0
    assert site(sort)["line"] == 27
    sort.keyboard.press("]")
    second = at(sort)
    assert second > first
    sort.keyboard.press("[")
    assert at(sort) == first


def test_a_breakpoint_may_have_a_condition(sort):
    row = sort.locator('.ln-row[data-line="27"]')
    row.locator(".gut").click(button="right")
    row.locator("input").fill("i == 36 && k == 64")
    row.locator("input").press("Enter")
    expect(row.locator(".when")).to_have_text("if i == 36 && k == 64")
    sort.keyboard.press("]")
    assert site(sort)["line"] == 27
    assert ask(sort, VALUES, ["i", "k"]) == ["36", "64"]


def test_search_finds_the_first_event_that_fits(sort):
    to(sort, 8000)
    find = sort.get_by_label("Find the first event at which this is true")
    find.fill("a > 61")
    find.press("Enter")
    first = ask(sort, FIRST_ABOVE, ["a", 61])
    expect(stepper(sort)).to_have_attribute("data-step", str(first))
    find.press("Enter")
    assert at(sort) > first
    wrong = {"nobody == 1": "No variable or memory is called nobody.", "a <": "Something is missing", "NaN": "no event"}
    for question, answer in wrong.items():
        find.fill(question)
        find.press("Enter")
        expect(sort.locator(".now")).to_contain_text(answer)


def test_search_goes_back_as_well(sort):
    find = sort.get_by_label("Find the first event at which this is true")
    find.fill("a > 61")
    hits = []
    for _ in range(4):
        find.press("Enter")
        hits.append(at(sort))
    assert hits == sorted(set(hits))
    for earlier in reversed(hits[:-1]):
        find.press("Shift+Enter")
        expect(stepper(sort)).to_have_attribute("data-step", str(earlier))
    find.press("Shift+Enter")
    expect(sort.locator(".now")).to_contain_text("no earlier event matches")


def test_a_breakpoint_by_key_and_a_condition_that_cannot_be_asked(sort):
    to(sort, 5000)
    line = site(sort)["line"]
    press(sort, "b")
    row = sort.locator(f'.ln-row[data-line="{line}"]')
    expect(row.locator(".bp")).to_have_attribute("aria-pressed", "true")
    sort.keyboard.press("Shift+b")
    row.locator("input").fill("nobody == 1")
    row.locator("input").press("Enter")
    expect(sort.locator(".now")).to_contain_text("No variable or memory is called nobody.")
    row.locator("input").press("Escape")
    expect(row.locator("input")).to_have_count(0)


def test_a_watched_expression_has_a_value_for_each_thread(sort):
    to(sort, 9000)
    sort.keyboard.press("a")
    sort.keyboard.type("keys[lane] + 2 * j")
    sort.keyboard.press("Enter")
    sort.keyboard.press("Escape")
    cells = sort.locator("table.lanes tbody tr td.watched")
    expect(cells.first).to_be_visible()  # it is drawn with the next frame
    shown = cells.all_text_contents()
    expected = ask(sort, KEYS_AND_J)
    assert shown == expected
    assert len(set(shown)) > 8
    me = ask(sort, "root => splatscope.inspect(root).moment.thread")
    expect(sort.locator("[data-watch] b")).to_have_text(expected[me])
    press(sort, "ArrowRight")
    sort.get_by_label("Stop watching keys[lane] + 2 * j").click()
    expect(sort.locator("td.watched")).to_have_count(0)


KEYS_AND_J = """root => {
    const {recording, state} = splatscope.inspect(root).moment, keys = recording.memories.findIndex((m) => m.name === 'keys')
    const number = (t, name) => +state.value(t, recording.variables.findIndex((v) => v.name === name))
    const value = (t) => +state.cell(keys, number(t, 'lane'))[0] + 2 * number(t, 'j')
    return Array.from({length: recording.threads}, (_, t) => String(value(t)))
}"""
ABOUT = """(root, steps) => {
    const {recording} = splatscope.inspect(root).moment
    return steps.map((step) => {
        const {kind, name, line} = recording.about(step - 1)
        return [kind, name, line, recording.thread[step - 1]]
    })
}"""
ALL_VALUES = """root => {
    const {recording} = splatscope.inspect(root).moment
    return Array.from({length: recording.length}, (_, e) => recording.value(e))
}"""
EXPRESSIONS = {
    "(1 + 2) * 3": 9, "1/4": 0.25, "7 % 4 << 1": 6, "-2 + 0x10": 14, "1 < 2 && !0": 1, "max(lane, 5)": 5,
    "lid.x": 3, "lid.y": 0, "lid[0]": 3,
    "data[lid.x] - data[3]": 0, "keys[9 / 2] - keys[4]": 0, "keys[99]": None, "NaN == NaN": 1,
}  # fmt: skip


def test_expressions_mean_what_c_means(sort):
    to(sort, 9000)
    for text, value in EXPRESSIONS.items():
        got = ask(
            sort,
            """(root, text) => { const {watches} = splatscope.inspect(root).threads, {moment} = splatscope.inspect(root)
            watches.list.length = 0
            watches.add(text)
            return watches.list[0].question.value(watches.look(moment, 3)) }""",
            text,
        )
        assert got == value or (value is None and got is None), text


def chain_of(page: Page) -> list[int]:
    """Return the steps of the chain that is shown, from first to last."""
    links = page.get_by_test_id("origin").locator("a")
    expect(links.first).to_be_visible()  # it is drawn with the next frame
    return [int(event) for event in links.evaluate_all("links => links.map((link) => link.dataset.event)")]


def test_where_nan_came_from(sort):
    example(sort, "zero-by-zero")
    press(sort, "End", "c")
    origin = sort.get_by_test_id("origin")
    expect(origin).to_contain_text("Where did this NaN come from?")
    chain = chain_of(sort)
    about = ask(sort, ABOUT, chain)
    assert [(name, line) for _, name, line, _ in about] == [("share", 13), ("largest", 15)]
    assert len({thread for *_, thread in about}) == 1
    expect(origin.locator("li").first).to_contain_text("sum = 0")
    origin.locator("a").first.click()
    expect(stepper(sort)).to_have_attribute("data-step", str(chain[0]))
    press(sort, "c")  # and from the first one on, nothing earlier
    expect(origin.locator("li")).to_have_count(1)


def test_nan_is_followed_through_shared_memory_and_calls(sort):
    example(sort, "nan-across-threads")
    values = ask(sort, ALL_VALUES)
    assert "NaN" in values
    about = ask(sort, ABOUT, list(range(1, len(values) + 1)))
    write = next(step for step, (kind, name, _, thread) in enumerate(about, 1) if (kind, name, thread) == ("write", "result", 2))
    assert values[write - 1] == "NaN"
    to(sort, write)
    press(sort, "c")
    chain = chain_of(sort)
    found = [(kind, name, thread) for kind, name, _, thread in (about[step - 1] for step in chain)]
    assert found[:3] == [("value", "q", 3), ("write", "cells", 3), ("read", "cells", 2)]
    assert found[3:] == [("value", "near", 2), ("value", "near", 2), ("write", "result", 2)]
    assert all(values[step - 1] == "NaN" for step in chain)
    assert chain[0] == values.index("NaN") + 1


def test_a_search_may_ask_where(sort):
    example(sort, "zero-by-zero")
    press(sort, "End")
    find = sort.get_by_label("Find the first event at which this is true")
    find.fill("where did NaN come from")
    find.press("Enter")
    expect(sort.get_by_test_id("origin")).to_be_visible()


def test_what_can_be_done_about_a_finding_is_in_view_at_the_end_of_a_figure(turn_to):
    page = ready(turn_to("/app?page=workgroups"))
    page.get_by_role("radio", name="Taken out").click()
    page.get_by_role("button", name="Show the moment").first.wait_for()
    page.keyboard.press("End")
    dock = stepper(page).locator(".dock").bounding_box()
    for name in ("Show the moment", "Apply the fix and re-run"):
        box = page.get_by_role("button", name=name).first.bounding_box()
        assert box["y"] + box["height"] <= dock["y"]
    before = stepper(page).get_attribute("data-recording")
    page.get_by_role("button", name="Apply the fix and re-run").first.click()
    expect(stepper(page)).not_to_have_attribute("data-recording", before)
    expect(stepper(page)).to_have_attribute("data-step", stepper(page).get_attribute("data-steps"))
