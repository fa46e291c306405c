"""One recording as one file: opened from a disk and in a notebook's cell, it steps as the debugger does that saved it."""

import html
import random
import re
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from helpers.axe import wrongs_of
from helpers.stepping import ask, at, opened, press, ready, stepper, to
from helpers.workbench import open_example, save
from splatscope.web.single_page.single_page import notebook_html

SCREENS = [(1440, 900, "light"), (390, 844, "dark")]
RACE = re.compile(r"Race on keys\[\d+\]")
# What the panes show at the cursor: where the threads stand, their variables, the cells, the event in words.
SHOWN = """root => [".src .ln-row", ".threads .var", ".lanes td", ".mem .cell", ".dock .now"].map((selector) =>
    [...root.querySelectorAll(selector)].map((el) => `${el.className} ${el.textContent}`))"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture
def race(folder: Path, turn_to) -> Path:
    """The page of a sort of 64 keys with a barrier too far out, saved in the debugger at event 5,000."""
    file = folder / "sortMain.html"
    if not file.exists():
        page = opened(turn_to("/app?page=debugger"))
        open_example(page, "missing-barrier")
        to(page, 5000)
        name, data = save(page, "page")
        assert name == file.name
        file.write_bytes(data)
    return file


def findings(page: Page):
    return page.locator(".found [data-finding]")


@pytest.mark.parametrize(("width", "height", "scheme"), SCREENS)
def test_it_opens_from_a_disk_and_steps(race, from_disk, width, height, scheme):
    page = ready(from_disk(race, width=width, height=height, scheme=scheme))
    root = stepper(page)
    expect(root).to_have_attribute("data-step", "5000")
    steps = int(root.get_attribute("data-steps"))
    for key, there in [("ArrowRight", 5001), ("ArrowLeft", 5000), ("End", steps), ("ArrowLeft", steps - 1), ("Home", 0)]:
        press(page, key)
        assert at(page) == there
    page.get_by_role("button", name="One event forward").click()
    expect(root).to_have_attribute("data-step", "1")
    expect(page.get_by_role("heading", level=1)).to_have_text("sortMain in kernel.slang")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert wrongs_of(page) == []


@pytest.mark.parametrize(("width", "height", "scheme"), SCREENS)
def test_a_click_on_a_finding_leads_to_its_moment(race, from_disk, width, height, scheme):
    page = ready(from_disk(race, width=width, height=height, scheme=scheme))
    assert findings(page).count() == ask(page, "root => splatscope.inspect(root).moment.recording.findings.length") > 0
    expect(findings(page).first).to_have_text(RACE)
    findings(page).first.click()
    step = ask(page, "root => splatscope.inspect(root).moment.recording.findings[0].events.at(-1)")
    expect(stepper(page)).to_have_attribute("data-painted", str(step))
    expect(page.locator(".finding.open")).to_contain_text(findings(page).first.text_content())
    assert ask(page, "root => splatscope.inspect(root).moment.finding") == 0


def test_the_address_holds_the_step(race, from_disk):
    page = ready(from_disk(race, "#step=1234"))
    expect(stepper(page)).to_have_attribute("data-step", "1234")
    press(page, "ArrowRight")
    page.wait_for_url("**#step=1235")
    page.reload()
    expect(stepper(ready(page))).to_have_attribute("data-step", "1235")
    page.evaluate("location.hash = '#step=7'")
    expect(stepper(page)).to_have_attribute("data-painted", "7")


def test_an_expression_is_watched(race, from_disk):
    page = ready(from_disk(race))
    page.keyboard.press("a")
    page.keyboard.type("lane * 2 + 1")
    page.keyboard.press("Enter")
    ask(page, "root => splatscope.inspect(root).choose(5)")
    expect(page.locator(".watched .var").first).to_contain_text("lane * 2 + 111")


def test_the_theme_is_chosen_and_remembered(race, from_disk):
    page = ready(from_disk(race))

    def ground() -> str:
        return page.locator(".panel").first.evaluate("panel => getComputedStyle(panel).backgroundColor")

    light = ground()
    page.get_by_role("button", name="Light or dark").click()
    assert ground() != light
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert ground() != light


def test_the_keys_are_listed(race, from_disk):
    page = ready(from_disk(race))
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("Who wrote this?")
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()


@pytest.mark.parametrize("width", [320, 760, 761, 1240, 1241])
def test_nothing_is_wider_than_the_screen(race, from_disk, width):
    page = ready(from_disk(race, width=width, height=844))
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_each_moment_is_what_the_debugger_shows(race, from_disk, turn_to):
    served = opened(turn_to("/app?page=debugger"))
    open_example(served, "missing-barrier")
    page = ready(from_disk(race))
    assert stepper(page).get_attribute("data-recording") == stepper(served).get_attribute("data-recording")
    steps = int(stepper(page).get_attribute("data-steps"))
    for step in [0, 1, steps, *random.Random(3).sample(range(steps), 12)]:
        for each in (page, served):
            to(each, step)
        assert ask(page, SHOWN) == ask(served, SHOWN), f"event {step}"
        assert ask(page, "root => root.querySelectorAll('.mem .cell').length") >= 64


def test_a_sort_of_64_keys_is_small_enough_for_a_mail(race):
    assert race.stat().st_size < 500_000


def in_a_notebook(race: Path, folder: Path, from_disk) -> tuple[Page, FrameLocator]:
    """Put the page into the output of a cell, above a field of the notebook's own."""
    cell = folder / "notebook.html"
    output = notebook_html(race.read_text(encoding="utf-8"))
    cell.write_text(f'<!doctype html><title>{html.escape("In [1]:")}</title><input id="next">{output}', encoding="utf-8")
    page = from_disk(cell)
    return page, page.frame_locator("iframe")


def test_in_the_output_of_a_cell_it_steps_without_a_server(race, folder, from_disk):
    page, frame = in_a_notebook(race, folder, from_disk)
    ready(frame)
    frame.get_by_role("button", name="One event forward").click()
    expect(stepper(frame)).to_have_attribute("data-step", "5001")
    page.keyboard.press("ArrowRight")
    expect(stepper(frame)).to_have_attribute("data-step", "5002")
    frame.locator("[data-finding]").first.click()
    expect(frame.locator(".finding.open")).to_contain_text(frame.locator("[data-finding]").first.text_content())
    frame.get_by_role("button", name="Light or dark").click()
    assert frame.locator("html").get_attribute("data-theme") == "dark"


def test_the_keyboard_enters_and_leaves_the_cell(race, folder, from_disk):
    page, frame = in_a_notebook(race, folder, from_disk)
    ready(frame)
    page.locator("#next").focus()
    page.keyboard.press("Tab")
    expect(frame.get_by_role("button", name="Keys of this page")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(stepper(frame)).to_have_attribute("data-step", "5001")
    page.keyboard.press("Shift+Tab")
    expect(page.locator("#next")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(stepper(frame)).to_have_attribute("data-step", "5001")  # the arrow was the notebook's


def test_the_page_in_a_cell_does_not_reach_the_notebook(race, folder, from_disk):
    page, frame = in_a_notebook(race, folder, from_disk)
    ready(frame)
    inside = page.frames[1]
    assert inside.evaluate("() => { try { return Boolean(parent.document) } catch { return false } }") is False
