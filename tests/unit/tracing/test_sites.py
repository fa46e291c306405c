"""Sites of files that earlier versions wrote."""

from dataclasses import asdict

import pytest

from splatscope.tracing.checks.faults import first_variable
from splatscope.tracing.sites import Site

OWN = ("operation", "access", "by_call", "bytes", "fault", "converts_to", "bits", "alignment")
BEFORE = {
    "file": "k.slang",
    "line": 3,
    "column": 5,
    "name": "x",
    "function": "f",
    "type": "uint",
    "space": "device",
    "dims": ["4"],
    "atomic": False,
}


@pytest.mark.parametrize(
    ("kind", "path", "access", "now"),
    [
        ("read", ".x", "", {}),
        ("read", "", "inout", {"by_call": True}),
        ("write", "", "16 bytes", {"bytes": 16}),
        ("write", "", "?", {"bytes": 0}),
        ("atomic", "", "InterlockedAdd", {"operation": "InterlockedAdd"}),
        ("out-of-bounds", "", "write", {"access": "write"}),
        ("fault", "+", "integer-overflow", {"fault": "integer-overflow", "operation": "+"}),
        ("fault", "int", "conversion-out-of-range", {"fault": "conversion-out-of-range", "converts_to": "int"}),
        ("fault", "32", "shift-out-of-range", {"fault": "shift-out-of-range", "bits": 32}),
        ("fault", "read 8", "misaligned-access", {"fault": "misaligned-access", "access": "read", "alignment": 8}),
        ("fault", "write", "out-of-bounds", {"fault": "out-of-bounds", "access": "write"}),
        ("fault", "read", "inactive-lane", {"fault": "inactive-lane"}),
        ("fault", "WaveActiveSum", "inactive-lane", {"fault": "inactive-lane", "operation": "WaveActiveSum"}),
        ("fault", "", "integer-division-by-zero", {"fault": "integer-division-by-zero"}),
    ],
)
def test_what_two_fields_held_has_fields_of_its_own(kind, path, access, now):
    site = Site.of(BEFORE | {"kind": kind, "path": path, "access": access})
    empty = asdict(Site("k.slang", 3, 5, kind))
    assert {name: value for name, value in asdict(site).items() if name in OWN and value != empty[name]} == now
    assert site.path == ("" if kind == "fault" else path)
    assert Site.of(asdict(site)) == site


@pytest.mark.parametrize("damage", [{"dims": 3}, {"access": 3}, {"access": "misaligned-access", "path": "read"}, {"more": 1}])
def test_damaged_fields_are_refused(damage):
    stored = BEFORE | {"kind": "fault", "path": "", "access": "nan"} | damage
    with pytest.raises((TypeError, ValueError, AttributeError)):
        hash(Site.of(stored).fault + "")


@pytest.mark.parametrize(
    ("code", "variable"), [("lane < 4", "lane"), ("max<int>(total, 3) > 2", "int"), ("f(2) + 1", ""), ("7 * cells[i]", "cells")]
)
def test_the_name_of_a_fault_is_that_of_its_first_variable(code, variable):
    assert first_variable(code) == variable
