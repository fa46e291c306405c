"""The attributes of Slang's playground, as Slang's own reflection reads them."""

import pytest

from helpers.playground import SOURCE
from splatscope.gpu.device import open_device
from splatscope.gpu.reflection import Interface
from splatscope.services.drafts.draft import job_of, public
from splatscope.services.drafts.playground import complete, read, suggest
from splatscope.tracing.cost import costs
from splatscope.tracing.interface import read_interface
from splatscope.tracing.job import KernelJob
from splatscope.tracing.recording import record


def interface_of(source: str, entry: str = "") -> Interface:
    return read_interface(open_device(), KernelJob(source, entry=entry))


@pytest.mark.parametrize(("entry", "groups"), [("fill", [2, 1, 1]), ("halve", [2, 1, 1]), ("playgroundMain", [8, 8, 1])])
def test_a_call_says_how_many_groups(entry, groups):
    source = complete(SOURCE)
    interface = interface_of(source, entry)
    assert interface.entries == ("fill", "halve", "playgroundMain")
    job = job_of({"entry": entry}, KernelJob(source), interface)
    assert list(job.groups) == groups
    recording = record(open_device(), job)
    name = {"playgroundMain": "playgroundImage"}.get(entry, "values")
    assert recording.outputs[name].any()


def test_what_was_typed_holds_until_its_attribute_changes():
    interface = interface_of(SOURCE, "fill")
    typed = {name: spec | {"count": 200} for name, spec in read(SOURCE).specs.items() if name == "values"}
    assert suggest(SOURCE, interface, "fill", typed)[0]["values"]["count"] == 200
    assert suggest(SOURCE.replace("1 << 7", "1 << 8"), interface, "fill", typed)[0]["values"]["count"] == 256
    job = job_of({"entry": "fill", "groups": [5, 1, 1], "groups_said": [2, 1, 1]}, KernelJob(SOURCE), interface)
    assert job.groups == (5, 1, 1)


def test_functions_that_are_chosen_are_those_that_record():
    source = """RWStructuredBuffer<uint> out;
uint twice(uint x) { uint y = x * 2; return y; }
uint never(uint x) { return x; }
[shader("compute")] [numthreads(4, 1, 1)]
void main(uint i : SV_DispatchThreadID) { uint a = twice(i); out[i] = a; }
"""
    interface = interface_of(source)
    found = costs(KernelJob(source).program())
    assert [cost.name for cost in found] == ["main", "twice"]
    assert all(cost.sites for cost in found)
    shown = public(interface, source, {}, found)
    assert [one["name"] for one in shown["functions"]] == ["main", "twice"]
    every, one = (record(open_device(), job_of({"functions": names}, KernelJob(source), interface)) for names in (None, []))
    assert set(every.functions) >= {"main", "twice"}
    assert one.functions == ["main"]
    assert len(every.trace.sites) - 1 >= sum(cost.sites for cost in found) > len(one.trace.sites) - 1
