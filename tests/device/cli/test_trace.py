"""`splatscope trace` as its users call it."""

import dataclasses
import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from helpers.corpus import FINDINGS
from splatscope.api import record as api_record
from splatscope.cli import trace_batch
from splatscope.cli.main import main
from splatscope.gpu.device import open_device
from splatscope.printable import relative
from splatscope.tracing import record_and_check as record_and_check_module
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check
from splatscope.tracing.trace import Trace

CLEAN, RACY = FINDINGS / "race" / "reduction.slang", FINDINGS / "race" / "missing_barrier.slang"
SCALED = """
struct Pair
{
    float first;
    uint second;
};

StructuredBuffer<float2> points;
RWStructuredBuffer<Pair> pairs;
RWStructuredBuffer<half> halves;
RWStructuredBuffer<float> output;
uniform float scale;
uniform int2 offset;

[shader("compute")]
[numthreads(4, 1, 1)]
void scaled(uint lane : SV_GroupIndex)
{
    output[lane] = points[lane].y * scale + float(offset.y);
    halves[lane] = half(lane);
    pairs[lane].second = lane;
}

[shader("compute")]
[numthreads(2, 1, 1)]
void other(uint lane : SV_GroupIndex)
{
    output[lane] = 7.0;
}
"""
BETWEEN = """
RWStructuredBuffer<uint> output;
RWStructuredBuffer<uint> counter;

[shader("compute")]
[numthreads(8, 1, 1)]
void computeMain(uint lane : SV_GroupIndex, uint3 group : SV_GroupID)
{
    InterlockedAdd(counter[0], 1);
    output[group.x * 8 + lane] = lane;
    output[%s] = group.x + lane;
}
"""


@pytest.fixture
def call(capsys):
    """Run the command in this process, whose device is open. Return (exit status, lines of stdout, stderr)."""
    open_device()

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["trace", *map(str, arguments)])
        out, err = capsys.readouterr()
        return end.value.code, out.splitlines(), err

    return run


def test_nothing_found(call):
    status, lines, _ = call(CLEAN, "--json", "--buffer", "output=uint[64]")
    assert status == 0
    (line,) = lines
    report = json.loads(line)
    assert set(report) == {
        "adapter",
        "threads",
        "events",
        "truncated",
        "buffers",
        "same_as_plain",
        "findings",
        "difference",
        "complete",
        "missed",
        "unreached",
        "notes",
    }
    assert report["threads"] == 64
    assert report["events"] > 64 * 10
    assert report["truncated"] is False
    assert report["same_as_plain"] is True
    assert report["findings"] == []
    assert report["buffers"] == {"output": [sum(range(64))] * 64}


def test_a_change_that_takes_the_finding_away_is_shown_and_written(call, tmp_path):
    kernel, given = tmp_path / "racy.slang", ("--buffer", "output=uint[64]")
    kernel.write_text(RACY.read_text())
    status, lines, _ = call(kernel, *given, "--diff")
    assert (status, lines[-1]) == (1, "With this change, which was recorded: Nothing found.")
    assert "+    GroupMemoryBarrierWithGroupSync();" in lines
    assert kernel.read_text() == RACY.read_text()

    status, (line,), _ = call(kernel, *given, "--diff", "--json")
    fix = json.loads(line)["fix"]
    assert (status, fix["verdict"], fix["findings"]) == (1, "Nothing found", [])
    assert fix["patch"].startswith("--- a/racy.slang\n+++ b/racy.slang\n@@ ")

    status, lines, _ = call(kernel, *given, "--fix")
    assert (status, lines[-1]) == (0, f"{kernel} has been changed, and recorded: Nothing found.")
    assert call(kernel, *given)[0] == 0


def test_the_patch_is_one_that_git_applies_in_the_current_folder(call, tmp_path, monkeypatch):
    kernel = tmp_path / "kernels" / "racy.slang"
    kernel.parent.mkdir()
    kernel.write_text(RACY.read_text())
    monkeypatch.chdir(tmp_path)
    _, (line,), _ = call(kernel.relative_to(tmp_path), "--buffer", "output=uint[64]", "--diff", "--json")
    subprocess.run(["git", "apply"], input=json.loads(line)["fix"]["patch"], text=True, check=True)
    assert kernel.read_text() != RACY.read_text()


