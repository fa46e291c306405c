"""What a program dispatches through SlangPy is captured: kernels, compute passes, functions, with the inputs of that moment."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import slangpy as spy

from splatscope import capture
from splatscope.api.capturing import reading
from splatscope.api.capturing.programs import folder_of
from splatscope.gpu.device import open_device

SHADED = spy.BufferUsage.unordered_access | spy.BufferUsage.shader_resource

MIX = """
struct Light { float3 at; uint id; half power; };
struct Scene { float3 centre; float gain; };
ParameterBlock<Scene> scene;
RWStructuredBuffer<float> o;
StructuredBuffer<Light> lights;
ByteAddressBuffer words;
Buffer<uint> texels;
Texture2D<float4> picture;
RWTexture2D<float> map;
SamplerState sampler;
float2x3 turn;
int steps[3];
bool on;
uint64_t wide;
[shader("compute")]
[numthreads(4, 1, 1)]
void mix(uint3 t : SV_DispatchThreadID, uniform float k, uniform StructuredBuffer<float> offsets)
{
    float light = lights[1].at.z + float(lights[1].id) + float(lights[0].power);
    float pixel = picture[t.xy].x + picture.SampleLevel(sampler, float2(0.5), 1).y + map[t.xy];
    o[t.x] = k * scene.gain + offsets[t.x] + light + pixel + float(words.Load(4)) + float(texels[3]);
    o[t.x] += turn[1][2] + float(steps[2]) + (on ? 1 : 0) + float(wide >> 40);
}
"""

STEP = """
RWStructuredBuffer<uint> o;
[shader("compute")]
[numthreads(4, 1, 1)]
void step(uint3 t : SV_DispatchThreadID, uniform uint by)
{
    o[t.x] = o[t.x] * by + t.x;
}
"""

MATHS = """
import "slangpy";
struct Ball { float3 at; float3 speed; [mutating] void move(float dt) { at += dt * speed; } }
[Differentiable] float parabola(float a, float x) { return a * x * x; }
float4 look(Texture2D<float4> picture, SamplerState sampler, float2 at) { return picture.SampleLevel(sampler, at, 0); }
float place(int2 id, float x) { return 10 * id.x + id.y + x; }
void fill(uint3 dispatchThreadID, RWStructuredBuffer<float> o, float k) { o[dispatchThreadID.x] = k; }
"""


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> spy.Device:
    return spy.create_device(open_device().info.type, include_paths=[tmp_path_factory.mktemp("shaders")])


def kernel_of(device: spy.Device, source: str, name: str, entry: str = "step") -> spy.ComputeKernel:
    module = device.load_module_from_source(name, source)
    return device.create_compute_kernel(device.link_program([module], [module.entry_point(entry)]))


def buffer_of(device: spy.Device, array: np.ndarray, stride: int = 4, **options) -> spy.Buffer:
    buffer = device.create_buffer(size=array.nbytes, struct_size=0 if options else stride, usage=SHADED, **options)
    buffer.copy_from_numpy(array)
    return buffer


def numbers(buffer: spy.Buffer, dtype: type = np.uint32) -> list:
    return buffer.to_numpy().view(dtype).tolist()


def test_a_kernel_is_captured_with_all_that_it_is_given(device):
    lights = np.zeros(2, {"names": ["at", "id", "power"], "formats": ["3f4", "u4", "f2"], "offsets": [0, 12, 16], "itemsize": 32})
    lights["at"], lights["id"], lights["power"] = [[1, 2, 3], [4, 5, 6]], [7, 8], 1.5
    pixels = np.arange(128, dtype=np.uint8).reshape(4, 8, 4)
    picture = device.create_texture(
        format=spy.Format.rgba8_unorm, width=8, height=4, mip_count=2, usage=spy.TextureUsage.shader_resource
    )
    picture.copy_from_numpy(pixels)
    picture.copy_from_numpy(np.ascontiguousarray(pixels[::2, ::2]), mip=1)
    map_ = device.create_texture(format=spy.Format.r32_float, width=8, height=4, usage=spy.TextureUsage.unordered_access)
    map_.copy_from_numpy(np.arange(32, dtype=np.float32).reshape(4, 8))
    out = buffer_of(device, np.zeros(8, np.float32))
    given = {
        "scene": {"centre": spy.float3(1, 2, 3), "gain": 2.0},
        "o": out,
        "lights": buffer_of(device, lights.view(np.uint8), 32),
        "words": buffer_of(device, np.arange(4, dtype=np.uint32), 0),
        "texels": buffer_of(device, np.arange(4, dtype=np.uint32), format=spy.Format.r32_uint),
        "picture": picture,
        "map": map_,
        "sampler": device.create_sampler(address_u=spy.TextureAddressingMode.clamp_to_edge),
        "turn": np.arange(6, dtype=np.float32).reshape(2, 3),
        "steps": [1, 2, 3],
        "on": True,
        "wide": 9 << 40,
    }
    offsets = buffer_of(device, np.arange(8, dtype=np.float32))
    kernel = kernel_of(device, MIX, "mix", "mix")
    with capture() as captured:
        kernel.dispatch([7, 1, 1], given, k=3.0, offsets=offsets)
    (recording,) = captured.recordings
    assert captured.missed == []
    assert recording.findings == []
    assert recording.not_given == []
    assert recording.outputs["o"].tolist() == numbers(out, np.float32)
    assert recording.outputs["o"][7] != 0  # of the second workgroup: 7 threads are 2 groups of 4
    assert recording.same_as_plain
    inputs = recording.recorded.job.inputs
    assert inputs["o"].tolist() == [0] * 8
    assert inputs["scene.centre"].tolist() == [1, 2, 3]
    assert inputs["picture.mip1"].shape == (2, 4, 4)
    assert str(inputs["sampler.address"]) == "clamp"


def test_in_a_pass_each_dispatch_has_the_inputs_that_the_one_before_left(device):
    def steps() -> spy.Buffer:
        out = buffer_of(device, np.ones(8, np.uint32))
        kernel = kernel_of(device, STEP, "step")
        encoder = device.create_command_encoder()
        with encoder.begin_compute_pass() as compute_pass:
            cursor = spy.ShaderCursor(compute_pass.bind_pipeline(kernel.pipeline))
            cursor.o = out
            entry = cursor.find_entry_point(0)
            entry.by = 3
            compute_pass.dispatch([8, 1, 1])
            entry["by"] = 5
            compute_pass.dispatch_compute([1, 1, 1])
        kernel.dispatch([4, 1, 1], {"o": out}, encoder, by=7)
        device.submit_command_buffer(encoder.finish())
        return out

    without = numbers(steps())
    with capture() as captured:
        assert numbers(steps()) == without
    assert captured.missed == []
    first, second, third = captured.recordings
    assert first.recorded.job.inputs["o"].tolist() == [1] * 8
    assert [one.recorded.job.groups for one in captured.recordings] == [(2, 1, 1), (1, 1, 1), (1, 1, 1)]
    for before, after in ((first, second), (second, third)):
        assert after.recorded.job.inputs["o"].tolist() == before.outputs["o"].tolist()
    assert third.outputs["o"].tolist() == without


def test_a_root_object_that_is_bound_again_and_again_is_captured(device):
    kernel = kernel_of(device, STEP, "step")
    out = buffer_of(device, np.ones(4, np.uint32))
    with capture() as captured:
        root = device.create_root_shader_object(kernel.program)
        cursor = spy.ShaderCursor(root)
        cursor.write({"o": out})
        cursor.find_entry_point(0)["by"] = 2
        encoder = device.create_command_encoder()
        for _ in range(2):
            with encoder.begin_compute_pass() as compute_pass:
                compute_pass.bind_pipeline(kernel.pipeline, root)
                compute_pass.dispatch([4, 1, 1])
        device.submit_command_buffer(encoder.finish())
    assert captured.missed == []
    assert captured.recordings[1].outputs["o"].tolist() == numbers(out) == [4, 7, 10, 13]


def test_functions_are_captured_as_they_are_called(device):
    module = spy.Module.load_from_source(device, "maths", MATHS)
    x = spy.Tensor.from_numpy(device, np.arange(4, dtype=np.float32)).with_grads(zero=True)
    picture = device.create_texture(format=spy.Format.rgba32_float, width=2, height=2, usage=spy.TextureUsage.shader_resource)
    picture.copy_from_numpy(np.arange(16, dtype=np.float32).reshape(2, 2, 4))
    balls = spy.InstanceList(
        module.Ball.as_struct(),
        {"at": spy.Tensor.from_numpy(device, np.zeros((3, 3), np.float32)), "speed": spy.float3(1, 2, 3)},
    )
    with capture() as captured:
        result = module.parabola(2.0, x)
        result = result.with_grads()
        result.grad.copy_from_numpy(np.ones(4, np.float32))
        module.parabola.bwds(2.0, x, result)
        mapped = module.parabola.map((0,), (1,))(np.arange(2, dtype=np.float32), np.arange(3, dtype=np.float32), _result="numpy")
        seen = module.look(picture, device.create_sampler(), np.full((2, 2), 0.25, np.float32), _result="numpy")
        placed = module.place(spy.call_id(), np.zeros((2, 2), np.float32))
        balls.move(0.5)
        encoder = device.create_command_encoder()
        twice = spy.Tensor.empty(device, (4,), float)
        module.parabola.append_to(encoder, 2.0, x, _result=twice)
        module.parabola.append_to(encoder, 1.0, twice, _result=twice)
        device.submit_command_buffer(encoder.finish())
        filled = buffer_of(device, np.zeros(4, np.float32))
        module.fill.dispatch(spy.uint3(4, 1, 1), o=filled, k=2.5)
    assert captured.missed == []
    forward, backward, map_, look, place, move, once, again, fill = (one.outputs for one in captured.recordings)
    assert forward["_result._data"].tolist() == result.to_numpy().tolist() == [0, 2, 8, 18]
    gradient = backward["x._grad_out._data"]
    assert gradient.view(np.float32).tolist() == x.grad.to_numpy().tolist() == [0, 4, 8, 12]
    assert map_["_result._data"].tolist() == mapped.reshape(-1).tolist() == [0, 0, 0, 0, 1, 4]
    assert look["_result._data"].reshape(-1).tolist() == seen.reshape(-1).tolist()
    assert place["_result._data"].tolist() == placed.to_numpy().reshape(-1).tolist()
    assert move["_this.at._data"].reshape(-1)[:3].tolist() == [0.5, 1, 1.5]
    assert once["_result._data"].tolist() == [0, 2, 8, 18]
    assert again["_result._data"].tolist() == twice.to_numpy().tolist() == [0, 4, 64, 324]
    assert fill["o"].tolist() == numbers(filled, np.float32) == [2.5] * 4
    for recording in captured.recordings[:2]:
        assert recording.findings == []
        assert "parabola" in recording.recorded.functions


def test_the_workgroup_with_a_finding_is_the_one_that_is_recorded(device):
    racy = STEP.replace("o[t.x] = o[t.x] * by + t.x;", "if (t.x >= 4) o[0] = t.x + by;")
    kernel = kernel_of(device, racy, "racy")
    out = buffer_of(device, np.zeros(8, np.uint32))
    with capture() as captured:
        kernel.dispatch([8, 1, 1], {"o": out}, by=1)
    (recording,) = captured.recordings
    assert [finding.kind for finding in recording.findings] == ["race"]
    assert recording.trace.info.group == (1, 0, 0)
    with capture(group=(0, 0, 0)) as captured:
        kernel.dispatch([8, 1, 1], {"o": out}, by=1)
    assert captured.recordings[0].findings == []


def test_dispatches_are_chosen_by_kernel_and_number(device):
    one, other = kernel_of(device, STEP, "step"), kernel_of(device, STEP.replace("step", "other"), "other", "other")
    out = buffer_of(device, np.zeros(4, np.uint32))

    def chosen(**options) -> list[tuple[str, int]]:
        with capture(**options) as captured:
            for by in range(3):
                one.dispatch([4, 1, 1], {"o": out}, by=by)
                other.dispatch([4, 1, 1], {"o": out}, by=10 + by)
        assert captured.missed == []
        return [(r.trace.info.entry, int(r.recorded.job.inputs["by"])) for r in captured.recordings]

    assert chosen(kernel="other", when=1) == [("other", 11)]
    assert chosen(kernel=one, when=range(1, 3)) == [("step", 1), ("step", 2)]
    assert chosen(when=lambda name, threads, given: name == "step" and given["by"] == 2) == [("step", 2)]
    assert chosen(device=open_device()) == []


def test_a_kernel_that_is_never_dispatched_is_said_with_those_that_were(device):
    kernel, out = kernel_of(device, STEP, "step"), buffer_of(device, np.zeros(4, np.uint32))
    with capture(kernel="stepp") as captured:
        for _ in range(2):
            kernel.dispatch([4, 1, 1], {"o": out}, by=1)
    assert captured.recordings == []
    assert captured.missed == ["No dispatch was of stepp: there were step."]


def test_more_dispatches_than_a_script_wants_recorded_are_one_line(device):
    kernel, out = kernel_of(device, STEP, "step"), buffer_of(device, np.zeros(4, np.uint32))
    with capture() as captured:
        captured._seen = 32
        for _ in range(3):
            kernel.dispatch([4, 1, 1], {"o": out}, by=1)
    assert captured.recordings == []
    assert captured.missed == ["3 more dispatches were not captured, after the first 32: choose with when."]


def test_what_cannot_be_captured_is_one_line_and_runs_all_the_same(device):
    kernel, out = (
        kernel_of(
            device,
            MIX.replace("Texture2D<float4> picture", "TextureCube<float4> picture").replace(
                "picture[t.xy].x + picture.SampleLevel(sampler, float2(0.5), 1).y", "picture.SampleLevel(sampler, float3(1), 0).y"
            ),
            "cube",
            "mix",
        ),
        buffer_of(device, np.zeros(8, np.float32)),
    )
    step = kernel_of(device, STEP, "step")
    root_made_before = device.create_root_shader_object(step.program)
    spy.ShaderCursor(root_made_before).o = out
    spy.ShaderCursor(root_made_before).find_entry_point(0).by = 0
    with capture() as captured:
        kernel.dispatch([4, 1, 1], {"o": out, "on": True}, k=1.0)
        encoder = device.create_command_encoder()
        with encoder.begin_compute_pass() as compute_pass:
            compute_pass.bind_pipeline(step.pipeline, root_made_before)
            compute_pass.dispatch([4, 1, 1])
        device.submit_command_buffer(encoder.finish())
    assert captured.recordings == []
    assert captured.missed == [
        "mix, dispatch 0, was not captured: picture is a TextureCube<float4>, which cannot be copied.",
        "step, dispatch 1, was not captured: its root object was filled before the block began.",
    ]
    assert numbers(out)[:4] == [0, 1, 2, 3]


def test_a_sampler_that_only_another_kernel_of_the_file_uses_need_not_be_given(device):
    source = """
