"""Buffers of a recorded kernel against those of the plain one: same, rounded otherwise, or different."""

import numpy as np
import pytest

from helpers.traces import run_info
from splatscope.tracing.checks.finding import Finding
from splatscope.tracing.comparison import MOST_ULPS, Comparison, _commute, compare
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

SOURCE = """RWStructuredBuffer<float> image; RWStructuredBuffer<uint> counts; RWStructuredBuffer<half> small;
struct Body { float3 at; uint age; } RWStructuredBuffer<Body> bodies; RWByteAddressBuffer bytes;
"""


def trace(atomics_of: tuple[int, ...] = ()) -> Trace:
    """Events of threads that each make an atomic access."""
    count = len(atomics_of)
    sites = [Site("", 0, 0, "nothing"), Site("k.slang", 3, 1, "atomic", "counts", "f", "uint", space="device", atomic=True)]
    zeros = np.zeros(count, np.uint32)
    ones, thread, slot = zeros + 1, np.array(atomics_of, np.uint32), np.arange(count, dtype=np.uint32)
    return Trace(run_info(SOURCE), sites, thread, ones, slot, zeros, np.zeros((count, 3), np.uint32), zeros)


def words(values, dtype=np.float32) -> np.ndarray:
    return np.asarray(values, dtype).view(np.uint32)


def of(name: str, mine: np.ndarray, plain: np.ndarray, type_text: str = "float", **more) -> Comparison:
    given = {"trace": trace(), "findings": []} | more
    return compare({name: mine}, {name: plain}, {name: type_text}, **given)


def moved(values, ulps: int) -> np.ndarray:
    return (words(values).astype(np.int64) + ulps).astype(np.uint32)


def test_equal_buffers_are_the_same():
    found = of("image", words([1, 2, np.nan]), words([1, 2, np.nan]))
    assert found == Comparison("same")
    assert found.sentence == "The plain kernel leaves the same buffers."


def test_nans_are_the_same_whatever_their_bits():
    mine, plain = np.array([0x3F800000, 0xFFC00000], np.uint32), np.array([0x3F800000, 0x7FC00001], np.uint32)
    assert of("image", mine, plain) == Comparison("same")
    assert of("image", moved([1.0, 2.0], 1), words([1.0, np.nan])).difference == "different"
    assert of("counts", mine, plain, "uint").difference == "different"


@pytest.mark.parametrize("ulps", [1, 3, MOST_ULPS])
def test_last_digits_are_rounding_and_the_largest_difference_is_told(ulps):
    found = of("image", moved([1.0, 0.5, -3.0], ulps), words([1.0, 0.5, -3.0]))
    assert found == Comparison("rounding", ("image",), ulps)
    assert f"differ by at most {ulps:,} ulps" in found.sentence


def test_a_thousandth_more_is_no_rounding():
    found = of("image", moved([1.0, 2.0], MOST_ULPS + 1), moved([1.0, 2.0], 0))
    assert found == Comparison("different", ("image",), is_explained=False, beyond=" (2 of 2 floats)")
    assert found.sentence == "The plain kernel leaves other values in image (2 of 2 floats): nothing that was recorded explains it."


def test_a_hash_may_have_made_much_of_a_last_digit_and_is_named():
    hashed = trace((0, 0))
    hashed.info.sources["k.slang"] = "// frac(x)\n\nfloat hash(float x) { return frac(sin(x) * 43758.5453); }\n"
    found = of("image", words([0.25, 0.5, 0.75]), words([0.25, 0.9, 0.75]), trace=hashed)
    assert (found.difference, found.is_explained, found.beyond) == ("different", False, " (1 of 3 floats)")
    assert "rounding may" in found.sentence
    assert "frac on line 3 makes much of a float's last digit" in found.sentence
    assert of("counts", words([4], np.uint32), words([5], np.uint32), "uint", trace=hashed).magnified == ""


def test_what_is_left_of_two_large_numbers_may_be_rounding():
    assert of("image", words([1.0, 1e-8]), words([1.0, 0.0])).difference == "rounding"
    assert of("image", words([1.0, 1e-3]), words([1.0, 0.0])).difference == "different"


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_a_number_against_none_is_different(value):
    assert of("image", words([value]), words([1.0])).difference == "different"


def test_integers_never_round():
    assert of("counts", words([4], np.uint32), words([5], np.uint32), "uint").difference == "different"


def test_halves_count_their_own_ulps():
    plain = np.array([1.0, 2.0], np.float16)
    mine = (plain.view(np.uint16) + 1).view(np.uint32)
    assert of("small", mine, plain.view(np.uint32), "half") == Comparison("rounding", ("small",), 1)


def test_floats_in_a_struct_round_and_its_integers_do_not():
    body = np.concatenate([words([1.0, 2.0, 3.0]), np.array([7], np.uint32)])
    rounded, older = body.copy(), body.copy()
    rounded[1] += 2
    older[3] += 1
    assert of("bodies", rounded, body, "uint") == Comparison("rounding", ("bodies",), 2)
    assert of("bodies", older, body, "uint").difference == "different"


def test_floats_in_bytes_round_and_integers_there_do_not():
    assert of("bytes", moved([1.5, -1e7], 501), words([1.5, -1e7]), "uint") == Comparison("rounding", ("bytes",), 501)
    assert of("bytes", words([7, 8], np.uint32), words([7, 9], np.uint32), "uint").difference == "different"


