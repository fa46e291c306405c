"""Comments of great length: the server itself reads those of a page, and must not hang over one."""

import pytest

from splatscope.tracing.comments import dispatches

LONG = 60_000  # a source may have 65,536 bytes


@pytest.mark.timeout(60)  # in quadratic time, the first takes minutes
@pytest.mark.parametrize(
    "line", ["/" * LONG, "/" + "*" * LONG, "/*" * (LONG // 2), "// abcdef" + " " * LONG + "y", "// abcdef " + "x" * LONG]
)
def test_a_comment_of_great_length_is_read_and_says_nothing(line):
    assert dispatches(line * 3 + "\n") == []
