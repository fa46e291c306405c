"""The inputs with which a section is published."""

from typing import ClassVar

import param
import pytest

from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.textbook.input_grid import input_grid
from splatscope.textbook.lesson import Lesson


class Example(Lesson):
    """A lesson with one parameter of each kind."""

    grid: ClassVar = {"scale": (1.5, 2.0, 2.0)}
    count = param.Integer(default=3, bounds=(1, 9))
    scale = param.Number(default=2.0, bounds=(0, 4))
    barrier = param.Boolean(default=True)
    order = param.Selector(default="a", objects=["a", "b", "c"])
    words = param.String(default="as they are")


def test_the_first_inputs_are_the_defaults_and_none_come_twice():
    found = input_grid(Example)
    assert found[0] == {}
    assert all(one not in found[:number] for number, one in enumerate(found))


def test_switches_and_menus_are_combined_and_numbers_vary_with_each_switch():
    found = input_grid(Example)
    for order in ("a", "b", "c"):
        for barrier in (True, False):
            named = {"order": order, "barrier": barrier}
            assert {name: value for name, value in named.items() if value != Example.param[name].default} in found
    assert [one["count"] for one in found if "count" in one and "barrier" not in one] == [1, 5, 7, 9]
    assert [one["scale"] for one in found if "scale" in one] == [1.5, 1.5]
    assert {"count": 9, "barrier": False} in found
    assert not any("words" in one for one in found)


@pytest.mark.parametrize("name", lesson_names())
def test_every_section_has_inputs_that_it_takes(name):
    lesson = find_lesson(name)
    found = input_grid(lesson)
    assert 1 < len(found) < 120
    for inputs in found:
        assert {key: getattr(lesson(**inputs), key) for key in inputs} == inputs


def test_the_inputs_come_in_the_order_of_the_parameters():
    names = [next(iter(one)) for one in input_grid(Example) if len(one) == 1 and not one.keys() & {"barrier", "order"}]
    assert list(dict.fromkeys(names)) == ["count", "scale"]