def test_a_race_or_atomics_of_two_threads_make_the_order_matter():
    pair = moved([1.0], 1), words([1.0])
    race = Finding("race", "tile", "", [1, 2], [0, 1])
    assert of("image", *pair, findings=[race]).difference == "different"
    assert of("image", *pair, trace=trace((0, 1))).difference == "different"
    assert of("image", *pair, trace=trace((0, 0))).difference == "rounding"
    assert "the order of its threads matters" in of("image", *pair, findings=[race]).sentence


def test_one_buffer_that_truly_differs_decides():
    outputs = {"image": moved([1.0], 1), "counts": words([1], np.uint32)}
    plain = {"image": words([1.0]), "counts": words([2], np.uint32)}
    found = compare(outputs, plain, {"image": "float", "counts": "uint"}, trace(), [])
    assert found == Comparison("different", ("image", "counts"), is_explained=False)


def test_a_finding_that_leaves_a_value_open_explains_a_difference():
    pair = moved([1.0], MOST_ULPS + 1), words([1.0])
    read = Finding("uninitialised-read", "best", "", [9], [0])
    found = of("image", *pair, findings=[read])
    assert (found.difference, found.is_explained) == ("different", True)
    assert found.sentence.endswith("image: what was found leaves a value open.")
    assert not of("image", *pair, findings=[Finding("benign-race", "best", "", [9], [0])]).is_explained


COMPACTION = """RWStructuredBuffer<float> kept; RWStructuredBuffer<float> other; RWStructuredBuffer<uint> cursor;
groupshared uint base; groupshared uint ranks[8];
[numthreads(8, 1, 1)] void compact(uint lane : SV_GroupIndex, float value)
{
    if (lane == 7)
    {
        uint start;
        InterlockedAdd(cursor[0], 8, start);
        base = start;
    }
    GroupMemoryBarrierWithGroupSync();
    kept[base + ranks[lane]] = value;
    other[lane] = value;
}
"""
ATOMIC = Site("k.slang", 8, 9, "atomic", "cursor", "compact", "uint", space="device", atomic=True, operation="InterlockedAdd")
BRANCH = Site("k.slang", 5, 9, "branch", function="compact")


def compacted(name: str, groups: tuple[int, int, int], reached: list[Site]) -> Comparison:
    recorded = trace((7,))
    recorded.info = run_info(COMPACTION, groups=groups)
    return of(name, words([1, 2, 3, 4]), words([3, 4, 1, 2]), trace=recorded, reached=reached)


def test_a_counter_of_workgroups_explains_where_its_result_leads_through_shared_memory():
    assert compacted("kept", (4, 1, 1), [ATOMIC, BRANCH]).is_explained


@pytest.mark.parametrize(
    ("name", "groups", "reached"),
    [("other", (4, 1, 1), [ATOMIC, BRANCH]), ("kept", (1, 1, 1), [ATOMIC, BRANCH]), ("kept", (4, 1, 1), [BRANCH])],
    ids=["it leads elsewhere", "one workgroup", "not reached"],
)
def test_a_counter_of_workgroups_explains_nothing_else(name, groups, reached):
    assert not compacted(name, groups, reached).is_explained


def test_a_branch_on_what_a_counter_gave_explains_what_stands_in_it():
    asks = Site("k.slang", 13, 9, "branch", function="compact")
    recorded = trace((7,))
    text = COMPACTION.replace("    other[lane] = value;", "    if (base == 24) {\n        other[lane] = value;\n    }")
    recorded.info = run_info(text, groups=(4, 1, 1))
    assert of("other", words([1]), words([2]), trace=recorded, reached=[ATOMIC, asks]).is_explained


def test_a_loop_that_the_compiler_is_known_to_get_wrong_is_named():
    unrolled = trace((0, 0))
    unrolled.info.sources["k.slang"] = "\n[ForceUnroll] for (int i = 0; i < 3; i++) { n += 2; if (n > 3) break; }\n"
    found = of("counts", words([4], np.uint32), words([2], np.uint32), "uint", trace=unrolled)
    assert (found.difference, found.is_explained) == ("different", False)
    assert "the compiler may be at fault" in found.sentence
    assert "as on line 2 of k.slang. Write [unroll] there" in found.sentence


@pytest.mark.parametrize(
    ("sites", "commute"),
    [
        ([("InterlockedAdd", "uint", False)], True),
        ([("InterlockedAdd", "uint", True)], False),  # the old value tells who came first
        ([("InterlockedAdd", "", False), ("InterlockedAdd64", "", False)], True),  # of bytes
        ([("add", "int", False), ("--", "int", False)], True),
        ([("InterlockedMax", "uint", False)], True),
        ([("InterlockedAdd", "uint", False), ("InterlockedMax", "uint", False)], False),
        ([("add", "float", False)], False),  # rounds
        ([("store", "uint", False)], False),
        ([("InterlockedExchange", "uint", False)], False),
        ([("InterlockedCompareStore", "uint", False)], False),
    ],
)
def test_updates_of_integers_that_nobody_asks_for_are_the_same_in_any_order(sites, commute):
    made = [Site("k.slang", 3, 1, "atomic", "counts", "f", t, operation=o, is_asked=asked) for o, t, asked in sites]
    assert _commute(made) is commute