Texture2D<float4> picture;
SamplerState smooth;
RWStructuredBuffer<float> o;
[shader("compute")] [numthreads(4, 1, 1)] void sampled(uint3 t : SV_DispatchThreadID)
{
    o[t.x] = picture.SampleLevel(smooth, float2(0.5), 0).x;
}
[shader("compute")] [numthreads(4, 1, 1)] void loaded(uint3 t : SV_DispatchThreadID) { o[t.x] = picture[t.xy].x; }
"""
    picture = device.create_texture(
        format=spy.Format.r32_float, width=4, height=4, usage=spy.TextureUsage.shader_resource, data=np.ones((4, 4), np.float32)
    )
    given = {"picture": picture, "o": buffer_of(device, np.zeros(4, np.float32))}
    with capture() as captured:
        kernel_of(device, source, "load", "loaded").dispatch([4, 1, 1], given)
    assert captured.missed == []
    assert captured.recordings[0].outputs["o"].tolist() == [1, 1, 1, 1]
    with capture() as captured:
        kernel_of(device, source, "sample", "sampled").dispatch([4, 1, 1], given)
    assert captured.missed == ["sampled, dispatch 0, was not captured: its sampler smooth is not among what it is given by name."]


def test_a_function_that_touches_no_memory_itself_is_complete_beside_one_that_does(device):
    source = """
