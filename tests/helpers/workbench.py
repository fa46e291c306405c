"""Helpers for tests of the debugger page: write, run, open, save."""

from pathlib import Path

from playwright.sync_api import Page, expect

from helpers.stepping import ready, stepper

KERNEL = """RWStructuredBuffer<uint> data;
[shader("compute")]
[numthreads(4, 1, 1)]
void main(uint3 t : SV_DispatchThreadID)
{
    BODY
}
"""


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
    expect(stepper(page)).not_to_have_attribute("data-recording", before)
    ready(page)


def agree(page: Page) -> Page:
    """Run a kernel that came with a link."""
    page.get_by_test_id("debugger-go").click()
    return page


def open_example(page: Page, name: str) -> None:
    """Open an example from the gallery, and wait for its recording."""
    before = stepper(page).get_attribute("data-recording")
    page.get_by_test_id("debugger-open").click()
    page.locator(f"[data-example={name}]").click()
    if name != "bitonic-sort":  # that one is open at first
        expect(stepper(page)).not_to_have_attribute("data-recording", before)
    ready(page)


def answer(page: Page):
    return page.get_by_test_id("debugger-message")


def save(page: Page, what: str) -> tuple[str, bytes]:
    """Save a file from the menu, and return its name and contents."""
    page.get_by_test_id("debugger-save").click()
    with page.expect_download() as download:
        page.locator(f"[data-save={what}]").click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def give(page: Page, file: Path) -> None:
    """Open a file."""
    page.get_by_test_id("debugger-open").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Open files").click()
    chooser.value.set_files(file)
