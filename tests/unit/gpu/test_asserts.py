"""What is left of an assert for a compiler that has none."""

import pytest

from splatscope.gpu.asserts import without_asserts


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("assert(a < b);", "      (a < b);"),
        ('assert(f(a, b) < c[1, 2], "why, (really)");', '      (f(a, b) < c[1, 2]                 );'),
        ("if (x) assert (y); else assert(z);", "if (x)        (y); else       (z);"),
        ("// assert(a)\n/* assert(b) */ \"assert(c)\" assert(d);", "// assert(a)\n/* assert(b) */ \"assert(c)\"       (d);"),
        ("static_assert(N > 1); my.assert(2); assert_all(3);", "static_assert(N > 1); my.assert(2); assert_all(3);"),
        ("#define assert(c)\nassert(a);", "#define assert(c)\nassert(a);"),
        ("void assert(bool c) { }\nvoid f() { assert(a); }", "void assert(bool c) { }\nvoid f() { assert(a); }"),
        ('assert(a,\n  "b");', "      (a \n     );"),
        ("assert(a", "      (a"),
    ],
)  # fmt: skip
def test_the_condition_stays_where_it_is(source, left):
    assert without_asserts(source) == left
    assert len(left) == len(source)
