"""The debugger page in a real browser: editing, running, findings and fixes, two runs side by side, refused sources."""

import re

import pytest
from playwright.sync_api import Page, expect

from helpers.stepping import at, opened, ready, stepper
from helpers.workbench import KERNEL, edit, open_example, run, write
from splatscope.web.examples.gallery import EXAMPLES

BROKEN = [example for example in EXAMPLES if example.fixes]


@pytest.fixture
def bench(turn_to) -> Page:
    return opened(turn_to("/app?page=debugger"))


@pytest.mark.parametrize("example", BROKEN, ids=lambda example: example.name)
def test_the_fix_of_a_broken_example_takes_its_finding_away(bench, example):
    open_example(bench, example.name)
    cards = bench.locator(".finding[data-kind]")
    expect(cards.first).to_be_visible()
    before = stepper(bench).get_attribute("data-recording")
    bench.get_by_role("button", name="Apply the fix and re-run").first.click()
    expect(stepper(bench)).not_to_have_attribute("data-recording", before)
    expect(cards).to_have_count(0)
    expect(bench.get_by_test_id("findings")).to_contain_text(re.compile("Nothing found.*No race"))
    expect(bench.get_by_test_id("debugger-notice")).to_contain_text("The fix took")


RACY = """groupshared uint tile[32];
RWStructuredBuffer<uint> o;
[shader("compute")] [numthreads(32, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    tile[lane] = lane;
    o[lane] = tile[31 - lane];
}
"""


def test_a_fix_for_a_kernel_of_ones_own_is_found_tried_and_applied(bench):
    write(bench, RACY)
    run(bench)
    card = bench.locator(".finding[data-kind=race]")
    card.get_by_role("button", name="Look for a fix").press("Enter")
    apply = card.get_by_role("button", name="Apply the fix and re-run")
    expect(apply).to_be_focused()
    expect(card.locator(".fix .add")).to_have_text("+   7      GroupMemoryBarrierWithGroupSync();")
    apply.press("Enter")
    expect(card).to_have_count(0)
    expect(bench.get_by_test_id("findings")).to_be_focused()
    expect(bench.get_by_test_id("debugger-notice")).to_contain_text("The fix took the race away.")
    expect(bench.locator(".panel.source").first).to_contain_text("GroupMemoryBarrierWithGroupSync")
    bench.get_by_role("button", name="See both side by side").click()
    expect(bench.get_by_role("group", name="Both runs")).to_be_visible()


def test_that_no_fix_is_found_is_said(bench):
    write(bench, RACY.replace("tile[lane] = lane;", "tile[lane / 2] = lane;").replace("tile[31 - lane]", "lane"))
    run(bench)
    card = bench.locator(".finding[data-kind=race]")
    card.get_by_role("button", name="Look for a fix").click()
    expect(card).to_contain_text("None of the changes that were tried takes a finding away.")


def test_a_newcomer_is_invited_to_step_until_they_have(visit):
    bench = opened(visit("/app?page=debugger"))
    notice, before = bench.get_by_test_id("debugger-notice"), at(bench)
    expect(notice).to_contain_text("Step through it")
    panes = [bench.locator(css).first for css in (".dock", ".panel.source", ".right")]
    places = [pane.bounding_box() for pane in panes]
    dock, lies = places[0], notice.bounding_box()
    assert dock["y"] - 40 < lies["y"] + lies["height"] < dock["y"], "it lies just above the buttons that step"
    for pane in (".panel.source", ".panel.threads"):
        box = bench.locator(pane).first.bounding_box()
        assert lies["x"] >= box["x"] + box["width"], f"it covers {pane}"
    notice.get_by_role("button", name="One step forward").focus()
    bench.keyboard.press("Enter")
    expect(notice).to_be_hidden()
    expect(bench.get_by_role("button", name="One event forward")).to_be_focused()
    assert at(bench) > before
    assert [pane.bounding_box() for pane in panes] == places, "nothing moves as it goes"
    open_example(bench, "sort-list")
    expect(notice).to_be_hidden()


