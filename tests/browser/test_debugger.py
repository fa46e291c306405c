"""The debugger page in a real browser: edit, run, findings and their fixes, what may not be run."""

import re

import pytest
from playwright.sync_api import Page, expect
from test_stepper import at, ready, stepper

KERNEL = """RWStructuredBuffer<uint> data;
[shader("compute")]
[numthreads(4, 1, 1)]
void main(uint3 t : SV_DispatchThreadID)
{
    BODY
}
"""
FOUND = {
    "bitonic-sort": set(),
    "tree-reduction": set(),
    "compare-and-swap": set(),
    "missing-barrier": {"race"},
    "plain-histogram": {"race"},
    "divergent-barrier": {"barrier-divergence"},
    "out-of-bounds": {"out-of-bounds"},
    "zero-by-zero": {"nan"},
}


@pytest.fixture
def bench(visit) -> Page:
    return ready(visit("/app?page=debugger"))


def edit(page: Page) -> None:
    page.get_by_role("radio", name="Edit").click()
    expect(page.locator(".cm-content")).to_be_visible()


def write(page: Page, source: str) -> None:
    edit(page)
    page.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(source)


def run(page: Page) -> None:
    before = page.get_by_test_id("stepper").get_attribute("data-recording")
    page.get_by_test_id("debugger-run").click()
    expect(stepper(page)).not_to_have_attribute("data-recording", before, timeout=60_000)
    ready(page)


def open_example(page: Page, name: str) -> None:
    before = stepper(page).get_attribute("data-recording")
    edit(page)
    page.get_by_label("Open an example").select_option(name)
    if name != "bitonic-sort":
        expect(stepper(page)).not_to_have_attribute("data-recording", before, timeout=60_000)
    ready(page)


@pytest.mark.parametrize("name", FOUND)
def test_examples_show_what_is_wrong_and_their_fix_takes_it_away(bench, name):
    open_example(bench, name)
    cards = bench.locator(".finding[data-kind]")
    kinds = {card.get_attribute("data-kind") for card in cards.all()}
    assert kinds == FOUND[name]
    if not kinds:
        expect(bench.get_by_test_id("findings")).to_contain_text("Nothing found")
        return
    bench.get_by_role("button", name="Show the moment").first.click()
    event = bench.locator(".finding.open .acts a").last.text_content()
    assert at(bench) == int(event.removeprefix("event ").replace(",", "")) > 0
    before = stepper(bench).get_attribute("data-recording")
    bench.get_by_role("button", name="Apply the fix and re-run").first.click()
    expect(stepper(bench)).not_to_have_attribute("data-recording", before, timeout=60_000)
    expect(cards).to_have_count(0)
    expect(bench.get_by_test_id("findings")).to_contain_text("Nothing found")


def test_a_race_names_both_threads_and_both_lines(bench):
    open_example(bench, "missing-barrier")
    bench.keyboard.press("f")
    card = bench.locator(".finding.open")
    expect(card.locator(".acts .th")).to_have_count(2)
    step = at(bench)
    card.locator(".acts a").first.click()
    assert at(bench) < step
    bench.keyboard.press("f")
    expect(bench.locator(".src .note.race:not([hidden])")).to_have_count(1)


def test_the_compiler_underlines_as_typing_pauses(bench):
    write(bench, KERNEL.replace("BODY", "data[t.x] = nothing;"))
    expect(bench.locator(".cm-lintRange-error").first).to_be_visible()
    expect(bench.get_by_test_id("debugger-message")).to_contain_text(re.compile(r"kernel\.slang:6:17: undefined identifier"))
    bench.get_by_test_id("debugger-run").click()
    expect(bench.locator(".cm-content")).to_be_visible()  # what is wrong stands in the source
    write(bench, KERNEL.replace("BODY", "data[t.x] = t.x * 3;"))
    expect(bench.get_by_test_id("debugger-message")).to_have_text("It compiles.")
    run(bench)
    edit(bench)
    expect(bench.get_by_test_id("outputs")).to_contain_text(re.compile(r"data64 elements0 3 6 9 31 3"))


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ('#include "/etc/hostname"', "#include is not allowed here"),
        ("import nowhere;", "There is no module nowhere"),
        ('__include "x.slang";', "`__include` is not allowed here"),
        ("/" * 66_000, "up to 65,536 are allowed"),
    ],
)
def test_a_source_names_no_files(bench, line, answer):
    write(bench, line + "\n")
    expect(bench.get_by_test_id("debugger-message")).to_contain_text(answer)
    bench.get_by_test_id("debugger-run").click()
    bench.get_by_role("radio", name="Step", exact=True).click()
    expect(bench.locator(".stage > .state")).to_contain_text(answer)
    expect(stepper(bench)).not_to_have_attribute("data-steps", re.compile("."))


def test_inputs_reach_the_kernel(bench):
    edit(bench)
    bench.get_by_label("data is filled with").select_option("values")
    bench.get_by_label("Values of data").fill("7 5, 3\n0x10 1")
    bench.get_by_label("Values of data").blur()
    run(bench)
    edit(bench)
    expect(bench.get_by_test_id("outputs")).to_contain_text("1 3 5 7 16")
    bench.get_by_label("Number of elements of data").fill("0")
    bench.get_by_label("Number of elements of data").blur()
    bench.get_by_test_id("debugger-run").click()
    expect(bench.get_by_test_id("debugger-message")).to_contain_text("whole number from 1 to 1,048,576")


def test_a_reload_keeps_the_draft_and_a_link_takes_it_along(bench, visit):
    open_example(bench, "plain-histogram")
    bench.keyboard.press("End")
    there, kind = at(bench), stepper(bench).get_attribute("data-recording")
    bench.wait_for_url(f"**step={there}")
    bench.reload()
    expect(stepper(ready(bench))).to_have_attribute("data-step", str(there))
    assert stepper(bench).get_attribute("data-recording") == kind
    bench.context.grant_permissions(["clipboard-read", "clipboard-write"])
    bench.get_by_role("button", name="Copy link").click()
    expect(bench.get_by_role("button", name="Copied")).to_be_visible()
    address = bench.evaluate("navigator.clipboard.readText()")
    other = ready(visit(address[address.index("/app") :]))
    expect(stepper(other)).to_have_attribute("data-step", str(there))
    assert stepper(other).get_attribute("data-recording") == kind


def test_an_endless_loop_costs_its_author_a_sentence(bench):
    write(bench, KERNEL.replace("BODY", "while (true) data[t.x] += 1;"))
    run(bench)
    assert "timeout" in {card.get_attribute("data-kind") for card in bench.locator(".finding[data-kind]").all()}
