"""Terms of the glossary in a section's prose: links that show the definition by pointer and keyboard."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from helpers.keyboard import focused, tab_to

TAP = "el => el.dispatchEvent(new PointerEvent('click', {bubbles: true, composed: true, cancelable: true, pointerType: 'touch'}))"


def test_the_keyboard_shows_a_definition_and_leads_to_its_entry(visit: Callable[..., Page]):
    page = visit("/app?page=bitonic-sort")
    card = page.locator(".term-card")
    expect(card).to_be_hidden()
    page.locator("#content").focus()
    tab_to(page, "className", "term")
    word = focused(page, "textContent")
    expect(card).to_be_visible()
    expect(card).to_contain_text(word.rstrip("s"))
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.locator("[data-page]")).to_have_attribute("data-page", "glossary")
    sought = page.locator(".glossary .sought")
    expect(sought).to_have_count(1)
    expect(sought).to_contain_text(word.rstrip("s"))
    expect(sought).to_be_in_viewport()
    page.go_back()
    expect(page.locator("[data-page]")).to_have_attribute("data-page", "bitonic-sort")


def test_the_pointer_may_go_from_a_word_to_its_definition(visit: Callable[..., Page]):
    page = visit("/app?page=bitonic-sort", clock=True)
    word = page.locator("a.term").first
    expect(word).to_have_accessible_description(page.locator(f"#{word.get_attribute('aria-describedby')}").inner_text())
    word.hover()
    card = page.locator(".term-card")
    expect(card).to_be_visible()
    card.hover()
    page.clock.run_for(400)  # longer than a card outlives the pointer
    expect(card).to_be_visible()
    page.mouse.move(5, 500)
    expect(card).to_be_hidden()


def test_a_finger_that_taps_a_word_stays_on_the_page(visit: Callable[..., Page]):
    page = visit("/app?page=bitonic-sort", width=390, height=844)
    word = page.locator("a.term").first
    word.evaluate(TAP)
    card = page.locator(".term-card")
    expect(card).to_be_visible()
    box = card.bounding_box()
    assert box["width"] == 390
    assert box["y"] + box["height"] == 844
    expect(page.locator("[data-page]")).to_have_attribute("data-page", "bitonic-sort")
    card.get_by_role("link", name="In the glossary").click()
    expect(page.locator("[data-page]")).to_have_attribute("data-page", "glossary")


def test_an_entry_is_found_by_its_address(visit: Callable[..., Page]):
    page = visit("/app?page=glossary#term-workgroup", height=500)
    expect(page.locator("#term-workgroup")).to_be_in_viewport()


def test_below_a_figure_the_names_in_its_code_are_explained(turn_to):
    page = turn_to("/app?page=blending")
    names = page.locator("details.names")
    names.get_by_text("The names in the code").click()
    expect(names.locator("dt:has(code:text-is('transformPixelState')) + dd")).to_contain_text("One step of the blend")
    expect(names.locator("dt code:text-is('localIdx')")).to_have_count(0)  # the code of this page does not use it
