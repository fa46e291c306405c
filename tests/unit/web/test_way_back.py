"""Where a section is on the way back: beside its aim, the sections from the loss to the Gaussians."""

import re

from splatscope.textbook.contents import sections
from splatscope.web.lesson_page.way_back import way_back_html


def test_a_section_is_marked_among_the_others_in_their_order():
    html = way_back_html("final-count")
    titles = re.findall(r">([^<>→]+)</(?:a|strong)>", html)
    assert titles == ["Autodiff", "Undo", "Final count", "Caching", "Reduction", "Compare and swap", "Adam"]
    assert re.findall(r'aria-current="page">([^<]+)<', html) == ["Final count"]


def test_the_way_back_is_in_the_order_of_the_book():
    titles = re.findall(r">([^<>→]+)</(?:a|strong)>", way_back_html("adam"))
    assert [section.title for section in sections() if section.title in titles] == titles


def test_a_section_of_the_way_there_says_nothing_of_it():
    assert way_back_html("blending") == ""
