"""Unrolled loops are recorded as loops, where that changes nothing."""

import pytest

from splatscope.slang.loops import roll

LOOP = """
void f(uint n, float w, uint2 at)
{{
    float v[4]; uint u[4];
    [ForceUnroll]
    for (uint i = 0; i < 4; i++)
        {}
}}
"""


@pytest.mark.parametrize(
    ("body", "rolls"),
    [
        ("v[i] = load(i, n);", True),
        ("{ v[i] = load(i + 4 * n, at); }", True),
        ("u[i] = n;", True),
        ("v[i] = load(i, w);", False),  # the shares of w's gradient would be added up in another order
        ("v[i] = cos(i);", False),  # the compiler evaluates it
        ("v[i] = n * cos(float(i));", False),
        ("v[i] = load(at.x);", False),
        ("v[n] = load(i, n);", False),
        ("{ v[i] = load(i, n); u[i] = n; }", False),
        ("v[i] += load(i, n);", False),
        ("v[i] = load(i, unknown);", False),
    ],
)
def test_a_loop_is_rolled_only_where_no_result_can_tell(body, rolls):
    text = roll(LOOP.format(body))
    assert ("[loop] [MaxIters(4)]" in text) == rolls == ("[ForceUnroll]" not in text)
    assert text.count("\n") == LOOP.format(body).count("\n")
