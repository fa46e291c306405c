"""The public interface: a kernel recorded from a script, in a worker or on a device that is open."""

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import slangpy as spy

import splatscope
from helpers.patience import PATIENCE
from helpers.progress import report_and_fail
from splatscope.api import workers
from splatscope.gpu.device import open_device
from splatscope.processes import ChildCrashed, ChildTimeout
from splatscope.recordings.wire import head_of
from splatscope.services.sandbox_jobs import open_job
from splatscope.tracing import record_and_check

GUARD = 150.0  # seconds; ends a test that would otherwise hang

KERNEL = """
struct Particle { float2 at; uint id; };
cbuffer CB { uint n; float scale; };
RWStructuredBuffer<Particle> particles;
RWStructuredBuffer<float> o;
[shader("compute")]
[numthreads(8, 1, 1)]
void main(uint3 t : SV_GroupThreadID)
{
    if (t.x < n)
        o[t.x] = scale * particles[t.x].at.y;
    particles[t.x].id += 1;
}
"""
RACE = KERNEL.replace("particles[t.x].id += 1;", "o[8] = t.x;")
GIVEN = {"CB": {"n": 8, "scale": 2.5}, "particles": [{"at": [1, 2], "id": i} for i in range(8)]}


def test_a_recording_has_its_outputs_typed_and_nothing_missed():
    found = splatscope.record(source=KERNEL, vars=GIVEN)
    assert found.outputs["o"][:9].tolist() == [5] * 8 + [0]
    assert found.outputs["particles"]["id"].tolist() == list(range(1, 9))
    assert found.complete
    assert found.missed == []
    assert found.findings == []
    found.assert_clean()


def test_a_file_is_found_with_its_includes(tmp_path):
    (tmp_path / "sizes").mkdir()
    (tmp_path / "sizes" / "size.h").write_text("static const uint size = EDGE * EDGE;")
    (tmp_path / "k.slang").write_text(
        '#include "size.h"\nRWStructuredBuffer<uint> o;\n[shader("compute")]\n[numthreads(2, 1, 1)]\n'
        "void first(uint3 t : SV_GroupThreadID) { o[t.x] = size; }\n"
        '[shader("compute")]\n[numthreads(2, 1, 1)]\nvoid second(uint3 t : SV_GroupThreadID) { o[t.x] = 2 * size; }\n'
    )
    found = splatscope.record(tmp_path / "k.slang", entry="second", defines={"EDGE": 3}, include_paths=[tmp_path / "sizes"])
    assert found.outputs["o"][:2].tolist() == [18, 18]


def test_a_race_is_found_and_told_with_its_place():
    found = splatscope.record(source=RACE, vars=GIVEN)
    (race,) = [finding for finding in found.findings if finding.kind == "race"]
    assert (race.name, race.line) == ("o", 12)
    with pytest.raises(splatscope.FindingsError, match=r"kernel\.slang:12:\d+: race: ") as raised:
        found.assert_clean()
    assert raised.value.findings == [race]
    found.assert_clean(allow=["race"])
    with pytest.raises(ValueError, match="no kind of finding rase"):
        found.assert_clean(allow=["rase"])


def test_what_was_not_recorded_is_not_clean(tmp_path):
    source = KERNEL.replace("o[t.x] = scale * particles[t.x].at.y;", "for (uint i = 0; i < 1000; i++) o[t.x] += scale * i;")
    found = splatscope.record(source=source, vars=GIVEN, budget=1000)
    assert not found.complete
    with pytest.raises(splatscope.FindingsError, match="full before the end"):
        found.assert_clean()
    found.save(tmp_path / "r.npz")
    assert splatscope.load(tmp_path / "r.npz").missed == found.missed


def test_what_is_raised_can_be_caught_by_its_documented_name():
    with pytest.raises(splatscope.CompileError):
        splatscope.record(source="this is no kernel")
    with pytest.raises(splatscope.DeviceError):
        splatscope.record(source=KERNEL, vars=GIVEN, device="a device that nobody has")
    with pytest.raises(ValueError, match=r"threads need \d+ records at least, and 10 are allowed"):
        splatscope.record(source=KERNEL, vars=GIVEN, budget=10)


