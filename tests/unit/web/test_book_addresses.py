"""The addresses of a published book, and the pictures of its pages."""

import io

from PIL import Image

from splatscope.web.publish.addresses import document_of, in_book
from splatscope.web.publish.cards import SIZE, card
from splatscope.web.shell.page import before_scripts
from splatscope.web.shell.pages import BY_NAME, PAGES


def test_links_lead_to_documents_with_their_inputs_and_place():
    html = (
        '<a href="?page=cas">a</a><a class="term" href="?page=glossary#term-wave">b</a><a href="?page=cas&amp;step=3&amp;n=4">c</a>'
    )
    expected = '<a href="cas.html">a</a><a class="term" href="glossary.html#term-wave">b</a><a href="cas.html?step=3&amp;n=4">c</a>'
    assert in_book(html) == expected
    assert in_book("?page=bitonic-sort&runs=a+b#x") == "bitonic-sort.html?runs=a+b#x"
    assert in_book('<a href="?page=home">') == '<a href="index.html">'


def test_what_is_no_link_to_a_page_stays():
    for text in ("", "a ?page=cas in a sentence", '<a href="?walk=day">', '<a href="https://example.org/?page=cas">', "page=cas"):
        assert in_book(text) == text


def test_each_page_has_a_document_of_its_own():
    assert len({document_of(entry.name) for entry in PAGES}) == len(PAGES)
    assert document_of("home") == "index.html"


def test_a_page_has_its_own_picture_and_the_longest_title_fits():
    pictures = {entry.name: card(entry) for entry in (BY_NAME["gaussian"], BY_NAME["binned"], BY_NAME["home"])}
    assert len({*pictures.values()}) == 3
    for content in (*pictures.values(), card(max(PAGES, key=lambda entry: len(entry.title)))):
        with Image.open(io.BytesIO(content)) as picture:
            assert (picture.format, picture.size) == ("JPEG", SIZE)
        assert len(content) < 120_000


def test_text_before_the_scripts_is_not_taken_for_the_drawn_page():
    assert before_scripts('<p data-page="a" data-testid="b" data-language="c">') == (
        '<p data-first-page="a" data-first-testid="b" data-language="c">'
    )