def test_that_no_change_is_found_is_said_and_the_file_stays(call, tmp_path):
    kernel = tmp_path / "racy.slang"
    kernel.write_text((FINDINGS / "race" / "reduction_stride.slang").read_text())
    before = kernel.read_text()
    status, lines, _ = call(kernel, "--fix")
    assert (status, lines[-1]) == (1, "No change was found that takes a finding away.")
    assert json.loads(call(kernel, "--fix", "--json")[1][0])["fix"] is None
    assert kernel.read_text() == before


def test_a_finding(call):
    status, lines, _ = call(RACY, "--json")
    report = json.loads(lines[0])
    assert status == 1
    (finding,) = report["findings"]
    assert {"kind", "name", "index", "lines", "threads", "message"} <= set(finding)
    assert (finding["kind"], finding["name"], sorted(finding["lines"])) == ("race", "tile", [11, 12])
    assert len(set(finding["threads"])) == 2
    assert len(report["buffers"]["output"]) == 1024


def test_a_benign_race_is_a_finding(call):
    status, lines, _ = call(FINDINGS / "benign-race" / "same_flag.slang", "--json")
    assert status == 1
    assert [finding["kind"] for finding in json.loads(lines[0])["findings"]] == ["benign-race"]


def test_no_plain_run_where_it_is_not_safe(call):
    status, lines, _ = call(FINDINGS / "timeout" / "while_true.slang", "--json")
    assert status == 1
    assert json.loads(lines[0])["same_as_plain"] is None


def test_words_for_people(call):
    status, lines, _ = call(RACY)
    assert status == 1
    place = re.compile(rf"{re.escape(relative(RACY, Path.cwd()))}:11:\d+: race: Thread ")
    assert any(place.match(line) and "line 11" in line and "line 12" in line for line in lines)
    status, lines, _ = call(CLEAN, "--groups", "2,1", "--group", "0")
    assert status == 0
    assert lines[-1] == "Nothing found in what was recorded."
    assert any("--all-groups" in line for line in lines)


def test_buffers_and_uniforms(call, tmp_path):
    file = tmp_path / "scaled.slang"
    file.write_text(SCALED)
    np.save(tmp_path / "points.npy", np.array([[1, 10], [2, 20], [3, 30], [4, 40]], np.float64))
    status, lines, _ = call(
        file, "--json", "--buffer", f"points=@{tmp_path / 'points.npy'}", "--buffer", "scale=float=0.5",
        "--buffer", "offset=int2=9,-3",
        "--buffer", "output=float[5]=1,2,3,4,0.25", "--buffer", "halves=half[4]",
    )  # fmt: skip
    report = json.loads(lines[0])
    assert status == 0, report["findings"]
    assert report["buffers"]["output"] == [2.0, 7.0, 12.0, 17.0, 0.25]
    assert report["buffers"]["halves"] == [0, 1, 2, 3]
    assert len(report["buffers"]["pairs"]) == 2 * 1024
    assert report["buffers"]["pairs"][:8] == [0, 0, 0, 1, 0, 2, 0, 3]


def test_another_entry_point(call, tmp_path):
    file = tmp_path / "scaled.slang"
    file.write_text(SCALED)
    status, lines, _ = call(file, "--json", "--entry", "other", "--buffer", "output=float[3]")
    report = json.loads(lines[0])
    assert (status, report["threads"], report["buffers"]["output"]) == (0, 2, [7.0, 7.0, 0.0])


def test_the_recording_is_saved(call, tmp_path):
    status, _, _ = call(RACY, "--json", "--out", tmp_path / "r.npz")
    assert status == 1
    assert Trace.load((tmp_path / "r.npz").read_bytes()).info.entry == "computeMain"


def test_warnings_stay_out_of_the_json(capfd, tmp_path):
    file = tmp_path / "warned.slang"
    file.write_text(SCALED.replace("output[lane] = 7.0;", "uint a, b; a = 1, b = 2; output[lane] = float(a + b);"))
    with pytest.raises(SystemExit):
        main(["trace", str(file), "--entry", "other", "--json"])
    (line,) = capfd.readouterr().out.splitlines()
    assert json.loads(line)["buffers"]["output"][0] == 3.0


