"""A figure's legend says where the figure opens to screen readers only."""

import re

import pytest

from helpers.book import BOOK
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
