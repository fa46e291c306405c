"""All pages of a published book: sections are read to their end, and walked through alone."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from helpers.published import opener, read_section, stepper_of
from splatscope.textbook.contents import lesson_names, text_of
from splatscope.textbook.markdown import parse
from splatscope.web.classroom.walks import find

STOPS = find("whole").stops
BLENDING = next(i for i, stop in enumerate(STOPS) if stop.page == "blending")
MUTED = next(i for i, stop in enumerate(STOPS) if stop.inputs)  # a stop with inputs of its own


@pytest.mark.parametrize("stem", lesson_names())
def test_a_section_is_stepped_answered_and_its_controls_are_moved(whole_book: Path, closed: Callable[..., Page], stem: str):
    """From a disk, where browsers allow less; test_same_as_served steps the sections that a host has."""
    blocks = [block.kind for block in parse(text_of(stem))]
    visit = opener("disk", whole_book, "", closed)
    done = read_section(visit(f"?page={stem}"))
    assert done["steps"] > 1
    assert done["controls"] > 0
    assert (done["questions"], done["claims"]) == (blocks.count("quiz"), blocks.count("claim"))


def test_a_book_on_a_disk_is_set_in_its_own_typefaces(whole_book: Path, closed: Callable[..., Page]):
    page = opener("disk", whole_book, "", closed)("?page=blending")
    loaded = "name => [...document.fonts].some((font) => font.family === name && font.status === 'loaded')"
    for typeface in ("Inter", "JetBrains Mono"):
        page.wait_for_function(loaded, arg=typeface)


def test_what_is_set_in_a_drawing_and_was_not_recorded_is_taken_back(whole_host: str, closed: Callable[..., Page]):
    page = closed(f"{whole_host}index.html?page=blending", whole_host)
    stepper_of(page)
    slider = page.get_by_role("slider", name="Opacity of layer 1")
    rows = page.locator(".layer-row")
    recorded, count = slider.input_value(), rows.count()
    slider.focus()
    slider.press("ArrowRight")
    expect(page.get_by_text("This value was not recorded for the book")).to_be_visible()
    expect(slider).to_have_value(recorded)
    page.get_by_role("button", name="Add a layer").click()
    expect(rows).to_have_count(count)
    assert page.locator(".drawing-blending.ahead").count() == 0


def test_a_reader_takes_the_walk_alone_with_its_notes(visit_whole: Callable[..., Page]):
    page = visit_whole()
    page.get_by_role("link", name=find("whole").title).click()
    walk = page.get_by_test_id("walk")
    expect(walk).to_have_attribute("data-stop", "0")
    expect(walk.locator(".said")).to_contain_text("one real GPU program")
    expect(walk.get_by_role("button", name="Present to a class")).to_be_hidden()
    for stop in range(1, BLENDING + 1):
        page.keyboard.press("PageDown")
        expect(page.locator("[data-page]")).to_have_attribute("data-page", STOPS[stop].page)
    expect(stepper_of(page)).not_to_have_attribute("data-step", "0")
    figure = page.locator("[data-block=figure]")
    page.wait_for_function(
        "([strip, el]) => Math.abs(el.getBoundingClientRect().top - strip.getBoundingClientRect().bottom) < 40",
        arg=[walk.element_handle(), figure.element_handle()],
    )
    step = stepper_of(page).get_attribute("data-step")
    walk.get_by_role("button", name="Next stop").click()
    expect(page.locator(f"[data-block={STOPS[BLENDING + 1].show}]")).to_be_in_viewport()
    walk.get_by_role("button", name="Previous stop").click()
    expect(stepper_of(page)).to_have_attribute("data-step", step)
    page.reload()
    expect(walk).to_have_attribute("data-stop", str(BLENDING))
    expect(stepper_of(page)).to_have_attribute("data-step", step)
    walk.locator("select").select_option(str(MUTED))
    expect(page.locator("[data-page]")).to_have_attribute("data-page", STOPS[MUTED].page)
    stepper_of(page)
    expect(page).to_have_url(re.compile(re.escape(STOPS[MUTED].inputs)))
    walk.get_by_role("link", name="Leave").click()
    expect(page.get_by_test_id("walk")).to_have_count(0)


def test_a_walk_that_the_book_has_not_is_passed_over(whole_host: str, closed: Callable[..., Page]):
    page = closed(f"{whole_host}index.html?walk=../pages/home", whole_host)
    expect(page.locator("[data-page=home]")).to_be_visible()
    assert page.get_by_test_id("walk").count() == 0