def test_one_of_several_groups_is_not_all_of_them():
    assert not splatscope.record(source=KERNEL, vars=GIVEN, groups=(2, 1, 1), group=0).complete
    both = splatscope.record(source=KERNEL, vars=GIVEN, groups=(2, 1, 1))
    assert both.complete
    assert {finding.kind for finding in both.findings} & {"race"}  # both groups write the same particles


SPIN_LOCK = """
RWStructuredBuffer<uint> held, sum;
[numthreads(16, 1, 1)]
void main(uint lane : SV_GroupIndex)
{
    uint before;
    do { InterlockedCompareExchange(held[0], 0, 1, before); } while (before != 0);
    sum[0] += lane;
    InterlockedExchange(held[0], 0, before);
}
"""


def test_a_lock_that_the_lanes_of_a_wave_never_get_has_its_verdict_in_several_groups_too():
    found = splatscope.record(source=SPIN_LOCK, groups=2, vars={"held": {"count": 1}, "sum": {"count": 1}})
    assert "livelock" in {finding.kind for finding in found.findings}
    assert "is in the same wave, which goes on only when all its lanes have left the loop" in found.findings[0].message


GROUPS = """
RWStructuredBuffer<uint> o;
[numthreads(8, 1, 1)]
void main(uint3 t : SV_DispatchThreadID, uint lane : SV_GroupIndex, uint3 g : SV_GroupID)
{
    uint divisor = g.y == 1 && g.x == 1 ? lane : 1;
    o[g.y == 2 && g.x == 1 ? t.x + 5000 : t.x + g.y * 64] = t.x / divisor;
}
"""


def test_the_group_that_fails_is_recorded_and_findings_of_others_are_told():
    found = splatscope.record(source=GROUPS, groups=(2, 3, 1))
    assert found.trace.info.group == (1, 2, 0)
    outside, division = found.findings
    assert (outside.kind, outside.line, outside.count, bool(outside.events)) == ("out-of-bounds", 7, 8, True)
    assert (division.kind, division.line, division.events) == ("integer-division-by-zero", 7, [])
    assert "of group 1,1,0" in division.message
    assert found.complete


def test_what_pages_say_stands_in_the_header(monkeypatch):
    """Whether all groups were looked at; and a difference in the last digit, which is of rounding where no order matters."""
    real = record_and_check.record

    def rounds_otherwise(device, job, *more):
        recording = real(device, job, *more)
        recording.plain["o"] = recording.plain["o"] + (recording.plain["o"] > 0)
        return recording

    source = KERNEL.replace("particles[t.x].id += 1;", "")
    options = {"source": source, "vars": GIVEN, "device": open_device()}
    assert not splatscope.record(**options).trace.verdict.rounding
    assert splatscope.record(**options, groups=(2, 1, 1)).trace.verdict.between_groups
    monkeypatch.setattr(record_and_check, "record", rounds_otherwise)
    found = splatscope.record(**options)
    assert (found.difference, found.same_as_plain) == ("rounding", False)
    assert "differ by at most 1 ulps" in found.trace.verdict.rounding

    def leaves_otherwise(device, job, *more):
        recording = real(device, job, *more)
        recording.plain["o"] = recording.plain["o"] + (recording.plain["o"] > 0) * np.uint32(1 << 22)
        return recording

    monkeypatch.setattr(record_and_check, "record", leaves_otherwise)
    monkeypatch.setattr(
        record_and_check, "compare_runs", lambda recording, again, findings, is_partial: []
    )  # every plain run would
    found = splatscope.record(**options)
    assert found.missed == [found.trace.verdict.difference]
    assert "nothing that was recorded explains it" in found.missed[0]


