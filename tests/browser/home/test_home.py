"""The home page: a picture that is there at once and comes apart under the hand, one way in, each section linked once."""

import re

import pytest
from playwright.sync_api import Page, expect

from helpers.spoken import spoken
from splatscope.web.home.opening import ALT
from splatscope.web.shell.pages import PAGES, first_section

SIZES = [(320, 640), (390, 844), (820, 1180), (1440, 900), (2560, 1440)]


def picture(page: Page):
    return page.get_by_test_id("opening")


def slider(page: Page):
    return page.get_by_label("Take it apart")


def whole(page: Page) -> bytes:
    return picture(page).locator(".opening-frame").screenshot()


def apart(page: Page, at_least: float) -> None:
    """Wait until the picture is at least so far apart."""
    page.wait_for_function("(least) => splatscopeShare() >= least", arg=at_least)


SHARE = """() => { window.splatscopeShare = () => {
  const below = (root) => [...root.querySelectorAll("*")].flatMap((el) => [el, ...(el.shadowRoot ? below(el.shadowRoot) : [])])
  return +(below(document).find((el) => el.dataset?.testid === "opening")?.dataset.share ?? 0)
}}"""


@pytest.fixture
def home(visit):
    """Opens the home page in this many pixels, without WebGPU."""

    def opened(width: int = 1440, height: int = 900, **options) -> Page:
        page = visit("/app", width=width, height=height, **options)
        expect(slider(page)).to_be_visible()
        page.evaluate(SHARE)
        return page

    return opened


def test_the_picture_is_there_before_any_script(visit):
    page = visit("/app", java_script_enabled=False, wait=False)
    expect(page.get_by_alt_text(ALT)).to_be_visible()


def test_the_picture_is_described_once_whether_whole_or_apart(home):
    page = home()
    assert [one.name for one in spoken(page).all("image")].count(ALT) == 1
    slider(page).fill("50")
    apart(page, 0.5)
    assert [one.name for one in spoken(page).all("image")].count(ALT) == 1


def test_nothing_that_takes_it_apart_is_fetched_before_a_hand_comes_near(visit):
    page = visit("/app", wait=False)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    expect(slider(page)).to_be_visible()
    page.evaluate(SHARE)
    page.wait_for_load_state("networkidle")
    assert [url for url in asked if "opening-stages" in url or "opening.bin" in url] == []
    slider(page).fill("30")
    apart(page, 0.3)
    assert any("opening-stages" in url for url in asked)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_it_comes_apart_as_one_scrolls_and_together_again(home, width, height):
    page = home(width, height)
    before = whole(page)
    page.mouse.move(width / 2, height / 2)
    page.mouse.wheel(0, 120)
    apart(page, 0.1)
    page.mouse.wheel(0, -120)
    page.wait_for_function("() => scrollY === 0 && splatscopeShare() === 0")
    assert whole(page) == before
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_it_comes_apart_as_one_drags_across_it(home):
    page = home()
    box = picture(page).locator(".opening-frame").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.down()
    page.wait_for_timeout(50)
    expect(picture(page)).to_have_attribute("data-drawn", "stages")
    page.mouse.move(box["x"] + 600, box["y"] + 120, steps=5)
    apart(page, 0.5)
    page.mouse.up()
    page.wait_for_function("() => splatscopeShare() === 0")


def test_keys_take_it_apart(home):
    page = home()
    slider(page).focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    apart(page, 0.2)
    expect(slider(page)).to_have_attribute("aria-valuetext", "20 percent apart")
    page.keyboard.press("Home")
    page.wait_for_function("() => splatscopeShare() === 0")


def test_whoever_wants_no_motion_sees_it_where_it_is_wanted_at_once(home):
    page = home(reduced_motion="reduce")
    slider(page).fill("40")
    expect(picture(page)).to_have_attribute("data-share", "0.400")


def test_the_kernels_draw_it_where_there_is_webgpu(gpu_browser, server):
    with gpu_browser.new_context(viewport={"width": 800, "height": 600}) as context:
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{server}/app")
        page.evaluate(SHARE)
        expect(slider(page)).to_be_visible()
        before = whole(page)
        slider(page).fill("45")
        expect(picture(page)).to_have_attribute("data-drawn", "gpu")
        page.wait_for_function("() => splatscopeShare() >= 0.44")
        assert picture(page).locator("canvas").evaluate("(canvas) => canvas.width >= 384 && canvas.height >= 255")
        assert whole(page) != before
        expect(page.get_by_test_id("home-drop")).to_be_visible()
        assert errors == []


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


def test_the_way_in_is_in_the_first_window(home):
    page = home()
    box = page.locator("a[data-start]").bounding_box()
    assert box["y"] + box["height"] < 900


def test_the_arrows_of_the_map_say_what_flows(turn_to):
    page = turn_to("/app?page=home")
    boxes = page.get_by_test_id("program-map").locator(".pm-way:not(.pm-one) > .pm-box")
    assert boxes.count() > 3
    expect(boxes.locator(".pm-gives")).to_have_text([re.compile(r"^It gives .+")] * boxes.count())
