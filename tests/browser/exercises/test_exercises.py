"""The page of exercises: a kernel is marked, its fault is stepped to and mended, and what was tried is kept."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from helpers.axe import wrongs_of

TASK = "turn-a-row"
BARRIER = "GroupMemoryBarrierWithGroupSync();"


def verdict(page: Page) -> Locator:
    return page.get_by_test_id("exercise-result")


def opened(page: Page) -> Page:
    page.locator(".cm-content").wait_for()
    return page


def press_mark(page: Page, passed: bool) -> None:
    """Mark what is in the editor, and wait for the answer to this very press."""
    number = int(verdict(page).get_attribute("data-number") or 0)
    page.get_by_role("button", name="Mark").click()
    expect(verdict(page)).to_have_attribute("data-number", str(number + 1))
    expect(verdict(page)).to_have_attribute("data-passed", str(passed).lower())


def write_comment(page: Page) -> None:
    page.locator(".cm-line").last.click()
    page.keyboard.press("Control+End")
    page.keyboard.type(" // mine")


def write_barrier(page: Page) -> None:
    page.locator(".cm-line", has_text="shared[lane] = row[lane];").click()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.type(BARRIER)


def test_a_kernel_is_marked_stepped_to_its_fault_and_mended(visit: Callable[..., Page]):
    page = opened(visit(f"/app?page=exercises&task={TASK}"))
    heard = verdict(page).locator("xpath=following-sibling::*[@role='status']")
    heard.evaluate(
        "(el) => { el.said = []; new MutationObserver(() => el.said.push(el.textContent)).observe(el, {childList: true}) }"
    )
    press_mark(page, passed=False)
    expect(verdict(page)).to_contain_text("Race on shared")
    expect(verdict(page)).to_contain_text("nothing orders the two")
    expect(heard).to_have_text(re.compile(r"^Race on shared.*\. "))
    assert [words.partition(" ")[0] for words in heard.evaluate("(el) => el.said")] == ["The", "Race"], "once each, for all cases"
    expect(heard).not_to_contain_text("Step to this moment")  # the buttons are not read out with it
    expect(page.locator(".cm-content")).to_have_attribute("aria-description", re.compile("Escape, then Tab"))
    page.get_by_role("button", name="Step to this moment").first.click()
    stepper = page.get_by_test_id("stepper")
    expect(stepper).to_be_visible()
    expect(stepper).not_to_have_attribute("data-step", "0")
    page.get_by_role("button", name="Line 12").first.click()
    expect(page.locator(".cm-activeLine")).to_contain_text("turned[lane]")
    write_barrier(page)
    press_mark(page, passed=True)
    expect(verdict(page)).to_contain_text("Solved. Right on all 2 cases")
    expect(page.get_by_text("What this exercise teaches")).to_be_visible()
    page.get_by_role("link", name="Exercises", exact=True).last.click()
    expect(page.locator(f"a[href*='task={TASK}'][data-solved]")).to_contain_text("Solved, 1 try")


def test_hints_are_counted_and_a_solution_is_shown_after_three_tries(visit: Callable[..., Page]):
    page = opened(visit(f"/app?page=exercises&task={TASK}"))
    page.get_by_role("button", name="A hint").click()
    page.get_by_role("button", name="Another hint").click()
    expect(page.locator("[data-hint]")).to_have_count(2)
    show = page.get_by_role("button", name="Show a solution")
    press_mark(page, passed=False)  # what it begins with: not a try
    write_comment(page)
    for _ in range(3):
        expect(show).to_have_count(0)
        press_mark(page, passed=False)
    show.click()
    expect(page.get_by_text("What this exercise teaches")).to_be_visible()
    page.get_by_text("One solution").click()
    expect(page.get_by_role("region", name="A solution")).to_contain_text(BARRIER)
    page.get_by_role("button", name="Compare yours with a solution").click()
    expect(page.get_by_test_id("compare")).to_be_visible()
    page.reload()
    opened(page)
    expect(page.locator("[data-hint]")).to_have_count(2)


def test_what_is_written_is_there_again_and_goes_into_the_file_of_progress(visit: Callable[..., Page]):
    page = opened(visit(f"/app?page=exercises&task={TASK}"))
    write_barrier(page)
    page.reload()
    opened(page)
    expect(page.locator(".cm-content")).to_contain_text(BARRIER)
    press_mark(page, passed=True)
    page.get_by_role("link", name="Splatscope").first.click()
    expect(page.get_by_test_id("progress")).to_contain_text("1 exercise solved")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file").click()
    saved = json.loads(download.value.path().read_text())
    assert saved["exercises"][TASK]["tries"] == 1
    assert saved["exercises"][TASK]["solved"]
    assert BARRIER in saved["exercises"][TASK]["source"]


def test_what_does_not_compile_is_marked_in_the_editor(visit: Callable[..., Page]):
    page = opened(visit(f"/app?page=exercises&task={TASK}"))
    page.locator(".cm-line", has_text="shared[lane] = row[lane];").click()
    page.keyboard.press("End")
    page.keyboard.type(" nobody = 3;")
    press_mark(page, passed=False)
    expect(verdict(page)).to_contain_text("It does not run")
    expect(verdict(page)).to_contain_text("nobody")
    expect(page.locator(".cm-lintRange-error")).to_be_visible()


def test_the_answer_comes_into_view_on_a_phone(visit: Callable[..., Page]):
    page = visit(f"/app?page=exercises&task={TASK}")
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page)
    press_mark(page, passed=False)
    expect(verdict(page).locator("h3").first).to_be_in_viewport()
    page.get_by_role("button", name="Step to this moment").first.click()
    expect(page.get_by_test_id("stepper")).to_be_visible()
    dock = page.locator(".moment .dock").first
    assert dock.evaluate("dock => getComputedStyle(dock).position") == "sticky"


def test_the_editor_is_as_high_as_its_source_and_says_how_to_leave_it(visit: Callable[..., Page]):
    page = opened(visit("/app?page=exercises&task=one-layer-short"))
    page.set_viewport_size({"width": 1440, "height": 1300})
    scroller = page.locator(".cm-scroller")
    assert scroller.evaluate("it => it.scrollHeight <= it.clientHeight && it.scrollWidth <= it.clientWidth")
    leave = page.get_by_text("leaves the editor")
    expect(leave).not_to_be_visible()
    page.locator(".cm-content").focus()
    expect(leave).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Outside the editor. Tab moves on.")).to_be_focused()
    page.keyboard.press("Tab")
    assert not page.evaluate("() => document.activeElement?.matches('.cm-content')")
    expect(leave).not_to_be_visible()


def test_a_solved_task_says_so_after_a_reload_and_leads_on_with_the_focus_on_the_next_title(visit: Callable[..., Page]):
    page = opened(visit(f"/app?page=exercises&task={TASK}"))
    write_barrier(page)
    press_mark(page, passed=True)
    expect(page.get_by_role("button", name="A hint")).to_have_count(0)
    expect(page.get_by_role("button", name="Compare yours with a solution")).to_have_count(0)
    expect(page.locator("nav.pn")).to_be_hidden()
    page.reload()
    opened(page)
    expect(verdict(page)).to_contain_text("Solved on ")
    page.get_by_role("link", name="Next: ").click()
    expect(page.locator("#task-title")).to_be_focused()


def test_a_verdict_is_there_again_after_a_reload_and_goes_with_start_again(visit: Callable[..., Page]):
    page = opened(visit(f"/app?page=exercises&task={TASK}"))
    press_mark(page, passed=False)
    page.reload()
    opened(page)
    expect(verdict(page)).to_have_attribute("data-passed", "false")
    expect(verdict(page)).to_contain_text("Race on shared")
    expect(verdict(page)).to_contain_text("Mark it again to step through it.")
    expect(page.get_by_role("button", name="Step to this moment")).to_have_count(0)
    press_mark(page, passed=False)
    expect(page.get_by_role("button", name="Step to this moment").first).to_be_visible()
    page.get_by_role("button", name="Start again").click()
    page.reload()
    opened(page)
    expect(verdict(page)).to_be_empty()


def test_an_empty_editor_is_told_what_to_do(visit: Callable[..., Page]):
    page = opened(visit(f"/app?page=exercises&task={TASK}"))
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    press_mark(page, passed=False)
    expect(verdict(page)).to_contain_text("There is no kernel")
    expect(verdict(page)).to_contain_text("brings the first text back")


def test_a_mistake_in_another_workgroup_opens_there(visit: Callable[..., Page]):
    """All workgroups write what the first should write: element 32 is the second one's."""
    page = opened(visit("/app?page=exercises&task=distances"))
    page.locator(".cm-line", has_text="Which point belongs").click()
    page.keyboard.press("End")
    page.keyboard.type("\ndistances[lane] = sqrt(x[lane] * x[lane] + y[lane] * y[lane]);")
    page.get_by_role("button", name="Mark").click()
    expect(verdict(page)).to_contain_text("distances[32] is 0")
    page.locator("[data-kind=output], [data-kind^=mistake]").get_by_role("button", name="Step through it").click()
    expect(page.get_by_test_id("exercise-place")).to_contain_text("Workgroup 1")
    expect(page.get_by_test_id("told")).to_contain_text("distances[32]")
    expect(page.get_by_test_id("stepper")).not_to_have_attribute("data-step", "0")
    page.get_by_role("button", name="Back to the editor").click()
    expect(page.locator(".cm-content")).to_be_focused()


