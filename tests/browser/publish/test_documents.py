"""Each page of a published book is a document of its own, which can be read without scripts; and the search of the book."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from helpers.published import hosted, write_book
from helpers.stepping import at, ready


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a book of two sections and two tools."""
    folder = tmp_path_factory.mktemp("documents") / "book"
    write_book(folder, "bitonic-sort", "workgroups", "claims")
    return folder


@pytest.fixture(params=["disk", "host"])
def base(request: pytest.FixtureRequest, book: Path):
    """The address of the book's folder, on the disk and on a host."""
    if request.param == "disk":
        yield f"{book.as_uri()}/"
    else:
        with hosted(book) as address:
            yield address


@pytest.fixture
def opened(base: str, closed: Callable[..., Page]) -> Callable[..., Page]:
    """Opens an address in the book: `opened("cas.html")`."""

    def opened(address: str, **options) -> Page:
        page = closed(base + address, base, **options)
        page.locator("[data-page]").wait_for()
        return page

    return opened


def test_a_document_shows_its_page_with_inputs_and_step(opened, base):
    page = ready(opened("bitonic-sort.html?step=3&barrier=false"))
    expect(page.locator("[data-page=bitonic-sort]")).to_be_visible()
    assert at(page) == 3
    expect(page).to_have_title("Bitonic sort · Splatscope")
    expect(page.locator("#first")).to_have_count(0)  # the text has made way
    page.keyboard.press("End")
    expect(page).to_have_url(re.compile(rf"^{re.escape(base)}bitonic-sort\.html\?step=\d\d+&barrier=false$"))


def test_old_addresses_lead_to_the_document(opened, base):
    page = ready(opened("index.html?page=bitonic-sort&step=3&barrier=false#text=Padding"))
    assert page.url == f"{base}bitonic-sort.html?step=3&barrier=false#text=Padding"
    expect(page.get_by_role("heading", name="Padding", exact=True)).to_be_in_viewport()
    assert at(page) == 3


def test_links_use_the_documents_and_back_returns(opened, base):
    page = opened("index.html")
    page.locator("#nav").get_by_role("link", name="Bitonic sort").click()
    expect(page.locator("[data-page=bitonic-sort]")).to_be_visible()
    assert page.url == f"{base}bitonic-sort.html"
    expect(page.locator("#nav [aria-current=page]")).to_have_text("Bitonic sort")
    page.get_by_role("link", name="Take it away").click()
    expect(page).to_have_url(re.compile(r"bitonic-sort\.html\?(step=\d+&)?barrier=false"))
    page.locator("a.term").first.click()
    expect(page.locator("[data-page=glossary] .sought")).to_be_in_viewport()
    page.go_back()
    expect(page).to_have_url(re.compile(r"bitonic-sort\.html\?(step=\d+&)?barrier=false"))
    expect(page.locator("[data-page=bitonic-sort]")).to_be_visible()


def test_the_search_has_what_the_book_has(opened):
    page = opened("glossary.html")
    page.keyboard.press("/")
    field = page.get_by_test_id("search")
    field.fill("adam")
    expect(page.get_by_role("option").first).to_be_visible()
    assert page.get_by_role("option").and_(page.locator("[href*='adam.html']")).count() == 0
    field.fill("bend the list into a ring")
    expect(page.get_by_role("option").first).to_contain_text("Bend the list")
    page.keyboard.press("Enter")
    expect(page.locator("[data-page=bitonic-sort] .prose p", has_text="Bend the list")).to_be_in_viewport()
    assert "bitonic-sort.html#text=" in page.url


@pytest.mark.parametrize("width", [1440, 390])
def test_without_scripts_a_document_is_text_with_code_formulas_and_links(chromium: Browser, base: str, book: Path, width: int):
    context = chromium.new_context(java_script_enabled=False, viewport={"width": width, "height": 844})
    page = context.new_page()
    page.goto(f"{base}bitonic-sort.html")
    for heading in ("Bitonic sort", "Padding", "Other sorts"):
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    expect(page.get_by_text("partner = place ⊕ j")).to_be_visible()
    expect(page.locator("pre", has_text="SortedShortList bitonicSort(").first).to_be_visible()
    expect(page.get_by_text("In how many pairs of the first pass do the keys change places?")).to_be_visible()
    expect(page.get_by_text("Does not hold.").first).to_be_visible()
    expect(page.locator("noscript p")).to_be_visible()
    assert page.locator("#search-open").is_hidden()
    page.locator("#nav").get_by_role("link", name="Workgroups").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Workgroups")
    assert page.url == f"{base}workgroups.html"
    page.goto(f"{base}claims.html")
    expect(page.locator("blockquote").first).to_be_visible()
    context.close()


def test_a_document_says_what_it_is_to_other_sites(book: Path):
    text = (book / "bitonic-sort.html").read_text(encoding="utf-8")
    assert '<meta name="description" content="32 threads sort one list without asking each other">' in text
    assert '<link rel="canonical" href="bitonic-sort.html">' in text
    picture = re.search(r'<meta property="og:image" content="([^"]+)">', text)
    assert picture
    assert (book / picture[1]).is_file()
    for file in book.glob("*.html"):
        html = file.read_text(encoding="utf-8")
        assert not re.search(r'href="\?page=', html)
        assert len(re.findall(r"<div\b", html)) == html.count("</div>"), file.name
        targets = re.findall(r'href="([\w-]+\.html)', html)
        assert targets
        assert [name for name in targets if not (book / name).is_file()] == []


def test_the_policy_of_a_document_allows_nothing_from_elsewhere(book: Path):
    policies = {re.search(r'Policy" content="([^"]+)"', file.read_text(encoding="utf-8"))[1] for file in book.rglob("*.html")}
    assert len(policies) == 1  # also of what is embedded
    assert policies.pop().startswith("default-src &#39;none&#39;;")
