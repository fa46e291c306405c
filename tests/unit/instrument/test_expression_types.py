"""The types of expressions, as far as the source makes them certain."""

import pytest

from splatscope.slang.source import Source, walk
from splatscope.slang.symbols import Symbols
from splatscope.tracing.instrument.expression_types import ExpressionTypes, bits_of, common_type, is_integer, type_of_number
from splatscope.tracing.instrument.scope import Scope

DECLARED = """static const uint N = 4; cbuffer Frame { float2 gain; uint count; }
groupshared Atomic<uint> hits; groupshared float3 tile[8];
struct Ray { float3 at; int n; uint16_t small; }; RWStructuredBuffer<Ray> rays; RWByteAddressBuffer bytes;
ConstantBuffer<Ray> first;
typedef uint Word; uint twice(uint x) { return 2 * x; } float either(float x) { return x; } int either(int x) { return x; }
"""


def type_in(expression: str) -> str:
    source = Source(f"{DECLARED}void f(int i, uint u, float x, float2 v, double d, bool b, Word w, T t) {{ g = {expression}; }}")
    f = next(block for block in source.functions() if block.name == "f")
    symbols = Symbols.of([source])
    scope = Scope(symbols)
    for name, type_text in {"i": "int", "u": "uint", "x": "float", "v": "float2", "d": "double", "b": "bool", "w": "Word"}.items():
        scope.declare(name, type_text)
    scope.declare("t", "T")
    scope.declare("local", "")
    scope.inferred["local"] = "int2"
    assignment = next(node for node in walk(source.body(f)) if node.type == "assignment_expression")
    return ExpressionTypes(scope).of(assignment.child_by_field_name("right"))


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("i", "int"), ("w", "uint"), ("local", "int2"), ("N", "uint"), ("count", "uint"), ("gain.x", "float"), ("first.n", "int"),
        ("hits", "uint"), ("tile[i]", "float3"), ("tile[i].y", "float"), ("rays[u].at.xy", "float2"), ("rays[u].small", "uint16_t"),
        ("i + u", "uint"), ("i * x", "float"), ("v * i", "float2"), ("v + d", "double2"), ("b + b", "int"), ("i < u", "bool"),
        ("u << i", "uint"), ("b << 1", "int"), ("-x", "float"), ("!i", "bool"), ("(i, x)", "float"), ("b ? i : u", "uint"),
        ("i++", "int"),
        ("int(x)", "int"), ("(uint2)v", "uint2"), ("uint2(v)", "uint2"), ("vector<int, 3>(1)", "int3"), ("Word(x)", "uint"),
        ("twice(3)", "uint"), ("min(i, u)", "uint"), ("floor(v)", "float2"), ("dot(v, v)", "float"), ("asuint(v)", "uint2"),
        ("WaveActiveSum(x)", "float"), ("WaveGetLaneIndex()", "uint"), ("hits.add(1)", "uint"), ("bytes.Load2(4)", "uint2"),
        ("(v + 1).yx", "float2"), ("i = u", "int"), ("1", "int"), ("1u", "uint"), ("0x1f", "int"), ("1.5", "float"),
        ("half(2)", "half"),
    ],
)  # fmt: skip
def test_what_is_certain_has_a_type(expression, found):
    assert type_in(expression) == found


@pytest.mark.parametrize(
    "expression",
    ["unknown", "unknown + 1", "t", "t * 2", "either(1)", "f(1)", "rays", "tile", "rays[u]", "max(i, unknown)", "new.field"],
)
def test_what_is_not_certain_has_none(expression):
    assert type_in(expression) == ""


def test_deep_expressions_have_none():
    assert type_in("(" * 60 + "i" + ")" * 60) == ""


def test_numbers_common_types_and_bits():
    assert [type_of_number(text) for text in ("1e3", "1.f", "7l", "7ul", "1.5lf", "0xFFu")] == [
        "float", "float", "int64_t", "uint64_t", "double", "uint",
    ]  # fmt: skip
    assert common_type("float3", "int2") == "float2"
    assert common_type("float", "") == ""
    assert [is_integer(one) for one in ("uint16_t3", "bool2", "half", "Ray")] == [True, False, False, False]
    assert (bits_of("uint64_t"), bits_of("int3"), bits_of("uint8_t")) == (64, 32, 8)