@pytest.mark.parametrize(("index", "status"), [("lane", 1), ("64 + group.x * 8 + lane", 0)])
def test_races_between_groups(call, tmp_path, index, status):
    file = tmp_path / "between.slang"
    file.write_text(BETWEEN % index)
    _, lines, _ = call(file, "--groups", "4", "--group", "1", "--json")
    alone = {finding["kind"] for finding in json.loads(lines[0])["findings"]}
    assert alone <= ({"nondeterministic"} if status else set())  # as two runs may show
    wide, lines, _ = call(file, "--groups", "4", "--group", "1", "--json", "--all-groups")
    assert wide == status
    found = json.loads(lines[0])["findings"]
    assert {(f["kind"], f["name"]) for f in found} == ({("race", "output")} if status else set())
    assert {tuple(sorted(f["lines"])) for f in found} <= {(10, 11), (11, 11)}
    assert all(f["groups"][0] != f["groups"][1] and max(f["threads"]) < 8 and " of group " in f["message"] for f in found)


LAST_GROUP = """
globallycoherent RWStructuredBuffer<uint> sums;
RWStructuredBuffer<uint> counter;
RWStructuredBuffer<uint> output;
groupshared uint before;

[shader("compute")]
[numthreads(8, 1, 1)]
void computeMain(uint lane : SV_GroupIndex, uint3 group : SV_GroupID)
{
    if (lane == 0)
    {
        sums[group.x] = group.x + 1;
        %s
        InterlockedAdd(counter[0], 1, before);
    }
    AllMemoryBarrierWithGroupSync();
    if (before == 3 && lane == 0)
        for (uint i = 0; i < 4; i++)
            output[0] += sums[i];
}
"""


@pytest.mark.parametrize(("fence", "status"), [("DeviceMemoryBarrier();", 0), ("", 1)])
def test_what_groups_hand_over_by_an_atomic_is_no_race(call, tmp_path, fence, status):
    file = tmp_path / "last.slang"
    file.write_text(LAST_GROUP % fence)
    found, lines, _ = call(file, "--groups", "4", "--json", "--all-groups", "--buffer", "counter=uint[1]")
    assert found == status, lines


def test_what_groups_hand_over_in_a_buffer_that_is_not_coherent_may_not_be_seen(call, tmp_path):
    file = tmp_path / "last.slang"
    file.write_text((LAST_GROUP % "DeviceMemoryBarrier();").replace("globallycoherent ", ""))
    found, lines, _ = call(file, "--groups", "4", "--json", "--all-groups", "--buffer", "counter=uint[1]")
    (finding,) = json.loads(lines[0])["findings"]
    assert (found, finding["kind"], finding["name"]) == (1, "race", "sums")
    assert finding["message"].endswith(" and may not see that value: sums is not declared globallycoherent.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.slang"], "cannot be read"),
        ([sys.executable], "not a text file"),
        ([], "Name a file"),
        ([CLEAN, "--groups", "0,1,1"], "dispatches nothing"),
        ([CLEAN, "--groups", "a"], "--groups takes X,Y,Z"),
        ([CLEAN, "--groups", "2,1,1", "--group", "2,0,0"], "--group 2,0,0"),
        ([CLEAN, "--buffer", "output"], "--buffer takes NAME=TYPE"),
        ([CLEAN, "--buffer", "output=quaternion[3]"], "quaternion is no type of numbers"),
        ([CLEAN, "--buffer", "output=uint[1]=1,2"], "2 values do not fit"),
        ([CLEAN, "--buffer", "output=uint=-1"], "output"),
        ([CLEAN, "--buffer", "output=uint=1.5"], "1.5"),
        ([CLEAN, "--buffer", "output=float[99999999999]"], "do not fit"),
        ([CLEAN, "--buffer", "output=@nowhere.npy"], "there is no file nowhere.npy"),
        ([CLEAN, "--buffer", f"output=@{__file__}"], "cannot be read as a NumPy array"),
        ([CLEAN, "--buffer", "result=uint[64]"], "no parameter result"),
        ([CLEAN, "--entry", "nobody"], "nobody"),
        ([CLEAN, "--out", "/nowhere/at/all.npz"], "cannot be written"),
        ([CLEAN, "--sideways"], "--sideways"),
        (["--batch", "nowhere.jsonl"], "cannot be read"),
    ],
)
def test_a_wrong_call_is_one_line_and_status_2(call, arguments, words):
    status, lines, error = call(*arguments, "--json")
    assert status == 2
    assert lines == []
    assert words in error
    assert len(error.strip().splitlines()) == 1


