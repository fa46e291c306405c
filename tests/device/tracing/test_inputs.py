"""Inputs: names completed, numbers converted, structs and textures laid out, and clear refusals."""

import numpy as np
import pytest

from splatscope.api.recording import Recording
from splatscope.gpu.device import open_device
from splatscope.tracing.inputs import flat
from splatscope.tracing.job import KernelJob
from splatscope.tracing.record_and_check import record_and_check
from splatscope.tracing.recording import record


@pytest.fixture(scope="module")
def device():
    """A device, opened by tests of this process once."""
    return open_device()


SCENE = """
struct Light { float3 at; float power; };
cbuffer CB { uint n; float scale; Light lights[2]; float4 rows[3]; float loose[3]; };
struct Particle { float2 at; uint id; Light own; };
struct Block { StructuredBuffer<float> weights; float gain; };
ParameterBlock<Block> block;
RWStructuredBuffer<Particle> particles;
RWStructuredBuffer<float> o;
[shader("compute")]
[numthreads(4, 1, 1)]
void main(uint3 t : SV_GroupThreadID, uniform float bias)
{
    if (t.x >= n)
        return;
    o[t.x] = scale * lights[1].at.y + rows[2].z + loose[1] + particles[t.x].own.power + block.weights[0] * block.gain + bias;
    particles[t.x].id += 1;
}
"""
GIVEN = {
    "CB": {"n": 3, "scale": 2.5, "rows": np.arange(12).reshape(3, 4), "loose": [1, 2, 3]}
    | {"lights": [{"at": [1, 2, 3]}, {"at": [4, 5, 6], "power": 1}]},
    "particles": [{"at": [1, 2], "id": i, "own": {"power": 0.5}} for i in range(4)],
    "block": {"weights": [3.0], "gain": 10},
    "bias": 100,
}
EXPECTED = 2.5 * 5 + 10 + 2 + 0.5 + 30 + 100


def test_blocks_arrays_of_structs_and_uniforms_arrive(device):
    recording = record(device, KernelJob(SCENE, inputs=flat(GIVEN)))
    assert recording.arrays["o"][:4].tolist() == [EXPECTED] * 3 + [0]
    assert recording.arrays["particles"]["id"].tolist() == [1, 2, 3, 3]
    assert recording.arrays["particles"]["own"]["power"].tolist() == [0.5] * 4
    assert recording.same_as_plain


def test_a_structured_array_and_short_names_give_the_same(device):
    particles = np.zeros(4, [("id", np.int64), ("at", np.float64, 2), ("own", [("power", float)])])
    particles["id"], particles["own"]["power"] = range(4), 0.5
    short = {f"CB.{name}" if name == "lights" else name: value for name, value in GIVEN["CB"].items()}
    given = GIVEN | {"particles": particles, "weights": [3.0], "gain": 10} | short
    recording = record(device, KernelJob(SCENE, inputs=flat({k: v for k, v in given.items() if k not in ("CB", "block")})))
    assert recording.arrays["o"][:4].tolist() == [EXPECTED] * 3 + [0]


def test_bit_patterns_become_numbers_of_the_members_type(device):
    words = {"CB.n": np.array([3], np.uint32), "CB.scale": np.array([2.5], np.float32).view(np.uint32)}
    given = flat(GIVEN) | {name: value.view("V4") for name, value in words.items()}
    assert record(device, KernelJob(SCENE, inputs=given)).arrays["o"][0] == EXPECTED


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"many": 3}, "no parameter many"),
        ({"CB": {"scal": 3}}, "Did you mean CB.scale"),
        ({"cb.SCALE": 3}, "Did you mean CB.scale"),
        ({"n": [1, 2]}, "CB.n is a uint: it takes one number, not 2"),
        ({"n": 2.5}, "2.5 does not fit"),
        ({"n": -1}, "-1 does not fit"),
        ({"lights[1]": np.zeros(13, np.uint32)}, "is a Light: it has 16 bytes, not 52"),
        ({"lights[1]": [1, 2, 3, 4, 5]}, "is a Light: it takes dicts"),
        ({"n": 2**32}, "4294967296 does not fit"),
        ({"CB": {"lights": [{}, {}, {"power": 1}]}}, "CB.lights has 2 elements, not 3"),
        ({"particles": [{"where": [1, 2]}]}, "there is no member where; there are at, id, own"),
        ({"n": 1, "CB": {"n": 2}}, "CB.n is given twice"),
    ],
)
def test_what_does_not_fit_is_said(device, given, words):
    with pytest.raises(ValueError, match=words):
        record(device, KernelJob(SCENE, inputs=flat(given)))


