"""The reader's progress: detected while reading, stored in the browser, exported as a file."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from splatscope.web.shell.pages import PAGES

FIRST, SECOND, *_ = (entry for entry in PAGES if entry.is_section)


def ready(page: Page) -> None:
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-steps", re.compile(r"[1-9]\d*"))


def home(page: Page):
    page.get_by_role("navigation").get_by_role("link", name="Splatscope").click()
    panel = page.get_by_test_id("progress")
    expect(panel).to_be_visible()
    return panel


def mark(page: Page, name: str):
    return page.locator(f".nav a[data-section={name}][data-done]")


def choose(quiz: Locator, *, rightly: bool = True) -> None:
    expect(quiz).to_have_attribute("data-answer", re.compile(".+"))
    options, value = quiz.locator(".opts button"), quiz.get_attribute("data-answer")
    options.nth(next(i for i, text in enumerate(options.all_inner_texts()) if (text == value) == rightly)).click()


def answer_one(page: Page, *, rightly: bool = True) -> None:
    quiz = page.get_by_test_id("quiz").first
    choose(quiz, rightly=rightly)
    quiz.get_by_role("button", name="Reveal").click()
    expect(quiz.locator(".said")).not_to_be_empty()


def step(page: Page) -> None:
    """Look at three moments of the figure, from its start, which is nobody's opening."""
    for key in ("Home", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)


def finish(page: Page) -> None:
    ready(page)
    step(page)
    answer_one(page)


def test_a_figure_used_and_a_question_answered_is_a_section_finished(visit: Callable[..., Page]):
    page = visit("/app?page=undo")
    ready(page)
    page.keyboard.press("End")
    step(page)
    expect(mark(page, "undo")).to_have_count(0)
    answer_one(page)
    expect(mark(page, "undo")).to_have_count(1)
    said = page.locator(".section-done")
    expect(said).to_be_visible()
    ticks = ["::before", "::after"]
    assert "".join(said.evaluate("(el, ticks) => ticks.map(one => getComputedStyle(el, one).content)", ticks)).count("✓") == 1
    assert said.bounding_box()["x"] == page.locator(".lesson h1").bounding_box()["x"]
    expect(home(page)).to_have_attribute("data-finished", "1")
    expect(page.locator("[data-page=home] a[data-section=undo][data-done]").first).to_be_visible()
    expect(page.locator("a[data-start]")).to_have_attribute("href", FIRST.address)
    page.reload()
    expect(page.get_by_test_id("progress")).to_have_attribute("data-finished", "1")
    expect(mark(page, "undo")).to_have_count(1)


def test_a_wrong_answer_finishes_no_section(visit: Callable[..., Page]):
    page = visit("/app?page=undo")
    ready(page)
    step(page)
    answer_one(page, rightly=False)
    expect(page.get_by_text("With other inputs you can try again.")).to_be_visible()
    expect(mark(page, "undo")).to_have_count(0)


def test_a_question_alone_finishes_no_section_until_the_figure_has_been_used(visit: Callable[..., Page]):
    page = visit("/app?page=dispatch-ids")
    ready(page)
    page.keyboard.press("End")
    quiz = page.get_by_test_id("quiz").first
    choose(quiz)
    quiz.get_by_role("button", name="Reveal", exact=True).click()  # it leads nowhere in the figure
    expect(quiz.locator(".said")).not_to_be_empty()
    expect(mark(page, "dispatch-ids")).to_have_count(0)
    step(page)
    expect(mark(page, "dispatch-ids")).to_have_count(1)


def test_an_answer_that_is_revealed_by_stepping_there_finishes_a_section(visit: Callable[..., Page]):
    page = visit(f"/app?page={FIRST.name}")
    ready(page)
    quiz = page.get_by_test_id("quiz").last
    choose(quiz)
    expect(mark(page, FIRST.name)).to_have_count(0)
    quiz.get_by_role("button", name="Reveal and step there").click()
    expect(mark(page, FIRST.name)).to_have_count(1)
    home(page)
    expect(page.get_by_role("link", name=f"Continue with {SECOND.title}")).to_have_attribute("href", SECOND.address)