import "slangpy";
[Differentiable] float square(float x) { return x * x; }
float nth(StructuredBuffer<float> numbers, int n) { return numbers[n]; }
"""
    module = spy.Module.load_from_source(device, "beside", source)
    x = spy.Tensor.from_numpy(device, np.arange(4, dtype=np.float32)).with_grads()
    with capture() as captured:
        y = spy.Tensor.from_numpy(device, np.zeros(4, np.float32)).with_grads()
        module.square(x, _result=y)
        y.grad.copy_from_numpy(np.ones(4, np.float32))
        module.square.bwds(x, y)
    assert captured.missed == []
    assert [recording.missed for recording in captured.recordings] == [[], []]
    assert x.grad.to_numpy().tolist() == [0, 2, 4, 6]


RAW = """import "slangpy";
extern static const uint UNUSED;
uint unused() { return UNUSED; }
int sum(int a, int b) { return a + b; }
void fill(uint3 dispatchThreadID, RWStructuredBuffer<uint> o) { o[dispatchThreadID.x] = 7; }
[shader("compute")]
[numthreads(32, 1, 1)]
void racy(uint3 id : SV_DispatchThreadID, RWStructuredBuffer<uint> o) { o[id.x] = o[0] + 1; }
"""


@pytest.fixture
def raw(device, tmp_path) -> spy.Module:
    file = tmp_path / "raw.slang"
    file.write_text(RAW)
    return spy.Module(device.load_module(str(file)))


def test_kernels_of_a_module_that_are_dispatched_raw_are_captured(device, raw):
    out = buffer_of(device, np.zeros(32, np.uint32))
    with capture() as captured:
        raw.racy.dispatch(spy.uint3(32, 1, 1), o=out)
        raw.fill.dispatch(spy.uint3(32, 1, 1), o=out)
    assert captured.missed == []
    racy, fill = captured.recordings
    assert [(finding.kind, finding.file, finding.line) for finding in racy.findings] == [("race", "raw.slang", 8)]
    assert fill.findings == []
    assert fill.outputs["o"].tolist() == [7] * 32


def test_a_function_is_captured_beside_a_constant_that_nothing_uses(raw):
    with capture() as captured:
        assert raw.sum(1, 2) == 3
    assert captured.missed == []
    captured.recordings[0].assert_clean()


def test_what_was_read_once_is_not_compiled_again_in_the_next_block_until_its_device_closes(raw, monkeypatch, tmp_path):
    compiled = []
    compile_ = reading._compiled
    monkeypatch.setattr(reading, "_compiled", lambda *arguments: compiled.append(arguments) or compile_(*arguments))
    for _ in range(2):
        with capture() as captured:
            raw.sum(1, 2)
        assert captured.missed == []
    assert len(compiled) == 1
    other = spy.create_device(raw.device.info.type, include_paths=[tmp_path])
    with capture():
        spy.Module(other.load_module("raw.slang")).sum(1, 2)
    assert (len(compiled), other in reading._kept) == (2, True)
    other.close()
    assert other not in reading._kept


def test_errors_of_the_program_are_its_own_and_slangpy_is_as_before(device):
    names = [(spy.ComputeKernel, "dispatch"), (spy.ShaderCursor, "__setattr__"), (spy.ComputePassEncoder, "bind_pipeline")]
    before = [owner.__dict__[name] for owner, name in names]
    kernel = kernel_of(device, STEP, "step")
    out = buffer_of(device, np.ones(4, np.uint32))

    def fail() -> None:
        with capture() as captured:
            held.append(captured)
            kernel.dispatch([4, 1, 1], {"o": out}, by=1)
            raise ZeroDivisionError

    held: list = []
    with pytest.raises(ZeroDivisionError):
        fail()
    assert [owner.__dict__[name] for owner, name in names] == before
    assert len(held[0].recordings) == 1
    with pytest.raises(ValueError, match="three numbers or “all”"), capture(group="some"):
        pass
    with pytest.raises(ValueError, match="predicate"), capture(when="never"):
        pass


def test_macros_constants_and_types_are_those_of_the_program(device, tmp_path):
    (tmp_path / "shape.slang").write_text("public interface IShape { float area(); }\n")
    (tmp_path / "areas.slang").write_text(
        "import shape;\nextern static const int N = 1;\nRWStructuredBuffer<float> o;\n"
        "struct Square : IShape { float edge; float area() { return edge * edge; } }\n"
        '[shader("compute")]\n[numthreads(2, 1, 1)]\n'
        "void areas<S : IShape>(uint3 t : SV_DispatchThreadID, uniform S shape) { o[t.x] = shape.area() * N + SHIFT; }\n"
    )
    session = device.create_slang_session(compiler_options={"include_paths": [tmp_path], "defines": {"SHIFT": "0.5"}})
    module = session.load_module("areas.slang")
    count = session.load_module_from_source("count", "export static const int N = 3;")
    entry = module.entry_point("areas").specialize([spy.SpecializationArg.from_type("Square")])
    kernel = device.create_compute_kernel(session.link_program([module, count], [entry]))
    out = buffer_of(device, np.zeros(2, np.float32))
    with capture() as captured:
        kernel.dispatch([2, 1, 1], {"o": out}, shape={"edge": 2.0})
    assert captured.missed == []
    (recording,) = captured.recordings
    assert recording.outputs["o"].tolist() == numbers(out, np.float32) == [12.5, 12.5]
    job = recording.recorded.job
    assert (job.file, job.constants, job.defines, job.arguments) == ("areas.slang", {"N": 3}, {"SHIFT": "0.5"}, ("Square",))


def test_a_kernel_that_prints_is_captured_without_its_printer():
    device = spy.create_device(open_device().info.type, enable_print=True)
    source = "import sgl.device.print;\n" + STEP.replace("o[t.x] =", 'print("{}", t.x);\n    o[t.x] =')
    kernel, out = kernel_of(device, source, "printing"), buffer_of(device, np.ones(4, np.uint32))
    with capture() as captured:
        kernel.dispatch([4, 1, 1], {"o": out}, by=2)
    device.flush_print_to_string()
    assert captured.missed == []
    assert captured.recordings[0].outputs["o"].tolist() == numbers(out) == [2, 3, 4, 5]


SCRIPT = """
import slangpy as spy, numpy as np
device = spy.create_device(spy.DeviceType.{type}, include_paths=[{folder!r}])
file = device.create_compute_kernel(device.load_program("step.slang", ["step"]))
module = device.load_module_from_source("text", open({folder!r} + "/step.slang").read().replace("step", "other"))
text = device.create_compute_kernel(device.link_program([module], [module.entry_point("other")]))
import splatscope
out = device.create_buffer(size=16, struct_size=4, usage=spy.BufferUsage.unordered_access)
with splatscope.capture() as captured:
    file.dispatch([4, 1, 1], {{"o": out}}, by=1)
    text.dispatch([4, 1, 1], {{"o": out}}, by=1)
