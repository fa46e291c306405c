"""Values of a type that nobody has told the recorder are said not to be checked."""

import numpy as np

from helpers.traces import run_info
from splatscope.tracing.instrument.runtime import NO_SLOT, UNKNOWN
from splatscope.tracing.recording import _untyped
from splatscope.tracing.sites import Site
from splatscope.tracing.trace import Trace

SOURCE = "strange s = given;\nlet r = make();\nfloat4 v = 1;\n"


def untyped(*lines: int, types: tuple[str, ...] = ("", "", "float4")) -> list[str]:
    """Return what is said of a run of these lines, whose values have these types in the end."""
    sites = [Site("", 0, 0, "nothing"), *(Site("k.slang", n, 1, "value", "x", "main", type_) for n, type_ in enumerate(types, 1))]
    written = [sites[0], *(Site("k.slang", n, 1, "value", "x", "main", UNKNOWN) for n in (1, 2, 3))]
    site, zeros = np.array(lines, np.uint32), np.zeros(len(lines), np.uint32)
    words, slot = np.zeros((len(lines), 3), np.uint32), np.full(len(lines), NO_SLOT, np.uint32)
    return _untyped(Trace(run_info(SOURCE), sites, zeros, site, slot, zeros, words, zeros), written, frozenset({"strange"}))


def test_a_type_that_nothing_declares_is_named_where_its_value_was_not_recorded():
    assert untyped(1, 2, 3) == ["k.slang, line 1: the recorder does not know the type strange: its values are not checked."]


def test_a_type_that_the_compiler_has_told_is_known():
    assert untyped(1, 2, 3, types=("float", "", "float4")) == []


def test_lines_that_did_not_run_are_not_named():
    assert untyped(2, 3) == []
