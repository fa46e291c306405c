"""Inputs that links in texts and walks name: each can be recorded, and told stop by stop."""

import re

import pytest

from splatscope.textbook.contents import lesson_names
from splatscope.web.publish.linked import linked_inputs

LINKED = [(name, inputs) for name in lesson_names() for inputs in linked_inputs(name)]
# What the text promises of a link, in the sentence at which the figure then opens.
PROMISED = {
    ("training-loop", "without", "clear"): r"^Iteration 6, render: .* before\.$",
    ("training-loop", "without", "update"): r"^Iteration 6, render: .* before\.$",
    ("training-loop", "without", "derivatives"): r"^Iteration 6, render: .* before\.$",
    ("coarse-raster", "count", 128): r"\d+ found, the list has room for 16",
    ("binned", "size", 8): "of Gaussian 7|^Thread 7 put",
    ("fine-raster", "opacity", 0.1): "^Gaussian 11: .* Opaque now: 0 of 32",
    ("autodiff", "nudge", 1): r"^Tried out with p ± 1:",
    ("background", "T", 0): "^At the centre the sample's formula",
    ("background", "T", 0.9): "^At the centre the sample's formula",
    ("caching", "opacity", 1): "^There: .* left out",
    ("cas", "cells", 8): "^Thread .* Numbers in the sum: 32 of 32",
    ("cas", "cells", 32): "Attempts refused: 0",
    ("premultiply", "a", 1): "^Both sums agree",
    ("termination", "count", 15): "never became opaque",
    ("undo", "clamped", False): "is lost",
}


@pytest.mark.parametrize(("promise", "said"), PROMISED.items(), ids=lambda value: "-".join(map(str, value[:2])))
def test_where_a_linked_figure_opens_its_promise_is_seen(record_lesson, promise, said):
    name, parameter, value = promise
    inputs = next(inputs for linked, inputs in LINKED if linked == name and inputs.get(parameter) == value)
    lesson, query = record_lesson(name, **inputs)
    assert re.search(said, lesson.sentences(query)[lesson.stops(query).index(lesson.opening(query))])


@pytest.mark.parametrize(("name", "inputs"), LINKED, ids=lambda value: value if isinstance(value, str) else "-".join(value))
def test_the_inputs_that_a_link_names_are_recorded_and_told(record_lesson, name, inputs):
    lesson, query = record_lesson(name, **inputs)
    assert 0 < lesson.opening(query) <= len(query)
    assert len(lesson.sentences(query)) in (0, len(lesson.stops(query)))
