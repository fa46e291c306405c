"""The text of the recorder's module, and what its records say of their sites."""

import re

import numpy as np
import pytest

from splatscope.tracing.instrument.runtime import (
    CONTINUED,
    NO_SLOT,
    OUTSIDE,
    REPLAY,
    TYPES,
    core_text,
    module_text,
    record_function,
    settle,
)
from splatscope.tracing.sites import Site


def test_both_sides_agree_on_flags_and_on_the_site_of_what_goes_on():
    text = core_text(with_pointers=False)
    said = dict(re.findall(r"static const uint (\w+) = ([^;]+);", text))
    values = {name: eval(value.replace("u", "")) for name, value in said.items()}
    shared = {"replayFlag": REPLAY, "outsideFlag": OUTSIDE, "continuedSite": CONTINUED, "noSlot": NO_SLOT}
    assert {name: values[name] for name in shared} == shared


def test_the_number_of_a_type_fits_into_a_record():
    assert len(TYPES) <= 64
    assert len(TYPES) == len(set(TYPES))


def test_a_software_device_writes_through_pointers():
    assert core_text(with_pointers=True).startswith("#define POINTERS\n")
    assert core_text(with_pointers=False).startswith("//")


@pytest.mark.parametrize(
    ("types", "line"),
    [
        ("int", "public void _rec_value(uint site, int v) { _rec_put(site | 83886080, asuint(v), 0, 0); }"),
        ("bool", "public void _rec_element(uint site, uint index, bool v) { _rec_put(site | 16777216, index, v ? 1 : 0, 0); }"),
        ("float2", "_rec_tick(), _rec_where(), asuint(v[0])); _rec_put(16777215, asuint(v[1]), 0, 0); return v; }"),
        ("uint64_t", "_rec_tick(), index, uint(v)); _rec_put(16777215, uint(v >> 32), 0, 0); }"),
        ("float2x2", "asuint(v[0][0]), asuint(v[0][1]), asuint(v[1][0])); _rec_put(16777215, asuint(v[1][1]), 0, 0); }"),
    ],
)
def test_each_type_of_value_has_overloads(types, line):
    assert line in module_text({types}, set())


def test_values_of_a_batch_follow_one_another():
    text = module_text(set(), {("int", "float2")})
    assert (
        "public void _rec_int_float2(uint site, int v0, float2 v1) { _rec_put(site, asuint(v0), asuint(v1[0]), asuint(v1[1])); }"
        in text
    )
    assert [record_function(types) for types in ((), ("int",), ("int", "half"))] == ["_rec_step", "_rec_value", "_rec_int_half"]


def test_records_give_their_sites_the_types_that_the_compiler_found():
    sites = [Site("", 0, 0, "nothing"), Site("k", 1, 1, "value", "x", type="?"), Site("k", 2, 1, "write", "a", type="int")]
    number = TYPES.index("float") << 24
    heads = [1 | number, 1 | number, 1, 2, 2 | OUTSIDE, CONTINUED]
    records = np.array([[[head, 0, 0, 0] for head in heads]], np.uint32)
    settled = settle(records, sites)
    kinds = [(settled[n].kind, settled[n].type) for n in (records[0, :5, 0] & CONTINUED).tolist()]
    assert kinds == [("value", "float"), ("value", "float"), ("value", ""), ("write", "int"), ("out-of-bounds", "int")]
    assert records[0, 4, 0] & OUTSIDE
    assert records[0, 5, 0] == CONTINUED
