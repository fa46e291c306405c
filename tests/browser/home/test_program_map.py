"""The home page's map: its sections from the start, its times once measured, pointer and keys, a phone."""

import re

import pytest
from playwright.sync_api import expect

from helpers.axe import wrongs_of
from splatscope.web.shell.pages import BY_NAME, PAGES

SECTIONS = [entry for entry in PAGES if entry.is_section]


@pytest.fixture
def at(turn_to):
    """Return `at(**options)`, which opens the home page and gives its map."""
    return lambda **options: turn_to("/app?page=home", **options).get_by_test_id("program-map")


def test_every_section_is_in_it_before_anything_is_measured(at):
    the_map = at()
    for entry in SECTIONS:
        link = the_map.get_by_role("link", name=entry.title, exact=True)
        expect(link).to_have_count(1)
        expect(link).to_have_attribute("href", entry.address)
    assert len(SECTIONS) >= 18


def test_times_come_and_are_shares_of_the_whole(at):
    the_map = at()
    expect(the_map).to_have_attribute("data-measured", "")
    ms = {
        place.get_attribute("data-time"): float(place.inner_text().split()[0])
        for place in the_map.locator("[data-time]:not(:empty)").all()
    }
    parts = [ms[name] for name in ("clearDerivativesMain", "computeDerivativesMain", "updateBlobsMain")]
    assert sum(parts) == pytest.approx(ms["total"], rel=0.06)  # each is shown with two digits
    assert ms["forward"] + ms["backward"] == pytest.approx(ms["computeDerivativesMain"], rel=0.06)
    expect(the_map.locator(".pm-said")).to_contain_text("Measured here, on ")
    expect(the_map.get_by_role("status")).to_have_count(0)  # nobody has asked for it
    expect(the_map.locator("[data-shape=computeDerivativesMain]")).to_have_text(
        re.compile(r"\d+ × \d+ workgroups of 8 × 4 threads")
    )


def test_it_is_measured_once_for_all(at):
    first = at()
    expect(first).to_have_attribute("data-measured", "")
    times = first.locator("[data-time]").all_inner_texts()
    second = at()
    expect(second).to_have_attribute("data-measured", "")
    assert second.locator("[data-time]").all_inner_texts() == times


def test_a_box_leads_to_its_page_by_key_and_by_click_beside_its_words(at):
    the_map = at()
    link = the_map.get_by_role("link", name="Bitonic sort", exact=True)
    link.focus()
    link.press("Enter")
    expect(the_map.page.locator("[data-page=bitonic-sort]")).to_be_visible()
    the_map = at()
    the_map.locator(".pm-box", has_text="Coarse raster").click(position={"x": 100, "y": 60})
    expect(the_map.page.locator("[data-page=coarse-raster]")).to_be_visible()
    the_map = at()
    the_map.get_by_role("link", name=BY_NAME["final-count"].title, exact=True).click()
    expect(the_map.page.locator("[data-page=final-count]")).to_be_visible()


def test_tab_follows_the_way_forward_and_back(at):
    names = at().get_by_role("link").all_inner_texts()
    order = [BY_NAME[name].title for name in ("dispatch-ids", "coarse-raster", "fine-raster", "undo")]
    assert [name for name in names if name in order] == order


@pytest.mark.parametrize(("width", "height", "scheme"), [(390, 844, "light"), (1440, 900, "dark"), (900, 800, "light")])
def test_axe_has_nothing_to_say_and_nothing_is_too_wide(at, width, height, scheme):
    the_map = at(width=width, height=height, scheme=scheme)
    expect(the_map).to_have_attribute("data-measured", "")
    assert wrongs_of(the_map.page) == []
    assert the_map.page.evaluate("document.documentElement.scrollWidth") <= width
