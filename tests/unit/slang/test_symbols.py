"""What modules declare: one table from their text."""

import pytest

from splatscope.slang.declaration import ArrayType, Memory, buffer_memory, split_declaration, split_parameter
from splatscope.slang.source import Source
from splatscope.slang.symbols import Symbols


def symbols(text: str) -> Symbols:
    return Symbols.of([Source(text)])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("float x;", ("float", [("x", ())])),
        ("static const float[3] a, b[2] = {};", ("float", [("a", ("3",)), ("b", ("2", "3"))])),
        ("groupshared Atomic<uint> bins[N * 2];", ("Atomic<uint>", [("bins", ("N * 2",))])),
        ("[attribute(1)] no_diff Pair<int, float> p = make(1, 2)", ("Pair<int, float>", [("p", ())])),
        ("float4 at : SV_Position", ("float4", [("at", ())])),
    ],
)
def test_a_declaration_is_a_type_and_names(text, parts):
    assert split_declaration(text) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("inout float v[4]", ("float", "v", ("4",))),
        ("v: float3", ("float3", "v", ())),
        ("uint3 id : SV_DispatchThreadID", ("uint3", "id", ())),
        ("const StructuredBuffer<float> b = c", ("StructuredBuffer<float>", "b", ())),
    ],
)
def test_a_parameter_is_a_type_and_a_name(text, parts):
    assert split_parameter(text) == parts


@pytest.mark.parametrize(
    ("type_text", "memory"),
    [
        ("RWStructuredBuffer<float4>", Memory("b", "device", "float4")),
        ("RWStructuredBuffer<Atomic<uint>>", Memory("b", "device", "uint", atomic=True)),
        ("RWByteAddressBuffer", Memory("b", "device", "uint", byte_address=True)),
        ("Buffer<int>", Memory("b", "device", "int", has_texels=True)),
        ("Texture2D<float>", None),
        ("float", None),
    ],
)
def test_a_buffer_is_memory_of_its_elements(type_text, memory):
    assert buffer_memory(type_text, "b") == memory


def test_shared_variables_and_buffers_are_memory():
    found = symbols(
        "groupshared float tile[4][N];\ngroupshared Atomic<uint> count;\nRWStructuredBuffer<int> result;\n"
        "namespace n { globallycoherent RWByteAddressBuffer bytes; }\nvoid f() { int local; }"
    ).memory
    assert found["tile"] == Memory("tile", "shared", "float", ("4", "N"))
    assert found["count"] == Memory("count", "shared", "uint", (), atomic=True)
    assert found["result"].subscripts == 1
    assert found["bytes"].subscripts == 0
    assert "local" not in found


def test_buffers_in_parameter_blocks_go_by_path():
    found = symbols(
        "struct Lights { RWStructuredBuffer<float4> all; int n; }\nstruct Scene { Lights lights; }\nParameterBlock<Scene> scene;"
    ).memory
    assert found == {"scene.lights.all": Memory("scene.lights.all", "device", "float4")}


def test_structs_have_fields_and_arrays_apart():
    table = symbols("struct Ray { float3 at, to; float[2] weights; static int no; void f() {} }")
    assert table.fields("Ray") == {"at": "float3", "to": "float3"}
    assert table.structs["Ray"].arrays == {"weights": ArrayType("float", ("2",))}
    assert table.has_arrays("Ray")


def test_of_a_generic_struct_and_of_two_of_a_name_the_fields_mean_nothing_outside():
    assert symbols("struct Box<T> { T x; }").fields("Box") == {}
    assert symbols("struct Box<T> { T x; }").structs["Box"].fields == {"x": "T"}
    assert symbols("struct S { int x; } namespace n { struct S { float y; } }").fields("S") == {}


@pytest.mark.parametrize(
    ("type_text", "parts", "leads_to"),
    [
        ("float3", [".xy"], "float2"),
        ("float3", [".r"], "float"),
        ("float2x3", ["[]", ".xy"], "float2"),
        ("int4", ["[]"], "int"),
        ("Ray", [".to", ".z"], "float"),
        ("Alias", [".to"], "float3"),
        ("Ray", [".nobody"], ""),
        ("float", [".x"], ""),
    ],
)
def test_parts_of_a_type_have_types(type_text, parts, leads_to):
    table = symbols("struct Ray { float3 at; float3 to; }\ntypealias Alias = Ray;")
    assert table.type_of_part(type_text, parts) == leads_to