def test_an_ambiguous_short_name_is_refused(device):
    source = """struct A { float x; }; cbuffer P { A p; }; cbuffer Q { A q; }; RWStructuredBuffer<float> o;
    [shader("compute")] [numthreads(1, 1, 1)] void main() { o[0] = p.x + q.x; }"""
    with pytest.raises(ValueError, match=r"x may be P.p.x, Q.q.x: give the whole name"):
        record(device, KernelJob(source, inputs=flat({"x": 1})))


TEXTURES = """
Texture2D<float4> picture; Texture2DArray<float> layers; Texture3D<float2> volume; RWTexture2D<float> drawn; SamplerState sampler;
RWStructuredBuffer<float4> o;
[shader("compute")]
[numthreads(4, 1, 1)]
void main(uint3 t : SV_GroupThreadID)
{
    uint width, height, levels;
    picture.GetDimensions(0, width, height, levels);
    o[0] = float4(width, height, levels, layers[uint3(1, 0, 1)]);
    o[1] = picture[uint2(2, 1)];
    o[2] = picture.Load(int3(1, 0, 1));
    o[3] = float4(volume[uint3(1, 0, 1)], picture.SampleLevel(sampler, float2(-0.25, 0.5 / 4), 0).rg);
    drawn[uint2(t.x, 1)] = drawn[uint2(t.x, 0)] + 1;
}
"""


@pytest.mark.parametrize(("address", "column"), [("clamp", 0), ("wrap", 3)])
def test_textures_have_their_size_levels_layers_and_sampler(device, address, column):
    picture = np.arange(4 * 4 * 3, dtype=np.uint8).reshape(4, 4, 3)
    given = {
        "picture": picture,
        "picture.mip1": np.full((2, 2, 3), 51, np.uint8),
        "layers": np.arange(12).reshape(2, 2, 3),
        "volume": np.arange(16.0).reshape(2, 2, 2, 2),
        "drawn": np.arange(8.0).reshape(2, 4),
        "sampler": {"filter": "point", "address": address},
    }
    found = record(device, KernelJob(TEXTURES, inputs=flat(given)))
    o = found.arrays["o"]
    assert o[0].tolist() == [4, 4, 2, given["layers"][1, 0, 1]]
    assert o[1] == pytest.approx([*picture[1, 2] / 255, 1])
    assert o[2] == pytest.approx([0.2, 0.2, 0.2, 1])
    assert o[3].tolist() == pytest.approx([*given["volume"][1, 0, 1], *picture[0, column, :2] / 255])
    assert found.arrays["drawn"].tolist() == [[0, 1, 2, 3], [1, 2, 3, 4]]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"picture": np.zeros((3, 3, 5))}, "picture holds 4 numbers a texel, the array 5"),
        ({"volume": np.zeros((3, 3, 3, 3, 2))}, "volume takes an array of 3 or 4 axes"),
        ({"sampler": {"filter": "best"}}, "filter is one of point, linear"),
        ({"picture": np.zeros((4, 4, 4)), "picture.mip1": np.zeros((3, 3, 4))}, "picture.mip1 takes 2 × 2 texels"),
        ({"picture": np.zeros((2, 2, 4)), "picture.format": "rgb5"}, "there is no format rgb5"),
        ({"picture": np.zeros(4 * 33 * 32, np.float32)}, r"picture is a texture: it takes an array of shape \(height, width, comp"),
    ],
)
def test_a_texture_that_does_not_fit_is_refused(device, given, words):
    with pytest.raises(ValueError, match=words):
        record(device, KernelJob(TEXTURES, inputs=flat(given)))


GENERIC = """
interface IShape { float area(); }
struct Square : IShape { float side; float area() { return side * side; } }
extern static const uint N;
extern static const float K = 2.0;
RWStructuredBuffer<float> o;
[shader("compute")]
[numthreads(4, 1, 1)]
void main<S : IShape>(uint3 t : SV_GroupThreadID)
{
    S s = S();
    o[t.x] = N * K * FACTOR + s.area();
}
"""


def test_constants_defines_and_arguments_reach_the_compiler(device):
    job = KernelJob(GENERIC, constants={"N": 4}, defines={"FACTOR": "10"}, arguments=("Square",))
    recording = record(device, job)
    assert recording.arrays["o"][:4].tolist() == [80] * 4
    assert recording.same_as_plain


