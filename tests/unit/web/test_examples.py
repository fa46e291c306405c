"""Which sources need no sandbox."""

from splatscope.web.examples.gallery import EXAMPLES, is_shipped


def test_examples_are_shipped_and_an_edit_is_not():
    assert all(is_shipped(example.source) for example in EXAMPLES)
    assert not is_shipped(EXAMPLES[0].source + " ")
