"""Inputs that links in texts and walks name: each can be recorded, and told stop by stop."""

import pytest

from splatscope.textbook.contents import lesson_names
from splatscope.web.publish.linked import linked_inputs

LINKED = [(name, inputs) for name in lesson_names() for inputs in linked_inputs(name)]


@pytest.mark.parametrize(("name", "inputs"), LINKED, ids=lambda value: value if isinstance(value, str) else "-".join(value))
def test_the_inputs_that_a_link_names_are_recorded_and_told(record_lesson, name, inputs):
    lesson, query = record_lesson(name, **inputs)
    assert 0 < lesson.opening(query) <= len(query)
    assert len(lesson.sentences(query)) in (0, len(lesson.stops(query)))