print([r.trace.info.file for r in captured.recordings], captured.missed)
"""


def test_a_program_that_was_loaded_before_is_known_by_its_file(device, tmp_path):
    (tmp_path / "step.slang").write_text(STEP)
    (tmp_path / "script.py").write_text(SCRIPT.format(type=device.info.type.name, folder=str(tmp_path)))
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=300)
    line = "other, dispatch 1, was not captured: the source of module text is not known: load it after "
    line += "`from splatscope import capture`."
    assert done.stdout == f"['step.slang'] ['{line}']\n", done.stderr


def test_a_program_that_is_loaded_after_capture_is_imported_is_known(device, tmp_path):
    (tmp_path / "step.slang").write_text(STEP)
    script = "from splatscope import capture\n" + SCRIPT
    (tmp_path / "script.py").write_text(script.format(type=device.info.type.name, folder=str(tmp_path)))
    done = subprocess.run([sys.executable, Path(tmp_path / "script.py")], capture_output=True, text=True, timeout=300)
    assert done.stdout == "['step.slang', 'text.slang'] []\n", done.stderr


def test_importing_splatscope_leaves_slangpy_alone():
    script = "import slangpy as spy\nload = spy.Device.load_module_from_source\nimport splatscope\n"
    compare = "print(load is spy.Device.load_module_from_source)\n"
    script += f"{compare}splatscope.capture\n{compare}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.stdout == "True\nFalse\n", done.stderr


CBUFFER = """
RWStructuredBuffer<float> o;
cbuffer Params { float2 direction; int steps; Texture2D<float> picture; }
[shader("compute")] [numthreads(4, 1, 1)]
void step(uint3 t : SV_DispatchThreadID) { o[t.x] = direction.x * steps + picture[uint2(0, 0)]; }
"""


def test_what_is_in_a_cbuffer_is_captured(device):
    kernel = kernel_of(device, CBUFFER, "in_a_cbuffer")
    out = device.create_buffer(element_count=4, struct_size=4, usage=SHADED)
    picture = device.create_texture(width=1, height=1, format=spy.Format.r32_float, usage=spy.TextureUsage.shader_resource)
    picture.copy_from_numpy(np.full((1, 1), 0.5, np.float32))
    with capture() as captured:
        kernel.dispatch([4, 1, 1], {"o": out, "Params": {"direction": [1.5, 0], "steps": 2, "picture": picture}})
    assert captured.missed == []
    (recording,) = captured.recordings
    assert recording.outputs["o"].tolist() == [3.5] * 4 == out.to_numpy().view(np.float32).tolist()


TENSORS = """
import slangpy;
void scatter(int i, RWTensor<float, 1> t) { t[(i + 1) % 64] = float(i); }
void own(int i, inout float x) { x += i; }
"""


def test_what_functions_do_through_tensors_is_not_called_clean(device):
    module = spy.Module(device.load_module_from_source("tensors", TENSORS))
    tensor = spy.Tensor.zeros(device, dtype=float, shape=(64,))
    with capture() as captured:
        module.scatter(spy.grid((64,)), tensor)
        module.own(spy.grid((64,)), tensor)
    scattered, own = captured.recordings
    assert [words.partition(". ")[0] for words in scattered.missed] == ["tensors.slang, line 3: t is a tensor of SlangPy"]
    assert scattered.verdict == "Nothing found in what was recorded"
    assert (own.missed, own.verdict) == ([], "Nothing found")


def test_no_file_that_a_device_watches_is_written_twice():
    """Otherwise a device with hot reload would reload, and the program's own tensors and functions would be invalid."""
    folder = folder_of({"a.slang": "// one", "deep/b.slang": "// two"})
    times = {file: file.stat().st_mtime_ns for file in folder.rglob("*.slang")}
    assert folder_of({"deep/b.slang": "// two", "a.slang": "// one"}) == folder
    assert times == {file: file.stat().st_mtime_ns for file in folder.rglob("*.slang")}
    assert len(times) == 2
