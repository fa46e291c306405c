"""Which sources need no sandbox."""

from splatscope.web.examples.gallery import EXAMPLES, difference, is_shipped


def test_examples_are_shipped_and_an_edit_is_not():
    assert all(is_shipped(example.source) for example in EXAMPLES)
    assert not is_shipped(EXAMPLES[0].source + " ")


def test_only_lines_that_lie_close_together_are_compared():
    """Comparing lines takes more than linear time, so a long source from a stranger must not be compared."""
    blank = ["uint a;"] * 50_000
    before, after = ("\n".join([*blank, name, *blank]) for name in "xy")
    assert difference(before, after) == [("-", 50_001, "x"), ("+", 50_001, "y")]
    assert difference("\n".join(["x", *blank, "x"]), "\n".join(["y", *blank, "y"])) == []
