"""Which branches may depend on what an atomic returned: too many rather than too few."""

import pytest

from splatscope.slang.source import Source
from splatscope.tracing.checks.analysis.data_dependence import MOST_TEXT, Dependence
from splatscope.tracing.sites import Site

HEAD = """RWStructuredBuffer<uint> finished; RWStructuredBuffer<uint> sums; groupshared uint shared[32]; uniform uint groups;
#define IS_LAST (before + 1 == groups)
uint count(uint by) { uint seen; InterlockedAdd(finished[0], by, seen); return seen; }
uint twice(uint x, uint y) { uint half = x; return half + half; }
void keep(uint at, uint x) { shared[at] = x; }
void put(RWStructuredBuffer<uint> into, uint x) { into[0] = x; }
struct Box { uint seen; [mutating] void take(uint x) { seen = x; } };
void counted(out uint seen) { InterlockedAdd(finished[0], 1, seen); }
[shader("compute")] [numthreads(32, 1, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID)
{
    uint before = 0; uint other = group.x;
    // before
"""


def asks(take: str, ask: str, between: str = "") -> bool:
    """Return whether the branch `ask` may depend on the atomic in `take`."""
    text = f"{HEAD}{take}\n{between}\n{ask} sums[0] = 1;\n}}\n"
    lines = text.split("\n")

    def site(kind: str, word: str, line: int) -> Site:
        return Site("k.slang", line + 1, max(0, lines[line].find(word)) + 1, kind)

    first = HEAD.count("\n")
    if "Interlocked" in take or ".add(" in take:
        atomic = site("atomic", "finished", first)
    else:
        atomic = site("atomic", "finished", 2 if "count(" in take else 7)
    return Dependence({"k.slang": Source(text)}).may_depend(site("branch", ask[4:-1], lines.index(f"{ask} sums[0] = 1;")), atomic)


ADD = "InterlockedAdd(finished[0], 1, before);"


@pytest.mark.parametrize(
    ("take", "ask", "between"),
    [
        (ADD, "if (before == groups - 1)", ""),
        ("before = finished[0].add(1);", "if (before == groups - 1)", ""),
        (ADD, "if (last)", "bool last = before + 1 == groups;"),
        (ADD, "if (last)", "uint rest = groups - before; rest -= 1; bool last = rest == 0;"),
        (ADD, "if (shared[0] == 3)", "shared[lane] = before;"),
        (ADD, "if (IS_LAST)", ""),
        (ADD, "if (finished[0] == groups)", ""),
        ("before = count(1);", "if (before == 3)", ""),
        ("before = count(1);", "if (count(0) == 3)", ""),
        ("counted(before);", "if (before == 3)", ""),
        (ADD, "if (wide.y > 2)", "uint2 wide = 0; wide.y = before;"),
        (ADD, "if (other > 2)", "other++; other = max(other, before);"),
        (ADD, "if (other > 2)", "other = twice(before, 3);"),
        (ADD, "if (twice(other, before) > 2)", ""),
        (ADD, "if (shared[1] > 2)", "keep(lane, twice(before, 1));"),
        (ADD, "if (sums[1] > 2)", "put(sums, before);"),
        (ADD, "if (box.seen > 2)", "Box box; box.take(before);"),
        (ADD, "if (other > 2)", "float a, b; sincos(before, a, b); other = uint(a);"),
        (ADD, "if (other > 2)", "let f = (uint x) => x + before; other = f(group.x);"),
    ],
)
def test_a_branch_that_depends_is_known(take, ask, between):
    assert asks(take, ask, between)


@pytest.mark.parametrize(
    ("ask", "between"),
    [
        ("if (group.x == groups - 1)", ""),
        ("if (lane > 0)", "sums[group.x] = other;"),
        ("if (other == 3)", "other = group.x + 1;"),
        ("if (group.x == groups - 1)", "if (before == 3) shared[2] = 0;"),
        ("if (other > 2)", "keep(other, before);"),
        ("if (other > 2)", "shared[lane] = twice(other, before);"),
        ("if (other > 2)", "shared[lane] = countbits(other) + firstbitlow(before);"),
        ("if (lane > 2)", "put(sums, lane + before);"),
    ],
)
def test_a_branch_on_another_number_does_not(ask, between):
    assert not asks(ADD, ask, between)


def test_the_condition_with_the_atomic_in_it_depends():
    text = HEAD + "    if (finished[0].add(1) == 3) sums[0] = 1;\n}\n"
    at = Site("k.slang", HEAD.count("\n") + 1, 5, "branch")
    assert Dependence({"k.slang": Source(text)}).may_depend(at, Site("k.slang", at.line, 9, "atomic"))


@pytest.mark.parametrize("text", ["", "x" * (MOST_TEXT + 1)])
def test_what_is_not_known_may_depend(text):
    site = Site("k.slang", 3, 1, "branch")
    assert Dependence({"k.slang": Source(text)}).may_depend(site, site)
    assert Dependence({}).may_depend(site, site)
