"""A pixel of a trained picture in a section's address."""

from operator import attrgetter
from urllib.parse import parse_qsl

import pytest

from splatscope.services.lessons import LessonRequest
from splatscope.textbook.contents import find_lesson, lesson_names, sections
from splatscope.textbook.input_grid import input_grid
from splatscope.web.lesson_page.inputs import Inputs
from splatscope.web.lesson_page.lesson_form import address_of, applying, parameters, set_from_address
from splatscope.web.lesson_page.section_view import changed
from splatscope.web.lesson_page.your_pixel import your_pixel

PIXEL = {"picture": "chelsea", "pixel": "145,95"}


@pytest.mark.parametrize("stem", lesson_names())
def test_every_section_keeps_the_pixel_in_its_address(stem):
    inputs = Inputs.of(stem, PIXEL)
    assert inputs.query == PIXEL
    assert inputs.follows
    assert Inputs.of(stem, inputs.address) == inputs


@pytest.mark.parametrize("stem", [stem for stem in lesson_names() if find_lesson(stem).from_pixel is None])
def test_a_section_that_cannot_show_the_pixel_keeps_its_own_inputs(stem):
    lesson = find_lesson(stem)()
    set_from_address(lesson, PIXEL)
    assert applying(lesson) == parameters(lesson)
    assert your_pixel(lesson).picture == "chelsea", "the strip shows the pixel, and its script has the tab remember it"
    for inputs in input_grid(find_lesson(stem)):
        own = dict(parse_qsl(address_of(find_lesson(stem)(**inputs))))
        expected = own if "pixel" in own else PIXEL | own
        assert Inputs.of(stem, PIXEL | own).query == expected


@pytest.mark.parametrize(
    "query",
    [
        {"picture": "chelsea"},
        {"picture": "chelsea", "pixel": "1"},
        {"picture": "chelsea", "pixel": "-1,2"},
        {"picture": "chelsea", "pixel": "1,99999"},
        {"picture": "../chelsea", "pixel": "1,2"},
        {"picture": "", "pixel": "1,2"},
    ],
)
def test_what_names_no_pixel_is_left_out(query):
    assert not Inputs.of("undo", query).follows


def test_a_pixel_keeps_the_controls_that_still_apply_and_no_others():
    inputs = Inputs.of("final-count", PIXEL | {"guarded": "false", "count": "3"})
    assert inputs.query == PIXEL | {"guarded": "false"}


def test_a_pixel_of_the_sections_own_picture_is_another_one():
    assert Inputs.of("blending", {"pixel": "[3,4]"}).query == {"pixel": "[3,4]"}
    assert Inputs.of("blending", PIXEL).query == PIXEL


def test_a_section_with_a_pixel_of_its_own_leaves_the_followed_one_once_another_is_chosen():
    assert changed("scenes", PIXEL, {"set": {"pixel": [3, 4]}})[0] == {"pixel": "[3,4]"}
    assert changed("scenes", PIXEL, {"set": {"turn": 20}})[0] == PIXEL | {"turn": "20"}


def test_a_drawing_chooses_another_pixel():
    query, notes = changed("coarse-raster", PIXEL, {"set": {"at": [138, 113]}})
    assert query == PIXEL | {"pixel": "138,113"}
    assert not any(notes.values())


@pytest.mark.parametrize("stem", ["workgroups", "undo"])
def test_only_a_section_that_can_show_the_pixel_is_recorded_with_it(stem):
    kind = find_lesson(stem)
    with_pixel, without = (LessonRequest.of(kind(**values)) for values in ({"picture": "chelsea", "at": [145, 95]}, {}))
    assert (with_pixel == without) == (kind.from_pixel is None)
    assert any("picture" in inputs for inputs in input_grid(kind)) == (kind.from_pixel is not None)


@pytest.mark.parametrize("section", sections(), ids=attrgetter("name"))
def test_every_section_says_what_it_does_to_the_pixel(section):
    assert section.pixel.endswith(".")
    assert len(section.pixel) <= 130
