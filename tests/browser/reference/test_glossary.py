"""The glossary: its search, and its letters."""

import re

from playwright.sync_api import expect

from splatscope.textbook.terms import terms


def test_a_search_leaves_the_terms_with_these_words_in_view(turn_to):
    page = turn_to("/app?page=glossary")
    rows = page.locator(".glossary dl > div:visible")
    expect(rows).to_have_count(len(terms()))
    page.get_by_label("Search", exact=True).fill("BARRIER")
    wanted = [term.name for term in terms() if "barrier" in f"{term.name} {term.definition}".lower()]
    assert wanted
    shown = rows.locator("dt").all_inner_texts()
    assert set(wanted) <= set(shown)
    assert len(shown) < len(terms())
    expect(page.locator(".glossary-search [role=status]")).to_have_text(re.compile(rf"^{len(shown)} terms?$"))
    page.get_by_label("Search", exact=True).fill("xylophone")
    expect(rows).to_have_count(0)
    expect(page.locator(".glossary h2:visible")).to_have_count(0)


def test_a_letter_leads_to_its_terms(turn_to):
    page = turn_to("/app?page=glossary")
    letters = page.get_by_role("navigation", name="Letters").get_by_role("link")
    assert sorted(letters.all_inner_texts()) == sorted(
        {term.name[0].upper() for term in terms()} & set("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    )
    assert len({letter.bounding_box()["y"] for letter in letters.all()}) == 1, "all letters are in one row"
    letters.get_by_text("T", exact=True).click()
    heading = page.get_by_role("heading", name="T", exact=True)
    expect(heading).to_be_in_viewport()
    expect(heading).to_be_focused()


def test_its_text_is_as_large_as_that_of_the_interface(turn_to):
    page = turn_to("/app?page=glossary")
    assert page.locator(".glossary dd").first.evaluate("(el) => parseFloat(getComputedStyle(el).fontSize)") >= 15
