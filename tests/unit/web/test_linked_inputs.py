"""What a published book has to record because links lead there."""

from splatscope.textbook.contents import lesson_names
from splatscope.web.publish.linked import linked_inputs


def test_links_of_all_texts_and_the_stops_of_walks_name_inputs():
    assert {"barrier": False} in linked_inputs("bitonic-sort")  # a stop of the walk
    assert {"count": 13} in linked_inputs("bitonic-sort")  # a link in a text
    assert {"count": 128, "spread": 2} in linked_inputs("coarse-raster")


def test_what_is_at_its_default_is_not_named():
    assert {} not in [inputs for name in lesson_names() for inputs in linked_inputs(name)]