def test_slang_is_explained_beside_every_task(visit: Callable[..., Page]):
    page = opened(visit(f"/app?page=exercises&task={TASK}"))
    page.get_by_text("Slang for Python programmers").click()
    expect(page.locator(".language")).to_contain_text("InterlockedAdd(place, value);")


def test_start_again_can_be_taken_back(visit: Callable[..., Page]):
    page = opened(visit(f"/app?page=exercises&task={TASK}"))
    write_barrier(page)
    press_mark(page, passed=True)
    page.get_by_role("button", name="Start again").click()
    expect(verdict(page)).not_to_contain_text("Right on all")
    expect(page.get_by_text("Ctrl+Z restores")).to_be_visible()
    expect(page.locator(".cm-content")).not_to_contain_text(BARRIER)
    page.keyboard.press("Control+z")
    expect(page.locator(".cm-content")).to_contain_text(BARRIER)


def test_a_task_that_is_not_there_leads_to_the_list(visit: Callable[..., Page]):
    page = visit("/app?page=exercises&task=nothing-of-the-kind")
    expect(page.get_by_role("status").filter(has_text="There is no exercise")).to_be_visible()
    expect(page.locator(".course")).to_have_count(3)


@pytest.mark.parametrize(("width", "height", "scheme"), [(1440, 900, "light"), (390, 844, "dark")])
def test_the_pages_are_accessible_and_nothing_scrolls_sideways(visit: Callable[..., Page], width: int, height: int, scheme: str):
    page = visit("/app?page=exercises")
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme)
    page.locator(".course").first.wait_for()
    assert wrongs_of(page) == []
    page.locator(f"a[href*='task={TASK}']").first.click()
    opened(page)
    press_mark(page, passed=False)
    assert wrongs_of(page) == []
    for size in (320, 390, 768, 820, 1024, 1366, 1920):
        page.set_viewport_size({"width": size, "height": height})
        page.wait_for_function("document.scrollingElement.scrollWidth <= innerWidth")
