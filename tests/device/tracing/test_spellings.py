"""A kernel gets the same verdict however its types are spelled."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

from helpers.corpus import FINDING_FILES, expected, found_in, said
from helpers.spellings import spelled, spellings
from splatscope.api.recording import Recording
from splatscope.cli.buffer_option import parse_buffer
from splatscope.gpu.device import open_device
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check

EVERY = 6  # files; the others are as near to those as they are to each other
NAN = """StructuredBuffer<TYPE> given;
RWStructuredBuffer<TYPE> left;

[shader("compute")]
[numthreads(1, 1, 1)]
void main()
{
    TYPE ratio = given[0] / given[1];
    left[0] = ratio;
}
"""
OUTSIDE = """StructuredBuffer<TYPE> given;
RWStructuredBuffer<TYPE> left;

[shader("compute")]
[numthreads(4, 1, 1)]
void main(uint3 t : SV_GroupThreadID)
{
    left[t.x] = WaveReadLaneAt(given[t.x], t.x);
}
"""
FLOATS = [name for scalar in ("float", "half", "double") for size in (None, "1", "3", "4") for name in spellings(scalar, size)]
DERIVED = {
    "a typedef of a vector of a typedef": "typedef float32_t Number; typedef vector<Number, 4> TYPE;",
    "a count": "static const int COUNT = 4; typedef vector<float, COUNT> TYPE;",
    "an alias of an alias": "typealias Four = float4; typealias TYPE = Four;",
}


@pytest.mark.parametrize("path", FINDING_FILES[::EVERY], ids=[f"{path.parent.name}-{path.stem}" for path in FINDING_FILES[::EVERY]])
def test_the_same_is_found(path: Path):
    source = path.read_text()
    groups = tuple(int(n) for n in (said(source, "groups") or ["1,1,1"])[0].split(","))
    inputs = dict(parse_buffer(text) for text in said(source, "buffer"))
    size = {"records": 4_000_000, "all_groups": True} if said(source, "record") == ["all"] else {"records": 400_000}
    other = spelled(source, Random(path.stem))
    for _ in range(6 if path.parent.name == "group-order" else 1):  # a device begins groups when it likes
        recording, findings = found_in(path, KernelJob(other, path.name, groups=groups, inputs=inputs, **size))
        found = sorted((one.kind, one.name, *sorted(one.lines)) for one in findings)
        if found == expected(source):
            break
    assert found == expected(source), other
    assert not recording.stepped_over


@pytest.mark.parametrize("name", FLOATS)
def test_a_nan_is_seen_in_every_spelling(name: str):
    checked = Recording(record_and_check(open_device(), KernelJob(NAN.replace("TYPE", name))))
    assert [finding.kind for finding in checked.findings] == ["nan"]


@pytest.mark.parametrize("declared", DERIVED.values(), ids=DERIVED.keys())
def test_a_nan_is_seen_behind_names(declared: str):
    source = NAN.replace("\n\n", f"\n{declared}\n", 1)
    checked = Recording(record_and_check(open_device(), KernelJob(source)))
    assert [finding.kind for finding in checked.findings] == ["nan"]


@pytest.mark.parametrize("name", [*spellings("double", "4"), *spellings("int", "4")])
def test_an_access_out_of_bounds_and_a_race_are_seen_in_every_spelling(name: str):
    numbers = np.zeros(12, np.float64 if name in spellings("double", "4") else np.int32)
    job = KernelJob(OUTSIDE.replace("TYPE", name), groups=(2, 1, 1), inputs={"given": numbers, "left": numbers})
    checked = Recording(record_and_check(open_device(), job, between_groups=True))
    assert sorted(finding.kind for finding in checked.findings) == ["benign-race", "out-of-bounds", "out-of-bounds"]
