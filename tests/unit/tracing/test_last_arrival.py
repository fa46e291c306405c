"""Whether the last workgroup's plain store to a counter is ordered after all atomics, in a run in which no other group stores."""

import numpy as np
import pytest

from helpers.traces import run_info
from splatscope.tracing.checks import races_between_groups
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

SOURCE = """RWStructuredBuffer<uint> counter; uniform uint groups; static const uint GROUPS = 3;
groupshared uint before; groupshared bool last;
HELPERS
void main(uint3 group : SV_GroupID, uint lane : SV_GroupIndex)
{
    uint arrived = 0;
    InterlockedAdd(counter[0], 1, arrived);
    REST
}
"""
STORE = "counter[0] = 0;"


def run(rest: str, helpers: str = "", results: tuple[int, ...] = (0, 1, 2), add: str = "1") -> Trace:
    """Return a trace of three workgroups of one thread, of which the last alone stores, after all have arrived."""
    source = SOURCE.replace("HELPERS", helpers).replace("REST", rest).replace("[0], 1", f"[0], {add}")

    def place(text: str) -> tuple[int, int]:
        offset = source.index(text)
        return source.count("\n", 0, offset) + 1, offset - source.rfind("\n", 0, offset)

    sites = [
        Site("k.slang", *place("InterlockedAdd"), "atomic", "counter", "main", "uint", "", "device", (), True, "InterlockedAdd"),
        Site("k.slang", *(place("if (") if "if (" in source else place(STORE)), "branch", "", "main", "bool"),
        Site("k.slang", *place(STORE), "write", "counter", "main", "uint", "", "device"),
    ]
    events = [(0, 0, 0, results[0]), (0, 1, 0xFFFFFFFF, 0), (1, 0, 1, results[1]), (1, 1, 0xFFFFFFFF, 0)]
    events += [(2, 0, 2, results[2]), (2, 1, 0xFFFFFFFF, 1), (2, 2, 3, 0)]
    thread, site, slot, value = (np.array(column, np.uint32) for column in zip(*events, strict=True))
    words = np.c_[value, np.zeros((len(events), 2), np.uint32)]
    zeros = np.zeros(len(events), np.uint32)
    info = run_info(source, group_size=(1, 1, 1), groups=(3, 1, 1), threads=3, all_groups=True)
    return Trace(info, sites, thread, site, slot, zeros, words, zeros)


@pytest.mark.parametrize(
    ("rest", "helpers"),
    [
        (f"if (arrived == GROUPS - 1) {STORE}", ""),
        (f"if (2 == arrived) {{ if (lane == 0) {{ {STORE} }} }}", ""),
        (f"if (arrived != groups - 1) return; {STORE}", ""),
        (f"if (lane > 0 || arrived != 2) {{ return; }} {STORE}", ""),
        (f"if (lane == 0 && arrived == 2) {STORE}", ""),
        (f"if (!(arrived == 2)) arrived = 0; else {{ {STORE} }}".replace("arrived = 0", "lane = 0"), ""),
        (f"before = arrived; if (before == GROUPS - 1) {STORE}", ""),
        (f"last = arrived == GROUPS - 1; if (!last) return; {STORE}", ""),
        (f"before = arrived; if (isNotLast()) return; {STORE}", "bool isNotLast() { return before != GROUPS - 1; }"),
        ("if (arrived == 2) reset();", f"void reset() {{ {STORE} }}"),
        (f"uint all = groups - 1; if (arrived == all) {STORE}", ""),
    ],
)
def test_one_who_sees_the_highest_count_stores_after_all(rest, helpers):
    assert races_between_groups(run(rest, helpers)) == []


@pytest.mark.parametrize(
    ("rest", "helpers"),
    [
        (STORE, ""),
        (f"if (group.x == 2) {STORE}", ""),
        (f"if (arrived >= 1) {STORE}", ""),
        (f"if (arrived == group.x) {STORE}", ""),
        (f"uint mine = group.x; if (arrived == mine) {STORE}", ""),
        (f"if (arrived == 2 || group.x == 2) {STORE}", ""),
        (f"if (arrived == 2) lane = 1; if (group.x == 2) {STORE}", ""),
        (f"if (arrived == 2) lane = 1; else return; if (group.x == 2) {STORE}".replace("return", "lane = 2"), ""),
        (f"arrived = group.x; if (arrived == 2) {STORE}", ""),
        (f"arrived += group.x; if (arrived == 4) {STORE}", ""),
        (f"if (arrived == 2 && lane > 0) return; {STORE}", ""),
        (f"last = arrived == 2; last = group.x == 2; if (last) {STORE}", ""),
        (f"before = arrived; if (isLast(before)) {STORE}", "bool isLast(uint n) { return n == 2; }"),
        ("if (arrived == 2) reset(); if (group.x == 2) reset();", f"void reset() {{ {STORE} }}"),
        (f"change(arrived); if (arrived == 2) {STORE}", "void change(inout uint n) { n = 2; }"),
        (f"if (arrived == counter[1]) {STORE}", ""),
        (f"arrived = 1; if (arrived == 2) {STORE}", ""),
        (f"uint limits[3] = {{ 0, 1, 2 }}; if (arrived == limits[group.x]) {STORE}", ""),
    ],
)
def test_one_who_was_the_last_by_luck_races(rest, helpers):
    assert [finding.kind for finding in races_between_groups(run(rest, helpers))] == ["race"]


@pytest.mark.parametrize(
    ("results", "add"),
    [
        ((0, 2, 1), "1"),  # another came later
        ((0, 1, 1), "1"),  # the counter was set back meanwhile
        ((0, 1, 2), "lane"),  # what is added differs
    ],
)
def test_a_count_that_was_not_the_highest_says_nothing(results, add):
    assert races_between_groups(run(f"if (arrived == GROUPS - 1) {STORE}", results=results, add=add))
