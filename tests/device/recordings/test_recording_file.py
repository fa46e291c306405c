"""Recordings as files: what is saved opens again, and what was tampered with is refused in one line."""

import io
import json
import random
import subprocess
import sys
import zlib
from dataclasses import replace

import numpy as np
import pytest

from splatscope.gpu.device import open_device
from splatscope.recordings.archive import ArchiveError
from splatscope.recordings.recording_file import save, with_draft
from splatscope.recordings.standalone_script import standalone
from splatscope.recordings.untrusted import open_file
from splatscope.recordings.wire import pack
from splatscope.services.drafts.array_files import ArrayFile
from splatscope.services.drafts.inputs import inputs_of
from splatscope.services.sandbox_jobs import open_job
from splatscope.tracing.checks import find
from splatscope.tracing.interface import read_interface
from splatscope.tracing.job import KernelJob
from splatscope.tracing.perfetto import perfetto
from splatscope.tracing.recording import record
from splatscope.tracing.trace import Trace
from splatscope.web.examples.gallery import BY_NAME

UNIFORMS = """
struct Limits { float2 range; uint count; bool on; };
cbuffer Globals { float gain; Limits limits; }
ParameterBlock<Limits> block;
RWStructuredBuffer<float> seen;
[shader("compute")]
[numthreads(1, 1, 1)]
void seeMain(uniform Limits own, uniform uint k)
{
    float values[] = { gain, limits.range.y, block.count, own.range.x, block.on ? 1 : 0, k };
    for (uint i = 0; i < 6; i++)
        seen[i] = values[i];
}
"""


def recorded(source: str, specs: dict):
    device = open_device()
    interface = read_interface(device, KernelJob(source))
    job = KernelJob(source, inputs=inputs_of(interface, specs), records=100_000)
    return record(device, job), job, interface


@pytest.fixture(scope="module")
def histogram():
    example = BY_NAME["plain-histogram"]
    return recorded(example.source, example.inputs)


@pytest.fixture(scope="module")
def file(histogram) -> bytes:
    recording, job, interface = histogram
    return with_draft(save(recording, job, interface.buffers), {"source": job.source, "step": 12})


def changed(file: bytes, change) -> bytes:
    """Return the file with `change` applied to its arrays."""
    arrays = dict(np.load(io.BytesIO(file)))
    change(arrays)
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def with_header(file: bytes, values: dict) -> bytes:
    def change(arrays):
        about = json.loads(arrays["about"].tobytes())
        about["header"] |= values
        arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)

    return changed(file, change)


def parts(data: bytes) -> tuple[dict, bytes]:
    raw = zlib.decompress(data)
    length = int(np.frombuffer(raw[:4], np.uint32)[0])
    return json.loads(raw[4 : 4 + length]), raw[4 + length :]


def test_what_is_saved_opens_again_as_it_was(histogram, file):
    recording, job, interface = histogram
    answer, (packed,) = open_job("a.npz", file)
    head, columns = parts(packed)
    before, as_recorded = parts(pack(recording, find(recording.trace), job, interface.buffers))
    assert columns == as_recorded
    assert {name: head[name] for name in before if name != "all_groups"} == {n: before[n] for n in before if n != "all_groups"}
    assert answer["draft"]["step"] == 12
    assert answer["meta"]["findings"] == ["race"]
    assert answer["job"]["source"] == job.source
    assert answer["inputs"] == {name: array.nbytes for name, array in job.inputs.items()}
    again = ArrayFile("a.npz", file, is_recording=True)
    assert all(bytes(again.array(name)) == bytes(array) for name, array in job.inputs.items())
    assert len(Trace.load(file)) == len(recording.trace)
    assert len(json.loads(perfetto(Trace.load(file)))["traceEvents"]) > len(recording.trace)