def test_functions_tell_what_they_change():
    table = symbols(
        "void f(out int a, float b, inout int c) {}\ninterface I { [mutating] void g(ref int x); }\n"
        "struct S { int h() { return 1; } }"
    )
    assert {name: function.outputs for name, function in table.functions.items()} == {"f": {0, 2}, "g": {0}, "h": set()}
    assert {name for name, function in table.functions.items() if function.is_mutating} == {"g"}
    assert {name for name, function in table.functions.items() if function.is_method} == {"g", "h"}


def test_macros_aliases_constants_enums_and_tables_are_told_apart():
    table = symbols(
        "#define SET(v) a[0] = v\n#define SIZE 4\n#define Real float\nstatic const int N = 3;\nenum E { x }\n"
        "typedef float4 Color;\nstatic const int table[2] = { 1, 2 };"
    )
    assert table.macros.keys() == {"SET"}
    assert table.constants >= {"N", "SIZE"}
    assert table.resolve("Color") == "float4"
    assert table.resolve("Real") == "float"
    assert table.enums == {"E"}
    assert table.arrays == {"table": ArrayType("int", ("2",))}


def test_an_argument_is_followed_through_callers_that_hand_it_on():
    calls = symbols("void g(B b) {}\nvoid f(B b) { g(b); }\nvoid main() { f((lights)); g(other); }").calls
    assert calls.reaching("g", "b") == {"lights", "other"}
    assert calls.reaching("f", "b") == {"lights"}
    assert calls.reaching("f", "nobody") == {""}


def test_types_of_globals_and_of_what_functions_return():
    found = symbols("""static const uint N = 4 * 2; uniform float2 gain;
[[vk::binding(1, 0)]] RWTexture2D<float4> image : register(u0);
cbuffer Frame : register(b0) { uint count; float3 at : packoffset(c1); }
struct Scene { uint n; Texture2D<float> map; } ParameterBlock<Scene> scene; ConstantBuffer<Scene> other;
static int table[4]; groupshared uint tile[8];
uint twice(uint x) { return 2 * x; } static inline float2 pick<T>(T t) { return 0; }
func half_of(x: float) -> float { return x / 2; }
int either(int x) { return x; } float either(float x) { return x; }
""")
    types = {"N": "uint", "gain": "float2", "image": "RWTexture2D<float4>", "count": "uint", "at": "float3", "scene": "Scene"}
    assert {name: found.globals.get(name) for name in types} == types
    assert found.globals["other"] == "Scene"
    assert "table" not in found.globals
    assert [found.function(name).returns for name in ("twice", "pick", "half_of")] == ["uint", "float2", "float"]
    assert found.function("either").returns == ""
    assert found.integers["N"] == "4 * 2"


def test_arrays_of_constant_buffers_are_known_and_those_of_one_name_are_not():
    found = symbols("""cbuffer Frame { float taps[3] : packoffset(c1); int2 pairs[N + 1]; }
namespace a { cbuffer A { int same[2]; float2 both; } } namespace b { cbuffer B { int same[3]; int both; } }""")
    assert found.arrays["taps"] == ArrayType("float", ("3",))
    assert found.arrays["pairs"] == ArrayType("int2", ("N + 1",))
    assert found.arrays["same"] == ArrayType("")
    assert found.globals["both"] == ""


HOSTILE = {
    "nested structs": "struct a{" * 3500 + "}" * 3500,
    "nested functions": "void f(){" * 3500 + "}" * 3500,
    "nested calls": "void f(){" + "f(" * 16_000 + ")" * 16_000 + ";}",
    "functions that call": "void f(){f(1);}\n" * 4000,
    "words": "a " * 32_000,
    "attributes": "[a] " * 16_000,
    "template arguments": "a<" * 32_000,
    "shared": "groupshared " * 5000,
    "buffers": "RWStructuredBuffer<" * 3000,
    "initialisers": "int a[]" + "={}," * 14_000,
    "requirements": "interface I{" + "void f(int a);" * 4000 + "}",
    "aliases": "typedef a " * 6000,
    "macros": "#define a(" * 6000,
    "conditions": "#if a\n{\n#endif\n" * 4000,
}