def test_what_was_finished_before_stays_so(visit: Callable[..., Page]):
    page = visit("/app")
    page.evaluate("""localStorage.setItem("splatscope-progress", '{"undo": "2026-01-05"}')""")
    page.reload()
    expect(page.get_by_test_id("progress")).to_have_attribute("data-finished", "1")
    expect(mark(page, "undo")).to_have_attribute("data-done", "2026-01-05")


def test_it_leaves_as_a_file_is_cleared_and_comes_back(visit: Callable[..., Page], tmp_path: Path):
    page = visit("/app?page=undo")
    finish(page)
    expect(mark(page, "undo")).to_have_count(1)
    panel = home(page)
    with page.expect_download() as download:
        panel.get_by_role("button", name="Save as a file").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert list(json.loads(file.read_text())["finished"]) == ["undo"]

    panel.get_by_role("button", name="Clear").click()
    expect(panel).to_have_attribute("data-finished", "0")
    expect(mark(page, "undo")).to_have_count(0)
    for name in ("Save as a file", "Clear"):  # there is nothing to save, nor to clear
        expect(panel.get_by_role("button", name=name)).to_be_hidden()
    panel.get_by_role("button", name="Undo").click()
    expect(panel).to_have_attribute("data-finished", "1")
    panel.get_by_role("button", name="Clear").click()
    expect(panel).to_have_attribute("data-finished", "0")

    other = visit("/app")
    panel = other.get_by_test_id("progress")
    panel.locator("input[type=file]").set_input_files(file)
    expect(panel).to_contain_text("Loaded 1 new section")
    expect(panel).to_have_attribute("data-finished", "1")
    expect(mark(other, "undo")).to_have_count(1)


@pytest.mark.parametrize(
    "text", ["", "[]", "null", '{"splatscope": "progress", "finished": 3}', '{"splatscope": "progress"}', "\x00\xff"]
)
def test_a_file_that_is_none_changes_nothing_and_is_named(visit: Callable[..., Page], text: str):
    page = visit("/app")
    panel = page.get_by_test_id("progress")
    panel.locator("input[type=file]").set_input_files({"name": "other.json", "mimeType": "", "buffer": text.encode()})
    expect(panel).to_contain_text("other.json is not a progress file")
    expect(panel).to_have_attribute("data-finished", "0")


def test_what_a_file_says_of_pages_that_are_none_is_not_counted(visit: Callable[..., Page]):
    page = visit("/app")
    panel = page.get_by_test_id("progress")
    given = {"splatscope": "progress", "finished": {"nowhere": "2026-01-01", "<b>": "2026-01-01", "undo": "yesterday"}}
    panel.locator("input[type=file]").set_input_files(
        {"name": "odd.json", "mimeType": "application/json", "buffer": json.dumps(given).encode()}
    )
    expect(panel).to_contain_text("Loaded no new sections from odd.json")
    expect(panel).to_have_attribute("data-finished", "0")


def test_a_second_tab_hears_of_it(visit: Callable[..., Page]):
    page = visit("/app?page=undo")
    other = page.context.new_page()
    other.goto(page.url.replace("?page=undo", ""))
    expect(other.get_by_test_id("progress")).to_have_attribute("data-finished", "0")
    finish(page)
    expect(other.get_by_test_id("progress")).to_have_attribute("data-finished", "1")
    page.evaluate("localStorage.clear()")
    expect(other.get_by_test_id("progress")).to_have_attribute("data-finished", "0")


def test_every_section_on_the_map_tells_that_it_is_finished(visit: Callable[..., Page]):
    page = visit("/app")
    finished = {entry.name: "2026-01-05" for entry in PAGES if entry.is_section}
    page.evaluate("(found) => localStorage.setItem('splatscope-progress', JSON.stringify(found))", finished)
    page.reload()
    expect(page.get_by_test_id("progress")).to_have_attribute("data-finished", str(len(finished)))
    ticks = page.locator("[data-testid=program-map] a[data-section]").evaluate_all(
        "links => links.map(link => getComputedStyle(link, '::after').content)"
    )
    assert len(ticks) >= len(finished)
    assert all("✓" in tick and "finished" in tick for tick in ticks), ticks
