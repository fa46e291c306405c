"""The index of the search: what it has of each page, and that it is read from what the pages show."""

import re
from collections import Counter

import pytest

from helpers.book import BOOK
from splatscope.exercises.task import tasks
from splatscope.textbook.contents import text_of
from splatscope.textbook.lesson import kernels_of
from splatscope.textbook.markdown import parse
from splatscope.textbook.terms import terms
from splatscope.web.drawing.drawing import Formula
from splatscope.web.lesson_page.lesson_page import LessonPage
from splatscope.web.lesson_results.results import Claim, Quiz, Show
from splatscope.web.runtime.tree import described
from splatscope.web.search.index import SearchEntry, search_index
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import Page
from splatscope.web.shell.pages import BY_NAME
from splatscope.web.shell.reading import reading


@pytest.fixture(scope="module")
def entries() -> list[SearchEntry]:
    """All entries of the whole book."""
    return search_index(BY_NAME)


def plain(html: str) -> str:
    """Return HTML's text, as browsers compare it."""
    return " ".join(html.split())


def test_each_page_term_and_task_is_found(entries: list[SearchEntry]):
    titles = Counter(entry.kind for entry in entries)
    assert {entry.page for entry in entries if entry.kind in ("section", "tool")} == {*BY_NAME}
    assert titles["term"] == len(terms())
    assert titles["exercise"] == len(tasks())
    assert {entry.place for entry in entries if entry.kind == "term"} == {f"#{term.anchor}" for term in terms()}


@pytest.mark.parametrize("stem", BOOK)
def test_a_section_has_its_headings_questions_claims_and_kernels(entries: list[SearchEntry], stem: str):
    own = [entry for entry in entries if entry.page == stem]
    for block in parse(text_of(stem)):
        if block.kind == "words":
            headings = [line.lstrip("# ") for line in block.text.splitlines() if line.startswith("## ")]
            assert {*headings} <= {entry.words for entry in own if entry.kind == "heading"}
    claims = sum(block.kind == "claim" for block in parse(text_of(stem)))
    assert sum(entry.kind == "claim" for entry in own) == claims
    lines = {" ".join(line.split()) for kernel in kernels_of(stem).values() for line in kernel.splitlines()}
    assert {line for line in lines if len(line) > 3} <= {entry.words for entry in own if entry.kind == "code"}


def test_a_text_is_under_its_heading_and_each_entry_has_words(entries: list[SearchEntry]):
    padding = next(entry for entry in entries if entry.words.startswith("The network needs a number of keys"))
    assert (padding.page, padding.title, padding.kind) == ("bitonic-sort", "Padding", "text")
    assert all(entry.words and entry.words == plain(entry.words) for entry in entries)
    assert all("<" not in entry.words for entry in entries if entry.kind == "heading")


def test_pages_that_a_book_lacks_are_not_found():
    few = search_index(["home", "glossary", "cas"])
    assert {entry.page for entry in few} == {"home", "glossary", "cas"}
    assert not [entry for entry in few if entry.kind == "exercise"]


def test_what_is_hidden_is_not_found(entries: list[SearchEntry]):
    """A section has the definitions of its linked terms for screen readers, and a folded list of names."""
    psnr = next(term for term in terms() if term.name == "PSNR")
    assert [entry.page for entry in entries if psnr.definition[:40] in entry.words] == ["glossary"]


def test_a_page_as_text_has_the_words_of_all_its_components():
    page = Page(
        page="cas",
        html="""<h1>A</h1><div data-slot="0"></div><p>B</p><div class="at" data-slot="1"><div><div>still</div></div> more</div>
          <div data-slot="2"></div>""",
        slots=[
            Quiz(question="How <em>many</em>?"),
            Claim(claim="“It holds.”", source="somebody", verdict={"holds": False, "ran": "", "said": "It does not.", "offer": ""}),
            Show(caption="A chart."),
            Formula(text="= {sum = x*} = {a:4} + {β}"),
        ],
    )
    text = reading(described(page))
    parts = ("<h1>A</h1>", "How <em>many</em>?", "<p>B</p>", "“It holds.”", "From: somebody", "<b>Does not hold.</b> It does not.")
    assert all(part in text for part in (*parts, "A chart."))
    assert text.endswith('<p class="formula">sum = a + β</p>')  # it has no slot
    assert "data-slot" not in text
    assert "still" not in text
    assert "more" not in text
    assert text.count("<div") == text.count("</div>")


def test_a_formula_is_read_with_the_names_of_its_fields():
    page = LessonPage("bitonic-sort", {}).page
    assert '<p class="formula">partner = place ⊕ j</p>' in reading(described(page))


@pytest.mark.parametrize("name", [*BOOK, "glossary"])
def test_the_text_of_a_page_is_well_formed(name: str):
    """A document would otherwise end its content too early."""
    entry = BY_NAME[name]
    page = LessonPage(name, {}).page if entry.is_section else entry.load()(Location(page=name, live=False))
    text = reading(described(page))
    page.close()
    for element in ("div", "p", "section", "article", "details", "ul", "figure", "blockquote"):
        assert len(re.findall(rf"<{element}\b", text)) == text.count(f"</{element}>"), element