@pytest.mark.parametrize("source", ["nonsense", "void helper() { }", SCALED.replace("scale +", "scales +"), ""])
def test_what_does_not_compile_is_one_line_and_status_2(call, tmp_path, source):
    file = tmp_path / "broken.slang"
    file.write_text(source)
    status, lines, error = call(file, "--json")
    assert (status, lines) == (2, [])
    assert len(error.strip().splitlines()) == 1


def job(file: Path, **more) -> str:
    return json.dumps({"file": str(file), "entry": "computeMain", "groups": [1, 1, 1], "include": []} | more)


# No budget in a function that holds target code: it runs as it is.
ENDLESS = """float f(float x)
{
    x = spirv_asm { result:$$float = OpFMul $x $x };
    while (x > -1.0) x = x + 1.0;
    return x;
}
"""


def test_batch_survives_what_its_jobs_do(tmp_path, monkeypatch, capsys):
    """Jobs that kill their worker, hang or are invalid have an error in their own line, and the others run."""
    crash, hang, kernel = tmp_path / "crash.slang", tmp_path / "hang.slang", tmp_path / "kernel.slang"
    main_of = '[shader("compute")]\n[numthreads(8, 1, 1)]\nvoid computeMain(uint lane : SV_GroupIndex)\n{\n    %s\n}\n'
    buffer = "RWStructuredBuffer<float> output;\n"
    crash.write_text(buffer + main_of % f"output[lane] = {'(' * 60000}lane{')' * 60000};")  # deeper than the compiler's stack
    hang.write_text(buffer + ENDLESS + main_of % "output[lane] = f(lane);")
    kernel.write_text(buffer + main_of % "output[lane] += 0.5;")
    words = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], np.float32)
    good = job(kernel, buffers={"output": {"stride": 4, "words": words.view(np.uint32).tolist()}})
    lines = [good, job(crash), "no job", job(RACY), job(tmp_path / "nowhere.slang"), job(hang), '["neither"]', good]
    jobs = tmp_path / "jobs.jsonl"
    jobs.write_text("\n".join(lines) + "\n")
    run = trace_batch.run_on_worker

    def run_briefly_what_hangs(function, job, *, limit, **options):
        return run(function, job, limit=4.0 if job.file == hang.name else limit, **options)

    monkeypatch.setattr(trace_batch, "run_on_worker", run_briefly_what_hangs)
    trace_batch.batch(jobs)
    results = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [result["ok"] for result in results] == [True, False, False, True, False, False, False, True]
    lists = ("functions", "stepped_over", "findings")
    for result in results:
        assert set(result) == {"ok", "buffers", "plain", "events", "complete", "missed", *lists, "error"}
        assert bool(result["error"]) != result["ok"]
        assert "\n" not in (result["error"] or "")
    for result in (results[0], results[-1]):
        assert np.array(result["buffers"]["output"], np.uint32).view(np.float32).tolist() == (words + 0.5).tolist()
        assert result["plain"] == result["buffers"]
        assert result["functions"] == ["computeMain"]
        assert result["events"] > 8
        assert result["stepped_over"] == result["findings"] == result["missed"] == []
        assert result["complete"]
    assert [finding["kind"] for finding in results[3]["findings"]] == ["race"]
    assert "nowhere.slang" in results[4]["error"]
    assert not results[4]["complete"]
    assert results[4]["missed"] == [results[4]["error"]]


def test_a_line_of_a_batch_says_that_its_recording_was_full(tmp_path, monkeypatch):
    kernel = tmp_path / "long.slang"
    body = "for (int i = 0; i < 1000; i++) o[0] += 1;"
    kernel.write_text(f"RWStructuredBuffer<int> o;\n[numthreads(1, 1, 1)] void computeMain() {{ {body} }}\n")
    monkeypatch.setattr(trace_batch, "KernelJob", partial(KernelJob, records=500))
    result = trace_batch.run_batch_job(trace_batch._job_of({"file": str(kernel)}))
    assert (result["ok"], result["complete"]) == (True, False)
    assert any("full" in missed for missed in result["missed"])