TILES = """
RWStructuredBuffer<T> o;
[shader("compute")]
[numthreads(N, 1, 1)]
void main(uint3 t : SV_GroupThreadID) { o[t.x] = T(site / (t.x + 1)); }
"""


def test_a_macro_may_have_a_name_that_the_recorder_uses(device):
    recording = record(device, KernelJob(TILES, defines={"T": "uint", "N": "8", "site": "80", "v": "site"}))
    assert recording.arrays["o"][:8].tolist() == [80 // (i + 1) for i in range(8)]
    assert recording.same_as_plain


MATRICES = """
cbuffer Frame { float4x4 camera; float2x3 tall; };
struct Turn { float3x3 by; };
ParameterBlock<Turn> turn;
RWStructuredBuffer<float4> o;
[shader("compute")]
[numthreads(1, 1, 1)]
void main(uniform float3x3 own)
{
    o[0] = mul(camera, float4(1, 2, 3, 4));
    o[1] = float4(mul(turn.by, float3(1, 2, 3)), mul(own, float3(1, 2, 3)).y);
    o[2] = float4(mul(tall, float3(1, 2, 3)), 0, 0);
}
"""


@pytest.mark.parametrize("form", [np.asarray, np.ravel, lambda m: m.tolist()])
def test_matrices_arrive_by_rows(device, form):
    rng = np.random.default_rng(3)
    camera, by, own, tall = (rng.integers(0, 9, shape).astype(float) for shape in ((4, 4), (3, 3), (3, 3), (2, 3)))
    given = {"camera": form(camera), "turn": {"by": form(by)}, "own": form(own), "tall": form(tall)}
    o = record(device, KernelJob(MATRICES, inputs=flat(given))).arrays["o"]
    v = np.array([1, 2, 3, 4.0])
    assert o[0].tolist() == (camera @ v).tolist()
    assert o[1].tolist() == [*(by @ v[:3]).tolist(), (own @ v[:3])[1]]
    assert o[2].tolist()[:2] == (tall @ v[:3]).tolist()


STRUCTS = """
struct Triangle { float3 a, b, c; };
struct Mixed { float x; uint n; };
StructuredBuffer<Triangle> triangles; StructuredBuffer<Mixed> mixed; StructuredBuffer<float> numbers; RWStructuredBuffer<float> o;
[shader("compute")]
[numthreads(2, 1, 1)]
void main(uint3 t : SV_GroupThreadID) { o[t.x] = triangles[t.x].a.x + triangles[t.x].c.z + mixed[0].n + numbers[0]; }
"""


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mixed": [1, 2, 3, 4]}, "mixed is a buffer of Mixed: it takes dicts, a structured array, or its words"),
        ({"triangles": [1.0, 2, 3, 4]}, "triangles is a buffer of Triangle: it takes dicts"),
        ({"numbers": ["a"]}, "numbers is a buffer of float: it takes numbers"),
        ({"numbers": [1j]}, "numbers is a buffer of float: it takes numbers"),
    ],
)
def test_a_buffer_does_not_take_what_would_be_misread(device, given, words):
    with pytest.raises(ValueError, match=words):
        record(device, KernelJob(STRUCTS, inputs=flat(given)))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1, 2, 3], [1, 2, 3]),
        ([-1, 2], [2**32 - 1, 2]),
        (np.arange(3), [0, 1, 2]),
        ([1.0, 0.5], [0x3F800000, 0x3F000000]),
        (np.array([2**32 + 7], np.uint64), [7, 1]),
    ],
)
def test_the_default_numbers_of_python_become_words_of_a_byte_address_buffer(device, given, words):
    source = """ByteAddressBuffer bytes; RWStructuredBuffer<uint> o;
[shader("compute")] [numthreads(1, 1, 1)]
void main() { uint size; bytes.GetDimensions(size); o[0] = size; }
"""
    found = record(device, KernelJob(source, inputs=flat({"bytes": given})))
    assert found.outputs["bytes"].tolist() == words
    assert found.outputs["o"][0] == 4 * len(words)


def test_a_buffer_of_structs_of_one_type_takes_plain_numbers(device):
    triangles = np.arange(18.0).reshape(2, 3, 3)
    o = record(device, KernelJob(STRUCTS, inputs=flat({"triangles": triangles, "o": [0.0, 0]}))).arrays["o"]
    assert o.tolist() == (triangles[:, 0, 0] + triangles[:, 2, 2]).tolist()


