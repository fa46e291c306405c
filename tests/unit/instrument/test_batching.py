"""Neighbouring records become one, and one record becomes its neighbours again."""

import numpy as np

from splatscope.tracing.instrument.batching import join, spread, types_of
from splatscope.tracing.instrument.runtime import CONTINUED
from splatscope.tracing.sites import Site


def site(type_text: str = "") -> Site:
    return Site("k.slang", 1, 1, "value" if type_text else "step", type=type_text)


SITES = [site(), site(), site("int"), site("float3"), site("?"), site("uint64_t")]


def test_records_with_nothing_between_them_are_joined():
    text, batches = join("_rec_step(1); /* why */ _rec_value(2, a); { _rec_value(3, ray.at); x = 1; _rec_step(1); }", SITES)
    assert text == "_rec_int_float3(1, a, ray.at); /* why */  {  x = 1; _rec_step(1); }"
    assert batches == {1: (1, 2, 3)}


def test_a_record_of_unknown_type_stays_alone():
    text, batches = join("_rec_value(2, a); _rec_value(4, b); _rec_step(1); _rec_value(5, c);", SITES)
    assert text.strip() == "_rec_value(2, a); _rec_value(4, b); _rec_value(1, c);"
    assert batches == {1: (1, 5)}


def test_the_types_of_a_batch_are_those_of_its_values():
    assert types_of((1, 2, 3), SITES) == ("int", "float3")


def test_a_batch_is_spread_into_the_records_of_its_sites():
    rows = np.array([[1, 7, 10, 11], [CONTINUED, 12, 0, 0], [2, 5, 0, 0]], np.uint32)
    spread_rows, threads = spread(rows, np.array([0, 0, 3]), SITES, {1: (1, 2, 3)})
    assert spread_rows.tolist() == [[1, 0, 0, 0], [2, 7, 0, 0], [3, 10, 11, 12], [2, 5, 0, 0]]
    assert threads.tolist() == [0, 0, 0, 3]
