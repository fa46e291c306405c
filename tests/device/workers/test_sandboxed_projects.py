"""Projects of several files: compiled and recorded inside the sandbox, and gone afterwards."""

import asyncio
import re

import numpy as np
import pytest

from splatscope.gpu.device import open_device
from splatscope.gpu.kernel import CompileError
from splatscope.recordings.packed import PackedRecording
from splatscope.recordings.wire import head_of
from splatscope.services.drafts.draft import DraftJob
from splatscope.services.recordings import check_source, open_recording, record_source
from splatscope.tracing.interface import read_interface
from splatscope.tracing.job import KernelJob
from splatscope.workers import worker_pool
from splatscope.workers.sandbox.platform_support import missing_support
from splatscope.workers.sandbox.source_filter import refuse
from tests.helpers.filter_tricks import READ, file_tricks, plain
from tests.helpers.without_filter import without_filter

pytestmark = pytest.mark.skipif(bool(missing_support()), reason="this system cannot confine a process")

MATHS = """module maths;
#include "deep/constants.hlsli"
public uint scaled(uint x) { uint y = x * FACTOR; return y; }
"""
ADD = """#pragma once
#include "../lib/deep/constants.hlsli"
uint added(uint x)
{
    uint z = x + FACTOR;
    return z;
}
"""
FACTOR = "#pragma once\n#define FACTOR 3\n"
FILES = {"lib/maths.slang": MATHS, "lib/deep/constants.hlsli": FACTOR, "src/add.slangh": ADD}
SOURCE = """#include "add.slangh"
import lib.maths;
cbuffer Settings : register(b0) { uint offset; };
RWStructuredBuffer<uint> numbers : register(u0);
[numthreads(8, 1, 1)]
void projectMain(uint lane : SV_GroupIndex)
{
    numbers[lane] = added(scaled(lane)) + offset;
}
"""
PROJECT = KernelJob(
    SOURCE,
    "src/main.hlsl",
    files=FILES,
    inputs={"numbers": np.zeros(8, np.uint32), "Settings.offset": np.array([100], np.uint32)},
    records=20_000,
)


def diagnostics_of(source: str) -> str:
    """Return what the compiler says about a source."""
    try:
        read_interface(open_device(), KernelJob(source, "k.slang"))
    except CompileError as error:
        return error.diagnostics + str(error)
    return ""


def test_what_the_filter_accepts_makes_the_compiler_open_no_file(tmp_path):
    assert all(READ in diagnostics_of(line) for line in plain(tmp_path).values())  # so the word would be seen
    accepted = {name: source for name, source in file_tricks(tmp_path).items() if not refuse(source, "k.slang", {"k.slang"})}
    assert len(accepted) > 20
    assert [name for name, source in accepted.items() if READ in diagnostics_of(source)] == []


@pytest.fixture(scope="module")
def run():
    """Return `run(coroutine)`, all in one event loop and with one pool."""
    with asyncio.Runner() as runner:
        yield runner.run
        runner.run(worker_pool.close())


@pytest.fixture(scope="module")
def packed(run) -> PackedRecording:
    return run(record_source(worker_pool, PROJECT))


def test_a_project_is_compiled_and_its_interface_read(run):
    checked = run(check_source(worker_pool, PROJECT))
    assert checked.error == ""
    assert checked.interface.entries == ("projectMain",)
    assert checked.interface.uniforms == {"Settings.offset": "uint"}


def test_each_event_is_in_the_file_that_its_line_stands_in(packed):
    assert not packed.meta.get("error")
    head = head_of(packed.data)
    assert head["file"] == "src/main.hlsl"
    assert set(head["sources"]) == {"src/main.hlsl", *FILES}
    by_function = {site["function"]: site["file"] for site in head["sites"] if site.get("function")}
    assert by_function == {"projectMain": "src/main.hlsl", "added": "src/add.slangh", "scaled": "lib/maths.slang"}
    (line,) = {site["line"] for site in head["sites"] if site["kind"] == "value" and site["name"] == "z"}
    assert FILES["src/add.slangh"].split("\n")[line - 1].strip() == "uint z = x + FACTOR;"


def test_the_recording_holds_the_project_and_opens_with_it(run, packed):
    _, job, _, sizes = run(open_recording(worker_pool, "project.npz", packed.file))
    assert job["files"] == FILES
    assert (job["file"], job["source"]) == (PROJECT.file, SOURCE)
    assert sizes == {"numbers": 32, "Settings.offset": 4}


def test_the_functions_of_all_files_have_a_cost(run):
    checked = run(check_source(worker_pool, DraftJob({"source": SOURCE, "file": PROJECT.file, "files": FILES})))
    assert {(cost["name"], cost["file"]) for cost in checked.public["functions"]} == {
        ("projectMain", "src/main.hlsl"),
        ("added", "src/add.slangh"),
        ("scaled", "lib/maths.slang"),
    }


def test_an_error_is_marked_in_its_own_file(run):
    files = FILES | {"src/add.slangh": FILES["src/add.slangh"].replace("x + FACTOR", "nobody")}
    checked = run(check_source(worker_pool, KernelJob(SOURCE, "src/main.hlsl", files=files)))
    assert checked.interface is None
    assert re.match(r"src/add\.slangh:5:\d+: undefined identifier", checked.error)
    first = checked.diagnostics[0]
    assert (first.file, first.line, first.severity) == ("src/add.slangh", 5, "error")


def test_a_project_is_not_the_one_that_differs_in_another_file(run, packed):
    files = FILES | {"lib/deep/constants.hlsli": "#pragma once\n#define FACTOR 5\n"}
    other = run(record_source(worker_pool, KernelJob(SOURCE, "src/main.hlsl", files=files, inputs=PROJECT.inputs, records=20_000)))
    assert other.meta["recording"] != packed.meta["recording"]
    again = run(record_source(worker_pool, PROJECT))
    assert again.meta["recording"] == packed.meta["recording"]


def test_the_files_of_one_project_are_not_there_for_the_next(run, monkeypatch):
    """Even where the filter is off and the name is known, there is no way to what somebody else sent."""
    without_filter(monkeypatch)
    assert run(check_source(worker_pool, PROJECT)).error == ""
    alone = KernelJob(SOURCE, "src/main.hlsl")
    assert "add.slangh" in run(check_source(worker_pool, alone)).error
    sibling = KernelJob('#include "../../splatscope-project-x/secret.h"\n' + SOURCE, "src/main.hlsl", files=FILES)
    assert "secret.h" in run(check_source(worker_pool, sibling)).error