@pytest.mark.parametrize("width", [390, 820, 1024])
def test_in_a_narrow_window_the_invitation_covers_nothing(visit, width):
    bench = opened(visit("/app?page=debugger", width=width, height=1000))
    notice = bench.get_by_test_id("debugger-notice")
    expect(notice).to_contain_text("Step through it")
    expect(notice).to_be_visible()
    box = notice.bounding_box()
    assert box["y"] + box["height"] <= bench.locator(".panel.source").first.bounding_box()["y"]


def test_the_debugger_opens_with_one_message_and_the_invitation_is_there_to_be_read(visit):
    bench = visit("/app?page=debugger", wait=False)
    expect(bench.get_by_test_id("announcer").first).to_have_text("Recorded. Nothing found.")  # for two seconds
    expect(opened(bench).get_by_test_id("debugger-notice")).to_contain_text("The kernel has run.")
    expect(bench.get_by_test_id("debugger-heard")).to_have_text("")


def test_a_recording_and_its_findings_are_spoken_and_a_fix_keeps_the_focus(bench):
    open_example(bench, "missing-barrier")
    heard = bench.get_by_test_id("announcer").first
    expect(heard).to_have_text(re.compile(r"^Recorded\. 2 findings, the first: race on keys\[\d+\], lines \d+ and \d+\."))
    before = stepper(bench).get_attribute("data-recording")
    apply = bench.get_by_role("button", name="Apply the fix and re-run").first
    apply.focus()
    bench.keyboard.press("Enter")
    expect(stepper(bench)).not_to_have_attribute("data-recording", before)
    expect(bench.get_by_test_id("findings")).to_be_focused()
    expect(heard).to_have_text(re.compile(r"^Recorded\. Nothing found\."))
    expect(bench.get_by_test_id("debugger-heard")).to_contain_text("The fix took")


def test_what_opens_from_the_gallery_has_the_focus_by_its_name(bench):
    bench.get_by_test_id("debugger-open").press("Enter")
    bench.locator("[data-example=missing-barrier]").press("Enter")
    opened = bench.get_by_role("group", name="A barrier too far out")
    expect(opened).to_be_focused()
    expect(bench.get_by_test_id("announcer")).to_contain_text("Recorded. 2 findings")
    expect(opened).to_be_focused()


def test_a_view_that_goes_hands_the_focus_on(bench):
    open_example(bench, "plain-histogram")
    bench.get_by_role("button", name="Apply the fix and re-run").first.press("Enter")
    bench.get_by_role("button", name="See both side by side").press("Enter")
    expect(bench.get_by_role("group", name="Both runs")).to_be_focused()
    bench.keyboard.press("e")
    expect(bench.locator(".cm-content")).to_be_focused()
    bench.get_by_role("button", name="Add a file").focus()
    bench.keyboard.press("e")
    expect(bench.get_by_role("button", name="One event forward")).to_be_focused()


def test_a_dialog_from_the_menu_returns_the_focus_to_the_menus_button(turn_to):
    page = ready(turn_to("/app?page=debugger", width=390, height=844))
    more = page.get_by_test_id("debugger-save")
    more.press("Enter")
    page.get_by_role("menuitem", name="Open An example").press("Enter")
    expect(page.get_by_role("dialog", name="Open")).to_be_visible()
    page.keyboard.press("Escape")
    expect(more).to_be_focused()


@pytest.mark.parametrize("name", ["bitonic-sort", "sort-list", "fine-raster", "adam-step", "playground"])
def test_the_textbooks_kernels_run_and_nothing_is_found(bench, name):
    open_example(bench, name)
    expect(bench.get_by_test_id("findings")).to_contain_text("Nothing found")
    expect(bench.get_by_test_id("findings")).to_contain_text("the kernel gives the same results")


def test_a_finding_shows_its_moment(bench):
    open_example(bench, "plain-histogram")
    bench.get_by_role("button", name="Show the moment").first.click()
    event = bench.locator(".finding.open .acts a").last.text_content()
    assert at(bench) == int(event.removeprefix("event ").replace(",", "")) > 0


