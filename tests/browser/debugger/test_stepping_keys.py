"""The debugger as engineers know it: keys, run to a line, call stack, what belongs to which kernel."""

import re

import pytest
from playwright.sync_api import Page, expect

from helpers.stepping import ask, at, press, ready, site, stepper
from helpers.workbench import edit, open_example, run, write

CALLS = """RWStructuredBuffer<uint> halves;
uint half_of(uint x)
{
    uint y = x / 2;
    return y;
}
uint both(uint x)
{
    uint z = half_of(x);
    return half_of(z) + 1;
}
[shader("compute")]
[numthreads(8, 8, 1)]
void main(uint3 lid : SV_GroupThreadID, uint lane_ : SV_GroupIndex)
{
    uint a = both(lane_);
    halves[lane_] = a;
}
"""


@pytest.fixture
def bench(turn_to) -> Page:
    page = ready(turn_to("/app?page=debugger"))
    write(page, CALLS)
    run(page)
    return page


def line(page: Page) -> int:
    return site(page)["line"]


def frames(page: Page) -> list[str]:
    expect(stepper(page)).to_have_attribute("data-painted", str(at(page)))
    return stepper(page).locator(".threads .vars .fn span:first-child").all_text_contents()


def test_the_keys_of_other_debuggers_step_over_into_and_out_of_calls(bench):
    choose = stepper(bench).locator(".filter-in")
    choose.fill("1,3")
    choose.press("Enter")
    choose.press("Escape")
    assert ask(bench, "root => splatscope.inspect(root).moment.thread") == 25
    press(bench, "Home", "F11")
    while line(bench) != 9 or frames(bench) != ["both", "main"]:  # into main, into both, into half_of and back
        press(bench, "F11")
        if line(bench) == 4:
            assert frames(bench) == ["half_of", "both", "main"]
            press(bench, "Shift+F11")
    press(bench, "F11", "F11")
    assert frames(bench)[0] in ("half_of", "both")
    press(bench, "Shift+F11", "Shift+F11")
    assert frames(bench) == []  # main alone is no stack
    press(bench, "Home", "F10", "F10")
    assert line(bench) == 16
    press(bench, "F10")
    assert line(bench) == 17
    press(bench, "Shift+F10")
    assert line(bench) == 16


def test_a_line_that_is_clicked_is_run_to_and_f9_and_f5_stop_there(bench):
    press(bench, "Home")
    row = stepper(bench).locator('.ln-row[data-line="17"]')
    row.locator(".code").click()
    bench.get_by_role("button", name="Run to here").click()
    assert line(bench) == 17
    press(bench, "F9")
    expect(row.locator(".bp")).to_have_attribute("aria-pressed", "true")
    press(bench, "Home", "F5")
    assert line(bench) == 17
    there = at(bench)
    press(bench, "F5")
    assert at(bench) > there
    press(bench, "Home", "Control+F10")
    assert at(bench) == there
    bench.keyboard.press("?")
    expect(bench.locator("#keys")).to_contain_text("Shift+F11".replace("+", ""))


def test_threads_are_listed_filtered_and_sorted_by_a_value(bench):
    press(bench, "End")
    bench.keyboard.press("a")
    bench.keyboard.type("(lid.x * 5) % 8")
    bench.keyboard.press("Enter")
    bench.keyboard.press("Escape")
    choose = stepper(bench).locator(".filter-in")
    choose.fill("lid.y == 3 && lid.x < 4")
    choose.press("Enter")
    rows = stepper(bench).locator("table.lanes tbody tr[data-thread]")
    expect(rows).to_have_count(4)
    expect(rows.first).to_contain_text("24 (0, 3)")
    stepper(bench).locator("th.watched .by").click()
    expect(stepper(bench).locator("th.watched")).to_have_attribute("aria-sort", "ascending")
    seen = stepper(bench).locator("td.watched").all_text_contents()
    assert seen == ["0", "2", "5", "7"]
    stepper(bench).locator("th.watched .by").click()
    expect(stepper(bench).locator("td.watched").first).to_have_text("7")
    choose.fill("nobody > 1")
    choose.press("Enter")
    expect(stepper(bench).locator(".threads > .wrong")).to_contain_text("No variable or memory is called nobody.")
    choose.fill("")
    expect(stepper(bench).locator(".threads .second .num")).to_have_text("64 done")


def test_breakpoints_and_watches_belong_to_their_kernel(bench):
    stepper(bench).locator('.ln-row[data-line="17"] .gut').click()
    bench.keyboard.press("a")
    bench.keyboard.type("lid")
    bench.keyboard.press("Enter")
    bench.keyboard.press("Escape")
    expect(stepper(bench).locator("[data-watch=lid] b")).to_have_text(re.compile(r"^\(\d, \d, 0\)$|^·$"))  # a vector, whole
    open_example(bench, "missing-barrier")
    expect(stepper(bench).locator("[data-watch]")).to_have_count(0)
    expect(bench.locator('.bp[aria-pressed="true"]')).to_have_count(0)
    edit(bench)
    expect(bench.get_by_test_id("outputs")).not_to_contain_text("halves")


def test_many_watches_leave_the_transport_and_the_threads_where_they_are(turn_to):
    page = ready(turn_to("/app?page=debugger", width=1600, height=1000))
    before = stepper(page).locator(".dock").bounding_box()
    for i in range(17):
        page.keyboard.press("a")
        page.keyboard.type(f"thread + {i}")
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
    expect(stepper(page).locator("[data-watch]")).to_have_count(17)
    assert stepper(page).locator(".dock").bounding_box() == before
    for name in (".watch-in", ".tblwrap"):
        box = stepper(page).locator(name).bounding_box()
        assert box["height"] > 20
        assert box["y"] + box["height"] <= before["y"], name