@pytest.mark.timeout(60)  # in quadratic time, most of these take minutes
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_any_text_of_64_kb_is_read_in_linear_time(text):
    assert "seen" in symbols(f"RWStructuredBuffer<int> seen;\n{text}"[: 2**16]).memory


def test_what_a_branch_with_unmatched_braces_holds_is_read_once():
    """A branch that is left out, since its braces do not match, counts for nothing in the one around it."""
    text = "#if A\n#if B\nvoid f(int x) {\n#else\nvoid f() {\n#endif\n}\n#else\nint g() { return 1; }\n#endif\n"
    assert {block.name for block in Source(text).walk()} == {"f", "g"}


def test_arguments_are_followed_past_a_nested_comparison():
    calls = symbols("RWStructuredBuffer<int> o; void g(B b, B c) {} void main() { g(pick(a < b), o); }").calls
    assert calls.reaching("g", "c") == {"o"}


def test_attributes_before_a_buffer_hide_nothing():
    memory = symbols(
        '[format("r32f")] RWTexture2D<float> image; [playground::RAND(8)] RWStructuredBuffer<float> wave;\n'
        "[[vk::binding(0, 0)]]\ngloballycoherent RWStructuredBuffer<uint> data; layout(binding = 1) RWStructuredBuffer<int> last;"
    ).memory
    assert {name: found.type for name, found in memory.items()} == {
        "image": "float",
        "wave": "float",
        "data": "uint",
        "last": "int",
    }


def test_the_parameters_of_a_function_are_no_memory_of_the_program():
    found = symbols("void put(RWStructuredBuffer<uint> into, uint at, RWTexture2D<float> image) { into[at] = 1; }")
    assert found.memory == {}
    assert {name: memory.space for name, memory in found.parameters.items()} == {"into": "device", "image": "texture"}


@pytest.mark.parametrize(
    ("declaration", "type_text"),
    [
        ("groupshared row_major float4x4 m[64];", "float4x4"),
        ("groupshared struct S { uint a; } m[64];", "S"),
        ("void f() { static groupshared uint m[64]; }", "uint"),
        ("struct S { static groupshared uint m[64]; };", "uint"),
        ("groupshared vector<uint, (2)> m[64];", "vector<uint, (2)>"),
        ("namespace n { groupshared uint m[64]; }", "uint"),
    ],
)
def test_shared_memory_is_seen_however_it_is_declared(declaration, type_text):
    assert symbols(declaration).memory["m"] == Memory("m", "shared", type_text, ("64",))


def test_a_declaration_that_is_not_understood_is_said_to_be():
    found = symbols("groupshared odd_modifier float4 m[64];")
    assert found.memory == {}
    assert "odd_modifier" in found.unknown_types


def test_a_struct_with_private_fields_has_no_known_size():
    found = symbols("struct P { private uint a; uint b; } struct Q { uint a, b; }")
    assert (found.bytes_of("P"), found.bytes_of("Q")) == (0, 8)
    assert found.fields("P") == {"b": "uint"}


def test_what_follows_a_shift_or_a_comparison_is_declared_too():
    found = symbols(
        "struct A { uint a = 1 << 3, b; uint c; } static const uint n = 1 << 3, tab[2] = {1, 2}; const static int k = 4;"
    )
    assert list(found.fields("A")) == ["a", "b", "c"]
    assert found.arrays["tab"] == ArrayType("uint", ("2",))
    assert {"n", "tab", "k"} <= found.constants


def test_structs_that_are_named_in_other_ways_have_their_names():
    found = symbols(
        "enum class E { A } typedef struct B { int x; } C; struct D : IF<float> { uint a; } struct F { int y; } one, many[3];"
    )
    assert found.enums == {"E"}
    assert found.resolve("C") == "B"
    assert found.fields("D") == {"a": "uint"}
    assert (found.globals["one"], found.arrays["many"]) == ("F", ArrayType("F", ("3",)))
    assert symbols("typedef float A; typedef A B;").resolve("vector<B, 2>") == "float2"
