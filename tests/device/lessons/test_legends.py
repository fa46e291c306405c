"""What a legend explains is in its figure, whatever the controls have made of it."""

import pytest

from splatscope.textbook.contents import text_of
from splatscope.textbook.markdown import parse


@pytest.mark.parametrize(
    ("stem", "values", "gone"),
    [
        ("cas", {"compare": False}, "refused"),
        ("bitonic-sort", {"count": 64}, "arrow"),
        ("bitonic-sort", {"barrier": False}, "two halves are in order"),
        ("reduction", {"barrier": False}, "Each step is one round."),
    ],
)
def test_a_legend_leaves_out_what_its_figure_does_not_have(record_lesson, stem, values, gone):
    (usual,) = (block.text for block in parse(text_of(stem)) if block.kind == "figure")
    lesson, query = record_lesson(stem, **values)
    assert gone in usual
    assert gone not in lesson.legend(query) != ""
    lesson, query = record_lesson(stem)
    assert lesson.legend(query) == ""
