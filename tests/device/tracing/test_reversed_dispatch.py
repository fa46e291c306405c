"""Dispatches in reverse: they mean the same, and they show races in what was not recorded."""

import numpy as np
import pytest

from splatscope.gpu.device import open_device
from splatscope.tracing.dispatch import prepare
from splatscope.tracing.instrument.reversed_dispatch import reversal
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check
from splatscope.tracing.recording import record, run_guarded
from splatscope.tracing.repeated_runs import compare_runs

HEAD = "RWStructuredBuffer<uint> left;\nRWStructuredBuffer<uint> order;\n"
ENTRY = '[shader("compute")]\n[numthreads({size})]\nvoid computeMain({parameters})\n{{\n{body}\n}}\n'

IN_REVERSE = {  # by the parameters: size, workgroups, and the number of a thread
    "uint3 id : SV_DispatchThreadID": ("8, 1, 1", (4, 1, 1), "id.x"),
    "uint id : SV_DispatchThreadID": ("N, 1, 1", (4, 1, 1), "id"),
    "int2 id : sv_dispatchthreadid": ("4, 2, 1", (2, 2, 1), "id.y * 8 + id.x"),
    "uint3 group : SV_GroupID, uint lane : SV_GroupIndex": ("8, 1, 1", (4, 1, 1), "group.x * 8 + lane"),
    "uint group : SV_GroupID, uint lane : SV_GroupIndex,": ("2, 2, 2", (4, 1, 1), "group * 8 + lane"),
    "uint3 group : SV_GroupID, uint3 at : SV_GroupThreadID": ("2, 2, 2", (4, 1, 1), "group.x * 8 + at.z * 4 + at.y * 2 + at.x"),
}


@pytest.mark.parametrize("parameters", IN_REVERSE)
def test_a_dispatch_in_reverse_leaves_the_same_by_other_threads(parameters):
    size, groups, number = IN_REVERSE[parameters]
    body = f"uint n = {number};\nleft[n] = n * n;\norder[n] = WaveGetLaneIndex();"
    source = "static const uint N = 8;\n" + HEAD + ENTRY.format(size=size, parameters=parameters, body=body)
    job = KernelJob(source, groups=groups, inputs={"left": np.zeros(32, np.uint32), "order": np.zeros(32, np.uint32)})
    prologue = reversal(job.program(), groups)
    assert prologue
    plain, reverse = prepare(open_device(), job).dispatch().outputs(), run_guarded(open_device(), job, prologue)
    assert reverse is not None
    assert np.array_equal(reverse["left"], plain["left"])
    assert np.array_equal(plain["left"], np.arange(32, dtype=np.uint32) ** 2)
    assert np.array_equal(reverse["order"], plain["order"].reshape(4, 8)[::-1, ::-1].reshape(-1))


@pytest.mark.parametrize(
    "source",
    [
        "struct Numbers { uint3 id : SV_DispatchThreadID; };\n"
        + ENTRY.format(size="8, 1, 1", parameters="Numbers numbers", body="left[numbers.id.x] = 1;"),
        ENTRY.format(size="8, 1, 1", parameters="uint lane : SV_WaveLane", body="left[lane] = 1;"),
        "void main() {}\n",
    ],
)
def test_what_takes_its_numbers_in_another_way_has_no_reverse(source):
    assert reversal(KernelJob(HEAD + source).program(), (1, 1, 1)) is None


RACES = {  # bodies of a function that is not recorded, and whether the order matters
    "left[i] = left[(i + 64) % 128] + 1;": True,  # of another workgroup
    "left[i] = i + 1; left[i] *= 2;": False,
    "uint old; InterlockedAdd(order[0], 1, old); left[old] = i;": False,  # appended: any order is right
    "left[0] = i + 1;": True,  # the last one wins
    "left[i] = WaveActiveMin(3u) + i;": False,
}


def _spread(body: str) -> KernelJob:
    """Return a kernel whose function, which is not recorded, does this for each thread i."""
    function = f"void spread(uint i)\n{{\n    {body}\n}}\n"
    entry = ENTRY.format(size="64, 1, 1", parameters="uint i : SV_DispatchThreadID", body="    spread(i);\n    order[1 + i] = i;")
    inputs = {"left": np.arange(128, dtype=np.uint32), "order": np.zeros(129, np.uint32)}
    return KernelJob(HEAD + function + entry, groups=(2, 1, 1), inputs=inputs, functions=("computeMain",))


@pytest.mark.parametrize("body", RACES)
def test_races_in_what_is_not_recorded_are_found_by_running_in_reverse(body):
    job = _spread(body)
    verdict = record_and_check(open_device(), job, between_groups=True, other_widths=True).verdict
    assert [(finding.kind, finding.name) for finding in verdict.findings] == [("nondeterministic", "left")] * RACES[body]
    assert all("in reverse" in finding.message for finding in verdict.findings)
    assert verdict.missed


@pytest.mark.parametrize(
    ("body", "explained"), [(next(body for body in RACES if "InterlockedAdd" in body), True), ("left[i] = i;", False)]
)
def test_atomics_that_were_not_recorded_explain_runs_that_differ(body, explained):
    recording = record(open_device(), _spread(body))
    again = recording.plain | {"left": recording.plain["left"][::-1].copy()}
    assert bool(compare_runs(recording, again, [], is_partial=True)) != explained