def test_a_kernel_that_no_budget_ends_is_ended_from_outside(call, tmp_path):
    kernel = tmp_path / "hang.slang"
    kernel.write_text(f"RWStructuredBuffer<float> output;\n{ENDLESS}[numthreads(4, 1, 1)] void run() {{ output[0] = f(1); }}\n")
    status, (line,), _ = call(kernel, "--json", "--timeout", 8)
    (finding,) = json.loads(line)["findings"]
    assert (status, finding["kind"], finding["lines"]) == (1, "timeout", [5])
    assert "the loop on line 5 has no budget" in finding["message"]


def test_the_command_itself():
    """Runs once as a separate process: exit status, one line on stdout, nothing on stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "splatscope.cli.main", "trace", str(RACY), "--json"], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(done.stdout)["findings"][0]["kind"] == "race"


BLOCK = """
cbuffer CB : register(b0) { uint n; float scale; };
extern static const uint FACTOR;
interface IOperation { float of(float x); }
struct Twice : IOperation { float of(float x) { return 2 * x; } }
RWStructuredBuffer<float> o;
[[shader("compute")]]
[numthreads(4, 1, 1)]
void main<T : IOperation>(uint3 t : SV_GroupThreadID)
{
    T operation = T();
    if (t.x < n)
        o[t.x] = operation.of(scale) * FACTOR + MORE;
}
"""


@pytest.mark.parametrize("form", ["--buffer", "--set", "full name", "json", "toml", "npz"])
def test_members_of_a_block_constants_macros_and_arguments(call, tmp_path, form):
    file, given = tmp_path / "block.slang", tmp_path / f"given.{form}"
    file.write_text(BLOCK)
    compiled = ["--constant", "FACTOR=10", "-D", "MORE=1", "--argument", "Twice", "--buffer", "o=float[4]"]
    if form == "json":
        given.write_text('{"CB": {"n": 3, "scale": 2.5}}')
    elif form == "toml":
        given.write_text("[CB]\nn = 3\nscale = 2.5\n")
    elif form == "npz":
        np.savez(given, **{"CB.n": 3, "CB.scale": 2.5})
    options = {
        "--buffer": ["--buffer", "n=uint=3", "--buffer", "CB.scale=float=2.5"],
        "--set": ["--set", "n=3", "--set", "scale=2.5"],
        "full name": ["--set", "CB.n=3", "--set", "CB.scale=2.5"],
    }.get(form, ["--inputs", given])
    status, lines, _ = call(file, "--json", *compiled, *options)
    report = json.loads(lines[0])
    assert (status, report["findings"], report["missed"]) == (0, [], [])
    assert report["buffers"]["o"] == [51, 51, 51, 0]


def test_pictures_and_array_files_are_named_in_the_inputs(call, tmp_path):
    from PIL import Image

    Image.fromarray(np.full((2, 2, 3), 51, np.uint8)).save(tmp_path / "picture.png")
    np.save(tmp_path / "points.npy", np.arange(4.0))
    (tmp_path / "given.json").write_text('{"picture": {"file": "picture.png"}, "points": {"file": "points.npy"}}')
    (tmp_path / "k.slang").write_text(
        "Texture2D<float4> picture; StructuredBuffer<float> points; RWStructuredBuffer<float> o;\n"
        "[numthreads(2, 1, 1)] void main(uint3 t : SV_GroupThreadID) { o[t.x] = picture[t.xx].g + points[t.x + 2]; }"
    )
    _, lines, _ = call(tmp_path / "k.slang", "--json", "--inputs", tmp_path / "given.json", "--buffer", "o=float[2]")
    assert json.loads(lines[0])["buffers"]["o"] == pytest.approx([2.2, 3.2])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set", "n"], "--set takes NAME=VALUE"),
        (["--set", "n=1+1"], "is not a number"),
        (["--set", "m=1"], "no parameter m"),
        (["--set", "n=1.5"], "1.5 does not fit"),
        (["--constant", "FACTOR=many"], "--constant: “many” is not a number"),
        (["--conformance", "Twice"], "--conformance takes TYPE:INTERFACE"),
        (["--inputs", "nowhere.json"], "nowhere.json cannot be read"),
        (["--device", "no such card"], "no such card"),
    ],
)
def test_inputs_that_do_not_fit_are_one_line_and_status_2(call, tmp_path, arguments, words):
    file = tmp_path / "block.slang"
    file.write_text(BLOCK)
    status, lines, error = call(file, "--json", "--constant", "FACTOR=1", "-D", "MORE", "--argument", "Twice", *arguments)
    assert (status, lines) == (2, [])
    assert words in error


def test_a_constant_without_a_value_is_named(call, tmp_path):
    (tmp_path / "block.slang").write_text(BLOCK)
    status, _, error = call(tmp_path / "block.slang", "-D", "MORE", "--argument", "Twice")
    assert status == 2
    assert "FACTOR has no value" in error


def test_structs_are_printed_with_their_members(call, tmp_path):
    file = tmp_path / "scaled.slang"
    file.write_text(SCALED)
    _, lines, _ = call(file)
    assert any("pairs: {first 0, second 0}; {first 0, second 1}" in line for line in lines)


def test_a_batch_job_takes_bits_for_a_float_member(tmp_path, capsys):
    file, jobs = tmp_path / "block.slang", tmp_path / "jobs.jsonl"
    file.write_text(
        "cbuffer CB { float scale; };\nRWStructuredBuffer<float> o;\n[numthreads(1, 1, 1)] void main() { o[0] = scale; }"
    )
    bits = int(np.array([2.5], np.float32).view(np.uint32)[0])
    jobs.write_text(json.dumps({"file": str(file), "buffers": {"CB.scale": {"stride": 4, "words": [bits]}}}))
    trace_batch.batch(jobs)
    assert json.loads(capsys.readouterr().out)["buffers"]["o"][0] == bits


def test_a_batch_job_takes_words_for_a_whole_block_a_uniform_and_a_matrix(tmp_path, capsys):
    file, jobs = tmp_path / "whole.slang", tmp_path / "jobs.jsonl"
    file.write_text("""struct Signs { int a; };
