"""A figure's legend shows the marks that it explains, and says where the figure opens to screen readers only."""

import re

import pytest

from helpers.book import BOOK
from splatscope.paths import PACKAGE
from splatscope.textbook.contents import text_of
from splatscope.textbook.markdown import parse
from splatscope.web.lesson_page.lesson_page import legend


@pytest.mark.parametrize("stem", BOOK)
def test_it_is_one_whole_sentence(stem):
    text = next(block.text for block in parse(text_of(stem)) if block.kind == "figure")
    html = legend(text)
    hidden = re.findall(r'<span class="sr">(.*?)</span>', html)
    assert len(hidden) == 1
    assert hidden[0].startswith("The figure opens ")
    assert hidden[0].count(".") == 1
    assert hidden[0].count("<") == 2 * hidden[0].count("</"), "no tag is cut"
    seen = re.sub(r'<span class="sr">.*?</span>', "", html)
    assert seen.strip()
    assert "figure opens" not in seen


@pytest.mark.parametrize("stem", BOOK)
def test_its_marks_are_drawn_and_no_colour_is_named_that_a_theme_may_change(stem):
    text = next(block.text for block in parse(text_of(stem)) if block.kind == "figure")
    html = legend(text)
    drawn = set(re.findall(r"\.mark-([a-z]+)\b", (PACKAGE / "web" / "theme" / "marks.css").read_text()))
    assert set(re.findall(r'<i class="mark mark-([a-z]+)"', html)) <= drawn
    assert not re.search(r":[a-z]+:", html)
    assert not re.search(r"\b(Pale|Purple)\b", html)


def test_lines_with_a_hyphen_are_the_items_of_a_key():
    html = legend("Each step is one round. The figure opens at the end.\n\n- **?** a sum still to come\n- **Framed** cut")
    assert html == (
        '<div class="rest">Each step is one round. <span class="sr">The figure opens at the end.</span></div>'
        '<ul class="keys" role="list"><li><strong>?</strong> a sum still to come</li><li><strong>Framed</strong> cut</li></ul>'
    )


@pytest.mark.parametrize("stem", BOOK)
def test_each_mark_is_an_item_of_the_key(stem):
    text = next(block.text for block in parse(text_of(stem)) if block.kind == "figure")
    words, *items = text.split("\n- ")
    assert not re.search(r":[a-z]+:", words), "a mark within a sentence is not found again"
    assert all(re.match(r":[a-z]+: \S|\*\*[^*]+\*\* \S", item) for item in items)


def test_a_mark_stays_with_its_word():
    mark = '<i class="mark mark-wait" role="img" aria-label="ring:"></i>'
    assert legend("a thread :wait: waits here") == f'<div class="rest">a thread <span class="marked">{mark} waits</span> here</div>'
