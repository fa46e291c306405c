"""Lines continued by a backslash are joined for the compiler, and all other lines keep their numbers."""

import pytest

from splatscope.gpu.kernel import joined


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a\nb\n", "a\nb\n"),
        ("#define A \\\n  1\nint x;\n", "#define A   1\n\nint x;\n"),
        ("#define A \\\r\n  1 \\\r\n +2\r\nx", "#define A   1  +2\r\n\n\nx"),
        ("x\\\n", "x\n"),
        ("no newline \\", "no newline \\"),
        ("a\\ b\nc", "a\\ b\nc"),
    ],
)
def test_joined(source, expected):
    assert joined(source) == expected
    assert joined(source).count("\n") == source.count("\n")
