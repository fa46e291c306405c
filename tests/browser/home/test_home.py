"""The home page: a picture that is there at once and grows by itself, one way in, each section linked once."""

import re

import pytest
from playwright.sync_api import expect

from helpers.spoken import spoken
from splatscope.web.home.home import ALT, COUNTS, FIRST
from splatscope.web.shell.pages import PAGES, first_section

ALL = str(COUNTS[-1])


def slider(page):
    return page.get_by_label("Take it apart (Gaussians that are drawn)")


def still(page):
    return page.get_by_test_id("live-render").locator(".live-frame").evaluate("(el) => +el.style.getPropertyValue('--still')")


def test_the_picture_is_there_before_any_script(visit):
    page = visit("/app", java_script_enabled=False, wait=False)
    picture = page.get_by_alt_text("A cup of coffee")
    expect(picture).to_be_visible()
    frame = page.locator(".live-frame")
    assert frame.get_attribute("style").endswith(f"--still: {FIRST}")
    box = frame.bounding_box()
    assert picture.bounding_box()["height"] == box["height"] * len(COUNTS)


def test_the_picture_is_described_whether_or_not_it_has_been_drawn_here(visit):
    page = visit("/app")
    assert [one.name for one in spoken(page).all("image")].count(ALT) == 1
    expect(page.get_by_test_id("live-render").locator(".drawn")).to_be_attached(timeout=240_000)
    assert [one.name for one in spoken(page).all("image")].count(ALT) == 1


def test_the_figure_is_named_by_what_it_shows_and_not_by_its_slider(visit):
    expect(visit("/app").get_by_role("figure", name="A picture of 2,048 Gaussians", exact=True)).to_be_attached()


def test_the_number_of_gaussians_rises_by_itself_once(visit):
    page = visit("/app", clock=True)
    expect(slider(page)).to_have_value(ALL)
    assert still(page) == len(COUNTS) - 1
    page.clock.run_for(600)
    expect(slider(page)).to_have_value(ALL)
    expect(slider(page)).to_have_attribute("aria-valuetext", re.compile(r"^([\d,]+) of \1 Gaussians$"))


def test_whoever_prefers_reduced_motion_sees_all_of_them_at_once(visit):
    page = visit("/app", reduced_motion="reduce")
    expect(slider(page)).to_have_value(ALL)
    assert still(page) == len(COUNTS) - 1


def test_a_touch_stops_it_and_the_slider_shows_the_nearest_picture_at_once(visit):
    page = visit("/app", clock=True)
    slider(page).fill("100")
    assert still(page) == COUNTS.index(100)
    expect(slider(page)).to_have_value("100")
    page.clock.run_for(900)  # four more pictures, had it gone on
    expect(slider(page)).to_have_value("100")
    expect(page.get_by_test_id("live-render").locator("canvas")).to_have_attribute("data-count", "100", timeout=240_000)


def test_a_recording_is_stepped_by_itself_once_and_then_by_the_reader(visit):
    page = visit("/app", clock=True)
    stepper = page.get_by_test_id("stepper")
    expect(stepper).to_have_attribute("data-steps", re.compile(r"\d+"))
    stepper.scroll_into_view_if_needed()
    before = stepper.get_attribute("data-step")
    expect(stepper).not_to_have_attribute("data-step", before)
    assert "step=" not in page.url
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"step=\d+"))
    reached = stepper.get_attribute("data-step")
    page.clock.run_for(1800)  # two more stops, had it gone on
    expect(stepper).to_have_attribute("data-step", reached)


def test_nothing_steps_by_itself_for_whoever_prefers_reduced_motion(visit):
    page = visit("/app", clock=True, reduced_motion="reduce")
    stepper = page.get_by_test_id("stepper")
    expect(stepper).to_have_attribute("data-steps", re.compile(r"\d+"))
    stepper.scroll_into_view_if_needed()
    opening = stepper.get_attribute("data-step")
    assert int(opening) > 0
    page.clock.run_for(1800)
    expect(stepper).to_have_attribute("data-step", opening)


@pytest.mark.parametrize("height", [800, 900])
def test_nothing_lies_over_the_figure(visit, height):
    page = visit("/app")
    page.set_viewport_size({"width": 1440, "height": height})
    expect(page.locator(".sample .net")).to_be_visible(timeout=60_000)
    drawing, dock = (page.locator(f".sample {name}").bounding_box() for name in (".net", ".dock"))
    assert drawing["y"] + drawing["height"] <= dock["y"]
    if height == 900:
        assert dock["y"] + dock["height"] <= height, "the transport is below the window"


def test_the_main_button_leads_to_the_first_section(visit):
    page = visit("/app")
    start = page.locator("a[data-start]")
    expect(start).to_have_text(re.compile(r"^Start(: | with )"))
    start.click()
    expect(page.locator("[data-page]")).to_have_attribute("data-page", first_section().name)


def test_each_section_is_linked_once_with_its_number_in_the_book(turn_to):
    page = turn_to("/app?page=home")
    links = page.locator("[data-page=home] a[data-section]")
    numbers = dict(links.evaluate_all("(all) => all.map((link) => [link.dataset.section, +link.dataset.number])"))
    sections = [entry.name for entry in PAGES if entry.is_section]
    assert numbers == {name: i + 1 for i, name in enumerate(sections)}
    for place in (page.get_by_test_id("program-map"), page.locator("nav#nav")):
        link = place.locator(f"[data-section={sections[7]}]")
        expect(link).to_have_accessible_description("Section 8")
    expect(links).to_have_count(len(sections))


def test_all_rows_of_the_figure_are_in_a_low_window(visit):
    page = visit("/app?page=home", width=1280, height=800)
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-steps", re.compile(r"\d+"))
    last = page.locator(".sample svg text", has_text=re.compile("^15$")).first.bounding_box()
    assert last["y"] + last["height"] < 800


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1440, 900), (1920, 1080)])
def test_the_home_page_has_one_grid(turn_to, width, height):
    page = turn_to("/app?page=home", width=width, height=height)
    picture, laws = (page.locator(part).bounding_box() for part in (".home-picture", ".laws"))
    assert [picture["x"], picture["width"]] == [laws["x"], laws["width"]]