def test_a_recording_from_its_file_is_packed_into_the_very_bytes_that_it_was(histogram):
    recording, job, interface = histogram
    opened = open_file("histogram.npz", save(recording, job, interface.buffers))
    again = pack(opened.recording, find(opened.recording.trace), replace(opened.job, inputs=job.inputs), opened.layouts)
    assert again == pack(recording, find(recording.trace), job, interface.buffers)


def test_a_file_of_the_command_line_opens_too(histogram):
    recording, *_ = histogram
    answer, (packed,) = open_job("trace.npz", recording.trace.save())
    assert parts(packed)[0]["outputs"] == []
    assert answer["inputs"] == {}


@pytest.mark.parametrize(
    "values",
    [
        {"all_groups": True}, {"threads": 2**31}, {"threads": 1}, {"group_size": [0, 1, 1]}, {"groups": [1, 1]}, {"groups": "111"},
        {"group": None}, {"version": 2}, {"sources": {}}, {"sources": []}, {"file": "other.slang"}, {"cut_threads": [99]},
        {"adapter": "x" * 300}, {"truncated": 1}, {"stepped_over": []},
    ],
    ids=str,
)  # fmt: skip
def test_a_header_that_no_recorder_writes_is_refused(file, values):
    with pytest.raises(ArchiveError, match=r"^a\.npz cannot be opened: [^\n]+\.$"):
        open_job("a.npz", with_header(file, values))


def refusal(data: bytes) -> str:
    """Return why a file is refused, "" if it is not. Any other error fails the test."""
    try:
        open_job("a.npz", data)
    except ArchiveError as error:
        return str(error)
    return ""


def test_damage_is_refused_in_one_line_whatever_it_is(file):
    chance = random.Random(5)
    words = []
    for _ in range(200):
        data = bytearray(file)
        for _ in range(chance.choice([1, 2, 8])):
            data[chance.randrange(len(data))] = chance.randrange(256)
        if chance.random() < 0.3:
            data = data[: chance.randrange(len(data))]
        words.append(refusal(bytes(data)))
    assert sum(map(bool, words)) > 100
    assert not any("\n" in line for line in words)


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
def test_columns_of_any_kind_are_refused_or_shown(file):
    chance = random.Random(6)
    junk = [
        np.zeros(0),
        np.full(5, 2**32 - 1, np.uint64),
        np.zeros((2, 2, 2)),
        np.array(-3),
        np.full(900, np.nan),
        np.zeros(7, "V3"),
    ]
    for _ in range(60):
        name = chance.choice(["thread", "site", "slot", "index", "words", "flags", "page", "input0", "output0", "draft"])
        value = chance.choice(junk)
        assert "\n" not in refusal(changed(file, lambda arrays, name=name, value=value: arrays.update({name: value})))


@pytest.mark.parametrize("name", ["bitonic-sort", "sort-list", "adam-step", "zero-by-zero", "uniforms"])
def test_the_python_file_leaves_the_same_in_a_process_of_its_own(name, tmp_path):
    specs = {"Globals.gain": {"values": "1.5"}, "Globals.limits.range": {"values": "2 3"}, "block.on": {"values": "1"}}
    specs |= {"block.count": {"values": "7"}, "own.range": {"values": "-0.1 inf"}, "k": {"values": "9"}}
    source, given = (UNIFORMS, specs) if name == "uniforms" else (BY_NAME[name].source, BY_NAME[name].inputs)
    recording, job, interface = recorded(source, given)
    script = tmp_path / "again.py"
    script.write_text(standalone(job, interface, open_device().info.type.name))
    assert "splatscope" not in script.read_text().replace("Splatscope's debugger", "")
    subprocess.run([sys.executable, script, tmp_path / "out.npz"], check=True, capture_output=True, cwd=tmp_path)
    with np.load(tmp_path / "out.npz") as again:
        assert set(again.files) == set(recording.plain)
        for buffer, words in recording.plain.items():
            np.testing.assert_array_equal(again[buffer].view(np.uint32), words)
