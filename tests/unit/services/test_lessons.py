"""The parts of the lessons' service that need no worker."""

import pytest

from splatscope.services.lessons import LessonRequest, dependencies
from splatscope.textbook.contents import find_lesson, lesson_names, text_of
from splatscope.textbook.markdown import parse


def test_a_method_depends_on_what_it_names_and_on_nothing_else():
    lesson = find_lesson("bitonic-sort")()
    assert dependencies(lesson, "merge") == {"eight"}
    assert dependencies(lesson, "without_barrier") == {"count", "order", "seed", "runs", "eight"}
    assert dependencies(lesson, "cost") == set()


@pytest.mark.parametrize("name", lesson_names())
def test_a_method_asks_for_parameters_of_its_lesson(name: str):
    lesson = find_lesson(name)()
    methods = [block.args[0] for block in parse(text_of(name)) if block.kind in ("claim", "show")]
    assert methods
    for method in methods:
        request = LessonRequest.of(lesson, dependencies(lesson, method))
        assert type(request.lesson()) is type(lesson)
        assert "name" not in dict(request.values)


def test_a_request_is_known_by_its_parameters_and_by_what_is_asked():
    lesson = find_lesson("undo")
    assert LessonRequest.of(lesson()).key("a") == LessonRequest.of(lesson()).key("a")
    assert LessonRequest.of(lesson()).key("a") != LessonRequest.of(lesson()).key("b")
    assert LessonRequest.of(lesson()).key("a") != LessonRequest.of(lesson(count=3)).key("a")