HALVED = """
Texture2D<float4> picture;
RWStructuredBuffer<float4> halved;
cbuffer Size { uint width; };
[numthreads(8, 8, 1)]
void main(uint3 t : SV_DispatchThreadID)
{
    float4 sum = 0;
    for (uint i = 0; i < 4; i++)
        sum += picture[t.xy * 2 + uint2(i & 1, i >> 1)];
    halved[t.y * width + t.x] = sum / 4;
}
"""


def test_all_threads_of_a_whole_picture_are_looked_at():
    picture = np.random.default_rng(5).random((512, 512, 4), dtype=np.float32)
    given = {"picture": picture, "halved": np.zeros((256 * 256, 4), np.float32), "width": 256}
    found = splatscope.record(source=HALVED, groups=(32, 32), vars=given)
    found.assert_clean()
    expected = picture.reshape(256, 2, 256, 2, 4).mean((1, 3))
    assert found.outputs["halved"].reshape(expected.shape) == pytest.approx(expected, rel=1e-5)


def test_a_dispatch_too_large_for_one_recording_is_looked_at_in_parts_as_far_as_there_is_time():
    found = splatscope.record(source=KERNEL, vars=GIVEN | {"particles": [{}]}, groups=(65535, 4))
    assert found.events > 0
    assert found.complete or all(
        one.startswith(("Of 262,140 workgroups ", "Not all workgroups were compared")) for one in found.missed
    )


def test_a_saved_recording_is_loaded_as_it_was(tmp_path):
    found = splatscope.record(source=RACE, vars=GIVEN)
    found.save(tmp_path / "r.npz")
    loaded = splatscope.load(tmp_path / "r.npz")
    assert str(loaded) == str(found)
    assert loaded.complete
    for name, array in found.outputs.items():
        assert loaded.outputs[name].dtype == array.dtype
        assert np.array_equal(loaded.outputs[name], array)
    (tmp_path / "r2.npz").write_bytes(b"PK\x03\x04")
    with pytest.raises(ValueError, match=r"r2\.npz"):
        splatscope.load(tmp_path / "r2.npz")


NOTED = """
Texture2DArray<float> pictures;
RWTexture2D<float> target;
StructuredBuffer<uint> sizes;
RWStructuredBuffer<float> o;
[shader("compute")] [numthreads(4, 1, 1)]
void main(uint3 t : SV_DispatchThreadID)
{
    if (sizes[0] > 3)
        o[t.x] = 1;
    target[t.xy] = pictures[uint3(t.xy, 0)];
}
"""


@pytest.mark.parametrize("options", [{}, {"groups": 2, "group": "all"}, {"groups": 2}], ids=["one", "all", "one of two"])
def test_a_saved_recording_keeps_its_notes(tmp_path, options):
    found = splatscope.record(source=NOTED, **options)
    found.save(tmp_path / "r.npz")
    loaded = splatscope.load(tmp_path / "r.npz")
    assert loaded.not_given == found.not_given
    assert [name.split(" (")[0] for name in found.not_given] == ["sizes", "o", "pictures", "target"]
    assert loaded.unreached == found.unreached == [("kernel.slang", 10, 10)]
    assert str(loaded) == str(found)
    assert "No thread reached line 10 of kernel.slang." in str(loaded)


def test_a_saved_recording_keeps_what_was_found_in_other_groups(tmp_path):
    found = splatscope.record(source=GROUPS, groups=(2, 3, 1))
    found.save(tmp_path / "r.npz")
    loaded = splatscope.load(tmp_path / "r.npz")
    assert [(f.kind, f.message) for f in loaded.findings] == [(f.kind, f.message) for f in found.findings]
    assert "its size is 1,024" in loaded.findings[0].message
    assert loaded.missed == found.missed == []


