"""The search of the served book: by keyboard, by touch, and what it leads to."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from helpers.axe import wrongs_of

BITONIC = "/app?page=bitonic-sort"


def search(page: Page, words: str) -> Locator:
    """Open the search by key, type, and return the options once they are there."""
    page.keyboard.press("Control+k")
    field = page.get_by_test_id("search")
    expect(field).to_be_focused()
    field.fill(words)
    options = page.get_by_role("option")
    expect(options.first).to_be_visible()
    return options


def chosen(page: Page) -> Locator:
    """Return the option that the field names as active."""
    return page.locator(f"#{page.get_by_test_id('search').get_attribute('aria-activedescendant')}")


def test_a_result_is_chosen_by_keyboard_and_leads_to_its_paragraph(visit: Callable[..., Page]):
    page = visit("/app")
    search(page, "bend the list into a ring")
    expect(chosen(page)).to_have_attribute("aria-selected", "true")
    expect(chosen(page).locator("mark").first).to_be_visible()
    page.keyboard.press("Enter")
    page.locator("[data-page=bitonic-sort]").wait_for()
    expect(page.locator("#search")).to_be_hidden()
    paragraph = page.locator(".prose p", has_text="Bend the list into a ring")
    expect(paragraph).to_be_in_viewport()
    expect(paragraph).to_be_focused()
    assert "#text=Why%20does%20that%20work" in page.url
    page.go_back()
    page.locator("[data-page=home]").wait_for()
    page.go_forward()
    page.locator("[data-page=bitonic-sort]").wait_for()


def test_arrows_choose_escape_closes_and_the_focus_returns(turn_to: Callable[..., Page]):
    page = turn_to(BITONIC)
    opener = page.get_by_role("button", name="Search the book")
    opener.focus()
    opener.press("Enter")
    page.keyboard.type("barrier")
    expect(page.get_by_role("option").nth(1)).to_be_visible()
    first = chosen(page).get_attribute("id")
    page.keyboard.press("ArrowDown")
    assert chosen(page).get_attribute("id") != first
    page.keyboard.press("ArrowUp")
    assert chosen(page).get_attribute("id") == first
    page.keyboard.press("ArrowUp")  # to the last
    assert chosen(page).get_attribute("id") == page.get_by_role("option").last.get_attribute("id")
    expect(chosen(page)).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.locator("#search")).to_be_hidden()
    expect(opener).to_be_focused()


def test_a_place_on_the_same_page_is_scrolled_to_and_back_returns(visit: Callable[..., Page]):
    page = visit(BITONIC)
    page.get_by_test_id("stepper").first.wait_for()
    page.keyboard.press("/")
    expect(page.get_by_text("On this page", exact=True).last).to_be_visible()
    page.get_by_role("option", name="Padding", exact=True).click()
    heading = page.get_by_role("heading", name="Padding", exact=True)
    expect(heading).to_be_in_viewport()
    expect(heading).to_be_focused()
    page.go_back()
    expect(page.locator("h1").last).to_be_in_viewport()


def test_a_line_of_code_is_shown_in_the_figure(visit: Callable[..., Page]):
    page = visit("/app")
    options = search(page, "orderPair(i, i ^ j")
    options.first.click()
    page.locator("[data-page=bitonic-sort]").wait_for()
    line = page.get_by_test_id("stepper").first.locator(".ln-row", has_text="orderPair(i, i ^ j")
    expect(line).to_be_in_viewport()


def test_a_line_that_the_figure_lacks_is_shown_where_it_is_quoted(visit: Callable[..., Page]):
    page = visit("/app")
    search(page, "sortWithoutBarrier(PaddedShortList").first.click()
    page.locator("[data-page=bitonic-sort]").wait_for()
    expect(page.locator(".qrow", has_text="sortWithoutBarrier(PaddedShortList").first).to_be_in_viewport()


@pytest.mark.parametrize(
    ("words", "page_name", "shown"),
    [
        ("transmittance", "glossary", ".sought"),
        ("sorted list is blended", "bitonic-sort", "[data-testid=claim]"),
        ("loop too far out", "exercises", "[data-testid=exercise-editor]"),
    ],
)
def test_terms_claims_and_exercises_lead_to_themselves(visit: Callable[..., Page], words: str, page_name: str, shown: str):
    page = visit("/app")
    options = search(page, words)
    options.and_(page.locator(f"[href*='page={page_name}']")).first.click()
    page.locator(f"[data-page={page_name}]").wait_for()
    expect(page.locator(shown).and_(page.locator(":visible")).first).to_be_visible()


def test_the_debugger_keeps_its_key(turn_to: Callable[..., Page]):
    page = turn_to("/app?page=debugger")
    expect(page.get_by_test_id("stepper").first).to_have_attribute("data-steps", re.compile(r"\d"))
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_hidden()
    page.keyboard.type("k")  # it is typed into the field of the recording
    page.keyboard.press("Control+k")
    expect(page.locator("#search")).to_be_hidden()
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement?.shadowRoot?.activeElement?.blur(), document.activeElement?.blur()")


def test_nothing_found_is_said_and_a_typo_still_finds(turn_to: Callable[..., Page]):
    page = turn_to("/app?page=glossary")
    search(page, "barrxer")
    expect(page.get_by_role("option").first).to_contain_text(re.compile("barrier", re.IGNORECASE))
    page.get_by_test_id("search").fill("xylophone")
    expect(page.locator("#search [role=status]")).to_have_text("Nothing found for “xylophone”.")
    assert page.get_by_test_id("search").get_attribute("aria-activedescendant") is None
    page.keyboard.press("Enter")  # there is nothing to open
    expect(page.locator("#search")).to_be_visible()
    page.keyboard.press("Escape")


def test_enter_is_kept_until_the_index_is_there(visit: Callable[..., Page]):
    page = visit(BITONIC)
    held: list[Route] = []
    page.route("**/search", lambda route: held.append(route))
    page.keyboard.press("Control+k")
    page.get_by_test_id("search").fill("wave")
    page.keyboard.press("Enter")
    expect(page.locator("#search").get_by_role("status")).to_have_text("Loading …")
    held[0].continue_()
    expect(page).to_have_url(re.compile("page=glossary#term-wave"))


def test_the_index_is_fetched_once_and_only_when_the_search_opens(visit: Callable[..., Page]):
    page = visit(BITONIC)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/search") else None)
    assert not asked
    search(page, "wave")
    page.keyboard.press("Escape")
    search(page, "workgroup")
    page.keyboard.press("Escape")
    assert len(asked) == 1
    answer = page.request.get(asked[0])
    assert answer.headers["content-encoding"] == "gzip"
    assert page.request.get(asked[0], headers={"If-None-Match": answer.headers["etag"]}).status == 304


def test_on_a_phone_it_fills_the_page(visit: Callable[..., Page]):
    page = visit(BITONIC, width=390, height=844, has_touch=True)
    page.get_by_role("button", name="Search the book").tap()
    page.get_by_test_id("search").fill("padding")
    expect(page.get_by_role("option").first).to_be_visible()
    box = page.locator("#search").bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 390, 844)
    page.get_by_role("option", name=re.compile("^Padding")).first.tap()
    expect(page.get_by_role("heading", name="Padding", exact=True)).to_be_in_viewport()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_screen_readers_understand_it(turn_to: Callable[..., Page], scheme: str):
    page = turn_to("/app?page=glossary", scheme=scheme)
    search(page, "barrier")
    expect(page.get_by_role("combobox", name="Search the book")).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("listbox", name="Results").get_by_role("group", name="Glossary")).to_be_visible()
    expect(page.locator("#search [role=status]")).to_have_text(re.compile(r"\d+ results"))
    assert not wrongs_of(page)
    page.keyboard.press("Escape")