def test_a_constant_without_a_value_is_named(device):
    with pytest.raises(RuntimeError, match="N has no value"):
        record(device, KernelJob(GENERIC, defines={"FACTOR": "10"}, arguments=("Square",)))


def test_conformances_let_a_type_be_chosen_at_run_time(device):
    source = """
    interface IOperation { float of(float x); }
    struct Twice : IOperation { float of(float x) { return 2 * x; } }
    struct Next : IOperation { float of(float x) { return x + 1; } }
    StructuredBuffer<uint> kinds; RWStructuredBuffer<float> o;
    [shader("compute")] [numthreads(2, 1, 1)]
    void main(uint3 t : SV_GroupThreadID)
    {
        IOperation operation = createDynamicObject<IOperation>(kinds[t.x], 0u);
        o[t.x] = operation.of(5);
    }"""
    job = KernelJob(
        source, conformances=(("Twice", "IOperation"), ("Next", "IOperation")), inputs=flat({"kinds": [0, 1], "o": [0.0, 0]})
    )
    assert record(device, job).arrays["o"].tolist() == [10, 6]


def test_registers_in_an_included_file_do_not_become_one_binding(device, tmp_path, monkeypatch):
    (tmp_path / "shared.hlsl").write_text(
        "cbuffer Sizes : register(b0) { uint more; };\nRWStructuredBuffer<uint4> a : register(u0);\ngroupshared uint g[32];\n"
    )
    source = """#include "shared.hlsl"
    RWStructuredBuffer<uint> sums : register(u2);
    [numthreads(4, 1, 1)]
    void main(uint3 t : SV_GroupThreadID) { sums[t.x] = dot(a[t.x], uint4(1, 1, 1, 1)) + more; }"""
    monkeypatch.chdir(tmp_path)  # the compiler would find the file here as it is
    given = flat({"more": 700, "a": np.arange(16, dtype=np.uint32)})
    recording = record(device, KernelJob(source, "kernel.hlsl", inputs=given, include=(tmp_path,)))
    assert recording.arrays["sums"][:4].tolist() == [706, 722, 738, 754]
    assert recording.same_as_plain
    assert not (recording.trace.flags & 1).any()


OTHER_MATRICES = """
cbuffer C { int3x4 counts; uint2x2 ids; bool2x2 flags; float2x3 weights; }
RWStructuredBuffer<float> o;
[numthreads(1, 1, 1)]
void main()
{
    o[0] = counts[2][1];
    o[1] = ids[1][0];
    o[2] = (flags[0][0] ? 1 : 0) + (flags[0][1] ? 10 : 0) + (flags[1][0] ? 100 : 0) + (flags[1][1] ? 1000 : 0);
    o[3] = weights[1][2];
}
"""