def test_of_one_of_several_workgroups_everything_says_the_same(tmp_path):
    """The recording, its file, what the debugger opens of it, and the page that is saved: the others were not looked at."""
    part, missed = "Nothing found in what was recorded", "Only one workgroup was looked at."
    source = KERNEL.replace("particles[t.x].id += 1;", "")
    found = splatscope.record(source=source, groups=(2, 1, 1), group=0, vars=GIVEN)
    found.save(tmp_path / "r.npz")
    found.to_html(tmp_path / "r.html")
    loaded = splatscope.load(tmp_path / "r.npz")
    assert (found.verdict, found.missed) == (loaded.verdict, loaded.missed) == (part, [missed])
    head = head_of(open_job("r.npz", (tmp_path / "r.npz").read_bytes())[1][0])
    assert (head["verdict"], head["missed"]) == (part, [missed])
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert f"<b>{part}</b>" in page
    assert missed in page
    assert "<b>Nothing found</b>" not in page
    alone = splatscope.record(source=source, vars=GIVEN)
    assert (alone.verdict, alone.missed) == ("Nothing found", [])


SCRIPT = """
import numpy as np, slangpy as spy, splatscope
device = spy.create_device(type=spy.DeviceType.vulkan)
tensor = spy.Tensor.from_numpy(device, np.arange(8, dtype=np.float32))
usage = spy.TextureUsage.shader_resource
five = np.full((2, 2), 5, np.float32)
texture = device.create_texture(format=spy.Format.r32_float, width=2, height=2, usage=usage, data=five)
source = '''StructuredBuffer<float> a; Texture2D<float> t; RWStructuredBuffer<float> o;
[numthreads(8, 1, 1)] void main(uint3 i : SV_GroupThreadID) { o[i.x] = a[i.x] + t[uint2(1, 1)]; }'''
found = splatscope.record(source=source, vars={'a': tensor, 't': texture}, device=device)
print(found.outputs['o'][:8].tolist())
"""


def test_a_device_of_the_scripts_own_with_its_tensors_and_textures(tmp_path):
    """In a process of its own, as a script opens it: with SlangPy's defaults, which watch files."""
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip().endswith(str([5.0 + i for i in range(8)])), done.stderr


def test_what_was_not_given_is_said():
    found = splatscope.record(source=KERNEL, vars={"CB": GIVEN["CB"], "o": [0] * 8})
    assert found.not_given == ["particles (1,024)"]
    assert "Not given, so zeros: particles (1,024)." in str(found)


TWO_ENTRIES = """
RWStructuredBuffer<uint> counts, keys;
RWTexture2D<float> picture;
cbuffer CB { uint first, second; };
uint own(uint at) { return keys[at] + first; }
[numthreads(4, 1, 1)] void count(uint t : SV_GroupIndex) { counts[t] = own(t); }
[numthreads(4, 1, 1)] void draw(uint t : SV_GroupIndex) { picture[uint2(t, second)] = counts[t]; }
"""


@pytest.mark.parametrize(
    ("entry", "names"), [("count", ["counts", "keys", "CB.first"]), ("draw", ["counts", "picture", "CB.second"])]
)
def test_inputs_of_another_entry_point_are_not_missed(entry, names):
    found = splatscope.record(source=TWO_ENTRIES, entry=entry)
    assert [name.split(" (")[0] for name in found.not_given] == names


SIZED = """
struct Pair { float a; uint b; };
struct Scene { RWStructuredBuffer<Pair> pairs; };
ParameterBlock<Scene> scene;
RWByteAddressBuffer raw;
RWBuffer<float4> texels;
cbuffer CB { uint count; };
[shader("compute")] [numthreads(8, 1, 1)]
void main(uint t : SV_GroupIndex)
{
    scene.pairs[t].b = count;
    raw.Store(4 * t, t);
    texels[t] = t;
}
"""


SIZES = {"scene.pairs.count": 8, "raw": {"count": 8}, "texels.count": 8, "CB": {"count": 3}}


def test_a_buffer_is_given_by_its_size_alone():
    found = splatscope.record(source=SIZED, vars=SIZES)
    found.assert_clean()
    assert found.not_given == []
    assert found.outputs["scene.pairs"]["b"].tolist() == [3] * 8


