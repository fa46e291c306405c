"""The exercises in the published book: their text, and a kernel as it begins and as a solution, to step without a device."""

import re

from playwright.sync_api import Page, expect

from helpers.axe import wrongs_of
from helpers.published import TASK


def test_a_task_is_read_and_its_kernel_stepped_as_it_begins_and_as_a_solution(whole_book, closed):
    base = f"{whole_book.as_uri()}/"
    page: Page = closed(f"{base}index.html?page=exercises", base)
    page.locator(f"a[href*='task={TASK}']").first.click()
    stepper = page.get_by_test_id("stepper")
    expect(stepper).to_have_attribute("data-step", re.compile(r"[1-9]"))
    expect(stepper).to_contain_text("Race on")
    expect(page.get_by_text("pip install 'splatscope[app]'").first).to_be_visible()
    expect(page.get_by_text("What this exercise teaches")).to_have_count(0)
    page.get_by_role("link", name="A solution").click()
    expect(page.get_by_text("What this exercise teaches")).to_be_visible()
    expect(stepper).to_contain_text("Nothing found")
    expect(page.get_by_role("region", name="The kernel")).to_contain_text("GroupMemoryBarrierWithGroupSync")
    assert wrongs_of(page) == []
    page.get_by_role("link", name="Workgroups").last.click()
    page.locator("[data-page=workgroups]").wait_for()
    page.go_back()
    page.go_back()
    expect(stepper).to_contain_text("Race on")
    page.reload()
    expect(stepper).to_contain_text("Race on")
