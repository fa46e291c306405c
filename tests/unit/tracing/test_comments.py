"""What the comments of a source ask for."""

from splatscope.tracing.comments import allowances, dispatches


def test_allow_may_be_the_first_option_of_a_dispatch():
    text = "// splatscope: allow=benign-race groups=4"
    assert dispatches(text) == [({"allow": ["benign-race"], "groups": ["4"]}, 1)]
    assert allowances(text) == []