@pytest.mark.parametrize("small", [{"scene.pairs.count": 5}, {"raw": {"count": 5}}, {"texels.count": 5}])
def test_accesses_are_judged_by_the_size_that_is_given(small):
    (finding,) = splatscope.record(source=SIZED, vars=SIZES | small).findings
    assert (finding.kind, finding.index) == ("out-of-bounds", 20 if "raw" in small else 5)  # of bytes, the offset


@pytest.mark.parametrize("count", [0, -1, 2.5, 2**40, [1, 2]])
def test_a_size_that_is_none_is_refused(count):
    with pytest.raises(ValueError, match=r"raw\.count is a number of elements from 1 to 268,435,456\."):
        splatscope.record(source=SIZED, vars=SIZES | {"raw": {"count": count}})


def test_a_vector_of_zeros_that_is_normalized_is_named():
    source = """RWStructuredBuffer<float3> o;
[shader("compute")] [numthreads(2, 1, 1)]
void main(uint t : SV_GroupIndex)
{
    float3 n = 0;
    n += o[t];
    n = normalize(n);
    o[t] = n;
}"""
    (finding,) = splatscope.record(source=source, vars={"o": [[0, 0, 0], [1, 0, 0]]}).findings
    assert finding.message == "n becomes NaN in thread 0 on line 7: normalize of (0, 0, 0)."