struct Scale { float by; int n; };
ConstantBuffer<Signs> signs;
ConstantBuffer<float2x2> turned;
[numthreads(1, 1, 1)]
void main(uniform Scale scale, uniform RWStructuredBuffer<float> o) { o[0] = signs.a + scale.by * scale.n; o[1] = turned[1][0]; }
""")
    scale = [int(np.array([2.5], np.float32).view(np.uint32)[0]), 4]
    turned = np.array([1, 2, 3, 4], np.float32).view(np.uint32).tolist()
    given = {"signs": [1, 0, 0, 0], "scale": scale, "turned": turned}  # a constant buffer may be filled up to 16 bytes
    both = [{name: {"stride": 4, "words": words} for name, words in (given | more).items()} for more in ({}, {"scale": [0] * 5})]
    jobs.write_text("\n".join(job(file, entry="main", buffers=buffers) for buffers in both))
    trace_batch.batch(jobs)
    right, wrong = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert np.array(right["buffers"]["o"][:2], np.uint32).view(np.float32).tolist() == [11, 3]
    assert wrong["error"] == "scale is a Scale: it has 8 bytes, not 20."


@pytest.mark.parametrize("value", ["float(t.x)", "frac(sin(t.x * 12.9898) * 43758.5453)"])
def test_what_the_plain_kernel_leaves_is_said_once(call, monkeypatch, tmp_path, value):
    real, file = record_and_check_module.record, tmp_path / "kernel.slang"
    file.write_text(
        f"RWStructuredBuffer<float> o;\n[numthreads(8, 1, 1)] void main(uint3 t : SV_GroupThreadID) {{ o[t.x] = {value}; }}"
    )

    def leaves_others(device, job, *more):
        recording = real(device, job, *more)
        recording.plain["o"] = recording.plain["o"] + np.uint32(1 << 22)
        return recording

    monkeypatch.setattr(record_and_check_module, "record", leaves_others)
    monkeypatch.setattr(api_record, "record_on_worker", lambda job, *_: record_and_check(open_device(), job))
    _, lines, _ = call(file, "--buffer", "o=float[8]")
    assert len([line for line in lines if "The plain kernel leaves other values in o" in line]) == 1


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_where_nothing_was_recorded_nothing_is_called_clean(call, monkeypatch, form):
    def record_nothing(job, *_):
        return record_and_check(open_device(), dataclasses.replace(job, instrument_scope="nothing"))

    monkeypatch.setattr(api_record, "record_on_worker", record_nothing)
    status, lines, _ = call(CLEAN, *form)
    assert status == 2
    if form:
        report = json.loads(lines[0])
        assert (report["events"], report["complete"], report["missed"][0]) == (0, False, "Nothing was recorded.")
    else:
        assert lines[-1] == "Nothing was recorded, so nothing can be said of this kernel."
        assert not any("Nothing found" in line for line in lines)


def test_where_no_thread_came_to_an_access_nothing_is_called_clean(call, tmp_path):
    file = tmp_path / "skips.slang"
    file.write_text(
        "cbuffer CB { uint n; };\nRWStructuredBuffer<uint> o;\n"
        "[numthreads(4, 1, 1)] void main(uint t : SV_GroupIndex) { if (t < n) o[t] = t; }"
    )
    status, lines, _ = call(file)
    assert status == 2
    assert lines[-1] == "Nothing was looked at, so nothing can be said of this kernel."
    assert not any("Nothing found" in line for line in lines)
    assert call(file, "--set", "n=4")[0] == 0


OUTSIDE_IN_THE_LAST_GROUP = """
RWStructuredBuffer<uint> o;
[numthreads(4, 1, 1)]
void main(uint3 t : SV_DispatchThreadID) { o[t.x < 8 ? t.x : 99] = t.x; }
"""


def test_all_groups_are_looked_at_unless_one_is_named(call, tmp_path):
    (tmp_path / "last.slang").write_text(OUTSIDE_IN_THE_LAST_GROUP)
    asked = (tmp_path / "last.slang", "--groups", "3", "--buffer", "o=uint[16]")
    status, lines, _ = call(*asked)
    assert status == 1
    assert any(re.match(r".*\blast\.slang:4:\d+: out-of-bounds: Thread 0 of group 2 \(thread ", line) for line in lines)
    status, lines, _ = call(*asked, "--group", "0")
    assert (status, lines[-1]) == (0, "Nothing found in what was recorded.")


def test_a_race_between_two_files_names_both(call, tmp_path):
    (tmp_path / "neighbour.slangh").write_text("uint neighbour(uint i) {\n    return cells[(i + 1) % 8];\n}\n")
    (tmp_path / "two.slang").write_text(
        'groupshared uint cells[8];\n#include "neighbour.slangh"\nRWStructuredBuffer<uint> o;\n'
        "[numthreads(8, 1, 1)]\nvoid main(uint i : SV_GroupIndex)\n{\n    cells[i] = i;\n    o[i] = neighbour(i);\n}\n"
    )
    status, lines, _ = call(tmp_path / "two.slang", "--buffer", "o=uint[8]")
    (race,) = (line for line in lines if ": race: " in line)
    assert status == 1
    assert "on line 7 of two.slang" in race
    assert "on line 2 of neighbour.slangh" in race


@pytest.mark.parametrize("options", [(), ("--set", "n=4")])
def test_pointers_cannot_be_given(call, tmp_path, options):
    (tmp_path / "pointer.slang").write_text(
        "uniform float* cells;\nuniform uint n;\n[numthreads(4, 1, 1)]\nvoid main(uint3 t : SV_DispatchThreadID)\n"
        "{\n    if (t.x < n) cells[t.x] = 1;\n}\n"
    )
    status, _, error = call(tmp_path / "pointer.slang", *options)
    assert status == 2
    assert error.strip().endswith("cells is a pointer: pointers cannot be given. Take a buffer in its place.")


LONG = """
RWStructuredBuffer<uint> o;
uint hidden(uint i) { return i; }
[numthreads(8, 1, 1)]
void main(uint3 t : SV_DispatchThreadID) { for (uint i = 0; i < 1000; i++) o[t.x] += hidden(i); }
"""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--budget", "1000"), "full before the end: "),
        (("--functions", "main"), "hidden was not recorded: "),
        (("--groups", "2", "--group", "0", "--functions", "main"), "hidden was not recorded: "),
    ],
)
def test_a_recording_that_lacks_something_is_status_2(call, tmp_path, options, words):
    (tmp_path / "long.slang").write_text(LONG)
    status, lines, _ = call(tmp_path / "long.slang", "--json", "--buffer", "o=uint[16]", *options)
    (line,) = lines
    report = json.loads(line)
    assert (status, report["complete"], report["findings"]) == (2, False, [])
    assert any(words in missed for missed in report["missed"])
    status, lines, _ = call(tmp_path / "long.slang", "--buffer", "o=uint[16]", *options)
    assert (status, lines[-1]) == (2, "Nothing found in what was recorded.")