def test_the_mark_of_a_finding_is_in_the_legend_and_covers_no_number_over_the_timeline(bench):
    open_example(bench, "one-tile")
    [pin] = bench.locator(".pin").all()
    [sample] = bench.locator(".foot .sev").all()
    assert sample.inner_html() == pin.locator("svg").inner_html()
    box = pin.bounding_box()
    for number in bench.locator(".elab span").all():
        text = number.bounding_box()
        assert text["x"] + text["width"] <= box["x"] + 1 or text["x"] + 4 >= box["x"] + box["width"] - 1
    variables, watch = (bench.locator(part).first.bounding_box() for part in (".vars", ".watch input"))
    assert watch["y"] - variables["y"] - variables["height"] >= 8, "the last variable lies on the box for expressions"


def test_after_a_fix_its_result_is_shown_beside_the_one_before(bench):
    open_example(bench, "plain-histogram")
    before = stepper(bench).get_attribute("data-recording")
    bench.get_by_role("button", name="Apply the fix and re-run").first.click()
    expect(stepper(bench)).not_to_have_attribute("data-recording", before)
    assert at(bench) == int(stepper(bench).get_attribute("data-steps")) > 0
    expect(stepper(bench).locator(".now")).to_have_text(re.compile(r"^\w+\[\d+\]: \d+ before, \d+ now"))


def test_the_current_line_is_told_to_assistive_technology(bench):
    open_example(bench, "plain-histogram")
    current = bench.locator(".src").get_by_role("listitem").and_(bench.locator("[aria-current=step]"))
    expect(current).to_have_count(1)
    expect(current).to_have_class(re.compile(r"\bmine\b"))


def test_before_and_after_the_fix_stand_side_by_side(bench):
    open_example(bench, "plain-histogram")
    expect(bench.get_by_role("radio", name="Side by side")).to_be_hidden()
    before = stepper(bench).get_attribute("data-recording")
    bench.get_by_role("button", name="Apply the fix and re-run").first.click()
    expect(stepper(bench)).not_to_have_attribute("data-recording", before)
    bench.get_by_role("button", name="See both side by side").click()
    both = bench.get_by_test_id("compare")
    expect(both).to_have_attribute("data-steps", re.compile(r"\d+"))
    assert both.get_attribute("data-difference") != "0,0"
    expect(both).to_contain_text("Before the fix")
    expect(both).to_contain_text("With the fix")
    open_example(bench, "tree-reduction")
    expect(both).to_be_hidden()
    expect(bench.get_by_role("radio", name="Side by side")).to_be_hidden()


def test_an_edited_kernel_compares_with_the_run_before(bench):
    write(bench, KERNEL.replace("BODY", "data[t.x] = t.x * 3;"))
    run(bench)
    write(bench, KERNEL.replace("BODY", "data[t.x] = t.x * 4;"))
    run(bench)
    bench.get_by_role("radio", name="Side by side").click()
    both = bench.get_by_test_id("compare")
    expect(both).to_have_attribute("data-difference", re.compile("[1-9]"))
    expect(both).to_contain_text("The previous run")


def test_a_race_names_both_threads_and_both_lines(bench):
    open_example(bench, "missing-barrier")
    bench.keyboard.press("f")
    card = bench.locator(".finding.open")
    expect(card.locator(".acts .th")).to_have_count(2)
    step = at(bench)
    card.locator(".acts a").first.dispatch_event("click")  # wherever the card has been scrolled to
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


def test_a_run_from_the_editor_leaves_the_focus_on_the_step_button_or_returns_it(bench):
    write(bench, KERNEL.replace("BODY", "data[t.x] = nothing;"))
    bench.keyboard.press("Control+Enter")
    expect(bench.get_by_test_id("debugger-heard")).to_have_text(re.compile(r"^Line \d+, column \d+ of \S+: undefined identifier"))
    expect(bench.get_by_test_id("debugger")).to_have_attribute("data-view", "edit")
    expect(bench.locator(".cm-content")).to_be_focused()
    write(bench, KERNEL.replace("BODY", "data[t.x] = t.x * 3;"))
    before = stepper(bench).get_attribute("data-recording")
    bench.keyboard.press("Control+Enter")
    expect(bench.get_by_role("button", name="One event forward")).to_be_focused()
    expect(stepper(bench)).not_to_have_attribute("data-recording", before)
    expect(bench.get_by_role("button", name="One event forward")).to_be_focused()


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ('#include "/etc/hostname"', "#include is not allowed here"),
        ("import nowhere;", "There is no module nowhere"),
        ('__include "x.slang";', "`__include x.slang` is not allowed here"),
        ("/" * 66_000, "up to 65,536 are allowed"),
    ],
)
def test_a_source_names_no_files(bench, line, answer):
    write(bench, line + "\n")
    expect(bench.get_by_test_id("debugger-message")).to_contain_text(answer)
    bench.get_by_test_id("debugger-run").click()
    bench.get_by_role("radio", name="Step", exact=True).click()
    expect(stepper(bench).locator("> .state")).to_contain_text(answer)
    expect(stepper(bench)).not_to_have_attribute("data-steps", re.compile("."))