def test_a_race_of_first_lanes_names_their_waves():
    source = """RWStructuredBuffer<uint> o;
groupshared uint total;
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint t : SV_GroupIndex)
{
    if (WaveIsFirstLane())
        total = t;
    GroupMemoryBarrierWithGroupSync();
    o[t] = total;
}"""
    recording = splatscope.record(source=source, vars={"o.count": 64})
    width = recording.trace.info.wave_size
    (race,) = [finding for finding in recording.findings if finding.kind == "race"]
    first, second = (thread // width for thread in race.threads)
    assert f"on line 7 (first lanes of waves {first} and {second}, {width} lanes each), and nothing orders the two" in race.message


SKIPPED = """
Texture2D<float> picture;
RWStructuredBuffer<float> o;
cbuffer Size { uint n; uint steps; }
float twice(float x)
{
    return 2 * x;
}
[shader("compute")] [numthreads(4, 1, 1)]
void main(uint3 t : SV_DispatchThreadID)
{
    float sum = 0;
    for (uint i = 0; i < steps; i++)
    {
        sum += picture[uint2(i, 0)];
        sum = twice(sum);
    }
    if (t.x < n)
        o[t.x] = sum;
}
"""


def test_a_kernel_that_came_to_no_access_is_not_clean(tmp_path):
    found = splatscope.record(source=SKIPPED, vars={"o": np.zeros(4)})
    assert found.findings == []
    assert found.not_given == ["picture (32 × 32)", "Size.n", "Size.steps"]
    assert found.unreached == [("kernel.slang", 15, 16), ("kernel.slang", 19, 19)]
    assert "No thread reached lines 15–16, 19 of kernel.slang." in str(found)
    with pytest.raises(splatscope.FindingsError, match="No thread came to an access to memory"):
        found.assert_clean()
    found.save(tmp_path / "r.npz")
    loaded = splatscope.load(tmp_path / "r.npz")
    assert (loaded.unreached, loaded.missed) == (found.unreached, found.missed)


def test_lines_that_no_group_reached_are_told_and_those_that_one_did_are_not():
    given = {"o": np.zeros(12), "picture": np.ones((1, 2)), "Size": {"n": 12, "steps": 0}}
    source = SKIPPED.replace("o[t.x] = sum;", "o[t.x] = t.x < 8 ? sum\n            : 1;")
    found = splatscope.record(source=source, groups=3, vars=given)
    found.assert_clean()
    assert found.not_given == []
    assert found.unreached == [("kernel.slang", 15, 16)]


def change_plain_results(monkeypatch, by):
    """Have the plain kernel leave words in `o` that are larger by so much than those of the recorded one."""
    real = record_and_check.record

    def leaves_others(device, job, *more):
        recording = real(device, job, *more)
        recording.plain["o"] = recording.plain["o"] + np.uint32(by)
        return recording

    monkeypatch.setattr(record_and_check, "record", leaves_others)
    monkeypatch.setattr(
        record_and_check, "compare_runs", lambda recording, again, findings, is_partial: []
    )  # every plain run would


def test_other_results_that_nothing_explains_are_not_clean(monkeypatch):
    change_plain_results(monkeypatch, 1 << 24)
    source = KERNEL.replace("particles[t.x].id += 1;", "")
    found = splatscope.record(source=source, vars=GIVEN, device=open_device())
    assert (found.difference, found.findings) == ("different", [])
    with pytest.raises(splatscope.FindingsError, match="nothing that was recorded explains it"):
        found.assert_clean()


def test_a_hash_that_makes_much_of_rounding_is_a_note_on_a_clean_verdict(monkeypatch):
    change_plain_results(monkeypatch, 1 << 22)
    source = """RWStructuredBuffer<float> o;
[shader("compute")] [numthreads(8, 1, 1)] void main(uint3 t : SV_DispatchThreadID)
{
    o[t.x] = frac(sin(t.x * 12.9898) * 43758.5453);
}"""
    found = splatscope.record(source=source, vars={"o": np.zeros(8, np.float32)}, device=open_device())
    found.assert_clean()
    assert found.difference == "different"
    assert "frac on line 4 makes much of a float's last digit" in found.notes[0]


def test_an_open_device_runs_it_in_this_process_and_gives_its_buffers():
    device = open_device()
    numbers = device.create_buffer(element_count=8, struct_size=4, usage=_usage())
    numbers.copy_from_numpy(np.arange(8, dtype=np.float32))
    source = """StructuredBuffer<float> a; RWStructuredBuffer<float> o;
    [shader("compute")] [numthreads(8, 1, 1)] void main(uint3 t : SV_GroupThreadID) { o[t.x] = 2 * a[t.x]; }"""
    found = splatscope.record(source=source, vars={"a": numbers, "o": np.zeros(8)}, device=device)
    assert found.outputs["o"].tolist() == [2 * i for i in range(8)]


def _usage():
    """Return the usage of a buffer that a kernel reads and writes."""
    return spy.BufferUsage.shader_resource | spy.BufferUsage.unordered_access | spy.BufferUsage.copy_source


def test_a_tensor_of_another_library_is_copied():
    class Tensor:
        """What exports DLPack and nothing else."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **more):
            return self.array.__dlpack__(**more)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    found = splatscope.record(source=KERNEL, vars=GIVEN | {"o": Tensor(np.full(8, 9, np.float32))})
    assert found.outputs["o"].shape == (8,)
    with pytest.raises(TypeError, match="o is a object: give numbers"):
        splatscope.record(source=KERNEL, vars=GIVEN | {"o": object()})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Give either a file or a source"),
        ({"source": KERNEL, "groups": (0, 1, 1)}, "groups are up to three numbers from 1"),
        ({"source": KERNEL, "group": (1, 0, 0)}, "is not one of"),
        ({"source": KERNEL, "group": "some"}, "not “some”"),
        ({"file": "nowhere.slang"}, "nowhere.slang cannot be read"),
        ({"source": KERNEL, "vars": {"m": 1}}, "no parameter m"),
        ({"source": KERNEL, "vars": [1]}, "vars takes a dict, not a list"),
        ({"source": KERNEL, "constants": {"Q": 1}}, "no link-time constant"),
        ({"source": KERNEL, "functions": ["nope"]}, "There is no function nope. There is main"),
        ({"source": KERNEL, "conformances": ["A"]}, "A conformance is"),
        ({"source": KERNEL, "timeout": -1}, "seconds above 0"),
        (
            {"source": KERNEL.replace("void main(", "void main<T : IInteger>(")},
            r"generic parameters \(T : IInteger\): name their types",
        ),
        ({"source": KERNEL, "device": "no such card"}, "no such card"),
        ({"source": KERNEL, "entry": "other"}, "other"),
        ({"source": KERNEL.replace("scale *", "scal *")}, re.escape("undefined identifier 'scal'")),
    ],
)
def test_a_wrong_call_says_what_is_wrong(options, words):
    with pytest.raises((ValueError, RuntimeError), match=words):
        splatscope.record(**options)


def test_a_kernel_that_does_not_end_costs_a_worker_and_no_more():
    source = """RWStructuredBuffer<uint> o;
    void spin() { while (o[0] < 5) {} }
    [shader("compute")] [numthreads(1, 1, 1)] void main() { spin(); o[1] = 1; }"""
    found = splatscope.record(source=source, timeout=60)
    assert "timeout" in {finding.kind for finding in found.findings}


def test_a_worker_that_hangs_or_dies_is_replaced():
    with pytest.raises(ChildTimeout):
        workers.run_on_worker(time.sleep, 60, limit=0.2)
    with pytest.raises(ChildCrashed, match="SIGABRT"):
        workers.run_on_worker(os.abort, limit=GUARD)
    assert workers.run_on_worker(abs, -3, limit=GUARD) == 3


def test_a_worker_may_say_much_at_once(monkeypatch):
    """An answer that arrives together with what was reported before it is not left in a buffer."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))  # where a worker finds `helpers`
    workers.stop_workers()
    stages: list[int] = []
    for _ in range(20):
        with pytest.raises(ZeroDivisionError):
            workers.run_on_worker(report_and_fail, limit=GUARD, on_progress=stages.append)
    assert stages == [0, 1, 2] * 20
    assert len(workers.run_on_worker(bytes, 5_000_000, limit=GUARD)) == 5_000_000


WAVE = """RWStructuredBuffer<uint> o;
[shader("compute")] [numthreads(32, 1, 1)] void main(uint lane : SV_GroupIndex) {{ o[lane] = WaveActiveSum(1u); }}  // {}
"""


def test_widths_of_waves_that_follow_each_other_leave_nothing_behind():
    """The driver reads its options once a process, and would go on with a part of them."""
    if not open_device().info.adapter_name.startswith("llvmpipe"):
        pytest.skip("only Mesa's software driver has waves of several widths")
    own = open_device().info.limits.min_wave_size
    for number, (device, width) in enumerate(
        {"llvmpipe:4": 4, "llvmpipe": own, "llvmpipe:16": 16, "llvmpipe:4 ": 4, "": own}.items()
    ):
        found = splatscope.record(source=WAVE.format(number), device=device or None)
        assert found.outputs["o"][:32].tolist() == [width] * 32


def test_a_process_refuses_a_second_set_of_options():
    code = "from splatscope.gpu.device import open_device; open_device({!r}); open_device({!r})"
    for first, second in (("llvmpipe", "llvmpipe:4"), ("llvmpipe:4", "llvmpipe")):
        ended = subprocess.run([sys.executable, "-c", code.format(first, second)], capture_output=True, text=True, check=False)
        assert "DeviceError: The software driver of this process runs with other options" in ended.stderr


def test_a_worker_outlives_the_thread_that_asked_for_it():
    workers.stop_workers()
    found: list[int] = []
    for _ in range(3):
        thread = threading.Thread(target=lambda: found.append(workers.run_on_worker(os.getpid, limit=GUARD)))
        thread.start()
        thread.join()
        time.sleep(0.2)
    assert len(set(found)) == 1


def test_a_script_needs_no_main_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"import splatscope\nprint(splatscope.record(source={KERNEL!r}).events)\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0
    assert done.stderr == ""


def test_importing_it_opens_nothing():
    code = "import splatscope, sys; print(sorted(splatscope.__all__), 'slangpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.endswith("False\n")
    assert "record" in done.stdout


def test_one_busy_thread_of_each_group_has_room():
    """As in "thread 0 adds up the group": equal parts of the records would be full."""
    source = """RWStructuredBuffer<int> data; RWStructuredBuffer<int> sums; groupshared int tile[512];
[numthreads(512, 1, 1)]
void main(uint3 group : SV_GroupID, uint3 id : SV_DispatchThreadID, uint lane : SV_GroupIndex)
{
    tile[lane] = data[id.x];
    GroupMemoryBarrierWithGroupSync();
    if (lane == group.x) for (uint i = 0; i < 4096; i++) sums[group.x] += tile[i & 511];
}
"""
    for groups, group in ((1, (0, 0, 0)), (3, "all")):
        found = splatscope.record(source=source, groups=groups, group=group, vars={"data": np.ones(2048, np.int32)})
        assert found.complete, found.missed
        assert found.outputs["sums"][:groups].tolist() == [4096] * groups


@pytest.mark.parametrize("groups", [1, 3])
def test_as_many_records_as_are_advised_are_enough(groups):
    def found(budget):
        source = KERNEL.replace("o[t.x] = scale * particles[t.x].at.y;", "for (uint i = 0; i < 1000; i++) o[t.x] += scale * i;")
        group = "all" if groups > 1 else (0, 0, 0)
        return splatscope.record(source=source, vars=GIVEN, groups=groups, group=group, budget=budget)

    (advice,) = re.findall(r"Allow ([\d,]+) records", str(found(1000)))
    assert found(int(advice.replace(",", ""))).truncated is False


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("data.Store<float3>(i * 16, float3(1, 2, 3));", "Thread 6 writes data at byte 96 of 96 on line 3, which is outside."),
        ("data.Store3(i * 16 - 4, uint3(1, 2, 3));", "Thread 0 writes data at byte -4 of 96 on line 3, which is outside: "),
        (
            "data.Store3(i * 16 + 8, uint3(1, 2, 3));",
            "data at byte 88 of 96 on line 3, and the access ends outside.",
        ),
        ("uint old; data.InterlockedAdd(i * 16, 1, old);", "Thread 6 writes data at byte 96 of 96 on line 3, which is outside."),
        ("data.Store(i * 4, data.Load(i * 16));", "Thread 6 reads data at byte 96 of 96 on line 3, which is outside."),
        ("put(data, i * 16);", "data at byte 96 of 96 on line 4, which is outside."),
    ],
)
def test_an_address_outside_is_told_in_bytes(statement, words):
    source = (
        "RWByteAddressBuffer data;\n[numthreads(8, 1, 1)]\n"
        f"void main(uint i : SV_GroupIndex) {{ {statement} }}\n"
        "void put(RWByteAddressBuffer to, uint at) { to.Store(at, 1); }\n"
    )
    found = splatscope.record(source=source, vars={"data": np.zeros(24, np.uint32)})
    (outside,) = (finding for finding in found.findings if finding.kind == "out-of-bounds")
    assert words in outside.message