@pytest.mark.parametrize(
    ("declared", "read"),
    [
        ("cbuffer B { column_major float2x3 m; }", "m"),
        ("cbuffer B { column_major half2x3 m; }", "m"),
        ("cbuffer B { column_major int2x3 m; }", "m"),
        ("cbuffer B { column_major float2x3 m[1]; }", "m[0]"),
        ("typedef column_major float2x3 ByColumns; cbuffer B { ByColumns m[1]; }", "m[0]"),
        ("struct Pose { float first; column_major float2x3 m; }; ParameterBlock<Pose> pose;", "pose.m"),
        ("uniform column_major float2x3 m;", "m"),
    ],
)
def test_matrices_that_are_stored_by_columns_arrive_by_rows_too(device, declared, read):
    body = f"for (int i = 0; i < 6; i++) o[i] = float({read}[i / 3][i % 3]);"
    kernel = f'{declared} RWStructuredBuffer<float> o; [shader("compute")] [numthreads(1, 1, 1)] void main() {{ {body} }}'
    recording = record(device, KernelJob(kernel, inputs={"m": np.arange(6)}))
    assert recording.arrays["o"][:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert recording.same_as_plain


@pytest.mark.parametrize("names", ['#include "pose.h"', "import pose;", '#include "outer.h"'])
def test_an_included_file_or_a_module_may_say_that_matrices_are_stored_by_columns(device, tmp_path, names):
    (tmp_path / "pose.h").write_text("cbuffer B { column_major float2x3 m; }")
    (tmp_path / "outer.h").write_text('#include "pose.h"')
    (tmp_path / "pose.slang").write_text("public cbuffer B { public column_major float2x3 m; }")
    body = "for (int i = 0; i < 6; i++) o[i] = m[i / 3][i % 3];"
    kernel = f"{names}\nRWStructuredBuffer<float> o;\n[numthreads(1, 1, 1)] void main() {{ {body} }}"
    recording = record(device, KernelJob(kernel, inputs={"m": np.arange(6)}, include=(tmp_path,)))
    assert recording.arrays["o"][:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert recording.same_as_plain


def test_matrices_of_integers_and_bools_arrive_by_rows(device):
    given = {"counts": np.arange(-3, 9), "ids": [[5, 6], [4000000, 8]], "flags": [[True, False], [True, True]]}
    job = KernelJob(OTHER_MATRICES, inputs=flat(given | {"weights": np.arange(6) / 2, "o": np.zeros(4, np.float32)}), records=1000)
    recording = record(device, job)
    assert recording.outputs["o"].view(np.float32).tolist() == [6, 4000000, 1101, 2.5]
    assert recording.same_as_plain


@pytest.mark.parametrize(
    "declared", ["StructuredBuffer<int> many[];", "struct All { StructuredBuffer<int> many[]; };\nParameterBlock<All> all;"]
)
def test_an_array_without_a_size_is_refused_before_it_damages_memory(device, declared):
    used = "all.many" if "All" in declared else "many"
    source = f"{declared}\nRWStructuredBuffer<int> o;\n[numthreads(1, 1, 1)] void main() {{ o[0] = {used}[1][0]; }}"
    with pytest.raises(ValueError, match=rf"{used} is an array without a size: give it one"):
        record(device, KernelJob(source, records=1000))


COUNTED = """
AppendStructuredBuffer<uint> kept;
ConsumeStructuredBuffer<uint> waiting;
[numthreads(4, 1, 1)]
void main(uint3 t : SV_GroupThreadID) { kept.Append(waiting.Consume() + 1); }
"""


def test_a_counter_that_cannot_be_given_is_said_to_stay_0(device):
    given = {"waiting": np.array([7, 8, 9, 10], np.uint32)}
    checked = Recording(record_and_check(device, KernelJob(COUNTED, inputs=given, records=1000)))
    assert checked.recorded.outputs["kept"][:4].tolist() == [1, 0, 0, 0]
    assert [words.split(",")[0] for words in checked.missed] == [
        "kept is an AppendStructuredBuffer", "waiting is a ConsumeStructuredBuffer",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="waiting is a ConsumeStructuredBuffer, whose counter SlangPy cannot set"):
        record(device, KernelJob(COUNTED, inputs=flat({"waiting.counter": 4}), records=1000))


def test_vectors_of_64_and_16_bits_arrive(device):
    source = """
cbuffer Scale { double2 wide; int64_t3 big; half4 small; int16_t2 tiny; };
RWStructuredBuffer<float> o;
[shader("compute")] [numthreads(1, 1, 1)]
void main()
{
    o[0] = float(wide.x - wide.y); o[1] = float(big.z); o[2] = float(small.w); o[3] = float(tiny.y);
}
"""
    given = {"Scale": {"wide": [0.5, 3], "big": [1, 2, 7 << 33], "small": [0, 0, 0, 0.25], "tiny": [1, -9]}}
    recording = record(device, KernelJob(source, inputs=flat(given)))
    assert recording.arrays["o"][:4].tolist() == [-2.5, 7.0 * 2**33, 0.25, -9]


def test_a_sampler_that_compares_asks_whether_a_number_is_at_most_the_texel(device):
    source = """
Texture2D<float> depth; SamplerComparisonState nearer; RWStructuredBuffer<float> o;
[shader("compute")] [numthreads(3, 1, 1)]
void main(uint i : SV_GroupIndex) { o[i] = depth.SampleCmpLevelZero(nearer, float2(0.5, 0.5), 0.25 * (i + 1)); }
"""
    recording = record(device, KernelJob(source, inputs=flat({"depth": np.full((2, 2), 0.5, np.float32), "o": {"count": 3}})))
    assert recording.arrays["o"].tolist() == [1, 1, 0]


def test_an_array_of_constant_buffers_is_refused(device):
    source = """
struct Light { int4 colour; }
ConstantBuffer<Light> lights[2]; RWStructuredBuffer<int4> o;
[shader("compute")] [numthreads(1, 1, 1)] void main() { o[0] = lights[0].colour + lights[1].colour; }
"""
    with pytest.raises(ValueError, match="lights is an array of constant buffers, which SlangPy cannot set"):
        record(device, KernelJob(source))