def test_an_endless_loop_costs_its_author_a_sentence(bench):
    write(bench, KERNEL.replace("BODY", "while (true) data[t.x] += 1;"))
    run(bench)
    assert "timeout" in {card.get_attribute("data-kind") for card in bench.locator(".finding[data-kind]").all()}


@pytest.mark.parametrize("width", [320, 390, 760, 1000, 1440])
def test_neither_menu_nor_gallery_nor_editor_is_wider_than_the_screen(turn_to, width):
    page = opened(turn_to("/app?page=debugger", width=width, height=844))
    edit(page)
    page.get_by_test_id("debugger-save").click()
    expect(page.locator(".menu-list")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator(".menu-list").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width


def test_no_group_of_the_gallery_is_split_between_columns(bench):
    bench.get_by_test_id("debugger-open").click()
    parts = bench.locator(".shelves section").evaluate_all("(all) => all.map((group) => group.getClientRects().length)")
    assert set(parts) == {1}


def test_it_opens_at_the_first_barrier_where_some_threads_wait(bench):
    expect(bench.get_by_test_id("debugger-reading")).to_be_hidden()
    expect(bench.get_by_test_id("debugger-reading")).to_contain_text("GroupMemoryBarrierWithGroupSync")  # read while it compiled
    waiting = re.search(r"(\d+) run, (\d+) wait", bench.get_by_text(re.compile(r"^\d+ run, \d+ wait")).inner_text())
    assert int(waiting[1]) > 0
    assert int(waiting[2]) > 0


def test_a_kernel_with_a_fault_opens_at_its_finding(visit):
    page = visit("/app?page=debugger")
    page.get_by_test_id("debugger-open").click()
    page.locator("[data-example=missing-barrier]").click()
    expect(page.locator(".finding[data-kind]").first).to_be_visible()
    there = at(page)
    assert there > 0
    page.keyboard.press("Home")
    page.locator(".finding[data-kind]").first.get_by_role("button", name="Show the moment").click()
    assert at(page) == there, "the finding that is listed first"


def test_the_list_of_threads_shows_the_chosen_one(bench):
    in_view = """row => {
        const list = row.closest(".tblwrap"), [at, room] = [row, list].map(el => el.getBoundingClientRect())
        return at.top >= list.querySelector("thead").getBoundingClientRect().bottom - 1 && at.bottom <= room.bottom + 1
    }"""
    rows = bench.locator(".tblwrap tr.me")
    for key, thread in (("End", "31"), ("Home", "0")):
        bench.keyboard.press(key)
        expect(rows).to_have_attribute("data-thread", thread)
        bench.wait_for_function(in_view, arg=rows.element_handle())


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1366, 768)])
def test_on_a_projector_the_source_has_the_room(turn_to, width: int, height: int):
    page = opened(turn_to("/app?page=debugger", width=width, height=height))
    source = page.locator(".bench .source").bounding_box()
    assert source["width"] >= 0.43 * width
    assert source["height"] >= 0.7 * height
    line = page.locator(".bench .source .ln-row", has_text="GroupMemoryBarrierWithGroupSync").first.locator(".code")
    right = line.evaluate("el => { const r = new Range(); r.selectNodeContents(el); return r.getBoundingClientRect().right }")
    assert right < source["x"] + source["width"]
    page.get_by_role("radio", name="Edit").click()
    assert page.locator(".edit .code-edit").bounding_box()["width"] >= 0.62 * width