@pytest.mark.parametrize("most", [record_and_check.MOST_WIDE, 3000])
def test_a_finding_counts_in_all_groups(monkeypatch, most, tmp_path):
    """Also if there is room for only some groups at once, and when it is loaded."""
    monkeypatch.setattr(record_and_check, "MOST_WIDE", most)
    source = (
        "RWTexture2D<float> picture; RWStructuredBuffer<float> o;\n[numthreads(8, 1, 1)]\n"
        "void main(uint3 t : SV_DispatchThreadID)\n{\n    picture[uint2(t.x, 99)] = 1;\n    o[t.x + 990] = 1;\n}\n"
    )
    given = {"picture": np.zeros((8, 64), np.float32), "o": np.zeros(1000, np.float32)}
    found = splatscope.record(source=source, vars=given, groups=8, budget=most, device=open_device())
    assert [(finding.name, finding.count) for finding in found.findings] == [("picture", 64), ("o", 54)]
    found.save(tmp_path / "r.npz")
    assert splatscope.load(tmp_path / "r.npz").findings == found.findings
    alone = splatscope.record(source=source, vars=given, groups=8, group=(1, 0, 0), device=open_device())
    assert [(finding.name, finding.count) for finding in alone.findings] == [("picture", 8), ("o", 6)]
