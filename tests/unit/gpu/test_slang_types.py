"""The table of Slang's types. slang_types.json, which tests/js reads too, ties it to the browser's copy."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splatscope.gpu.slang_types import (
    SCALARS,
    SlangType,
    is_numeric,
    scalar_named,
    short_name,
    short_names,
    short_names_in_place,
    words_in,
)

TABLE = Path(__file__).with_name("slang_types.json")
WORDS = [0xC0000000, 0xBFF00000]  # a number in each type, none of them NaN


def table() -> list[dict]:
    """Each numeric type, and what WORDS mean to its first component."""
    found = []
    for scalar in SCALARS.values():
        for shape in ("", *"1234", *(f"{rows}x{columns}" for rows in range(1, 5) for columns in range(1, 5))):
            type_ = SlangType.parse(scalar.name + shape)
            first = np.array(WORDS, np.uint32)[: scalar.words].view(scalar.recorded)[0].item()
            about = {"type": scalar.name + shape, "scalar": scalar.name, "count": type_.count}
            found.append(about | {"size": scalar.words, "first": int(first) if scalar.recorded.kind != "f" else first})
    return found


def test_the_table_that_the_browser_is_tested_against_is_this_one():
    assert json.loads(TABLE.read_text()) == {"words": WORDS, "types": table()}


@pytest.mark.parametrize(
    ("text", "scalar", "shape", "words"),
    [
        ("float", "float", (), 1), ("float3", "float", (3,), 3), ("float1", "float", (1,), 1), ("float3x2", "float", (3, 2), 6),
        ("half4", "half", (4,), 4), ("double2", "double", (2,), 4), ("int64_t", "int64_t", (), 2), ("uint8_t4", "uint8_t", (4,), 4),
        ("int16_t", "int16_t", (), 1), ("uint64_t2x2", "uint64_t", (2, 2), 8), ("bool2", "bool", (2,), 2),
    ],
)  # fmt: skip
def test_types_are_read_by_their_names(text, scalar, shape, words):
    type_ = SlangType.parse(text)
    assert (type_.scalar.name, type_.shape, type_.words) == (scalar, shape, words)
    assert is_numeric(text)
    assert words_in(text) == words


@pytest.mark.parametrize(
    "text", ["", "?", "void", "Pair", "float5", "float3x", "interval", "vector<Pair,3>", "vector<float,5>", "vector"]
)
def test_other_types_are_none(text):
    assert SlangType.parse(text) is None
    assert not is_numeric(text)
    assert words_in(text) == 0


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("int32_t", "int"), ("uint32_t3", "uint3"), ("float16_t", "half"), ("float32_t4", "float4"), ("float64_t2x3", "double2x3"),
        ("vector<float,3>", "float3"), ("vector< int64_t , 1 >", "int64_t1"), ("vector<float32_t, 2>", "float2"),
        ("vector<half>", "half4"), ("matrix<uint, 2, 3>", "uint2x3"), ("matrix<float16_t,4,4,1>", "half4x4"),
        ("matrix<double,3>", "double3x4"), ("matrix<float>", "float4x4"), ("float3", "float3"),
    ],
)  # fmt: skip
def test_every_spelling_is_the_same_type(text, name):
    assert SlangType.parse(text) is not None
    assert SlangType.parse(text) == SlangType.parse(name)
    assert SlangType.parse(text).name == name


@given(st.lists(st.sampled_from(["vector", "matrix", "<", ">", ",", " ", "\n", "float", "float32_t", "4", "int16_t3", "x", "Box"])))
def test_shorter_spellings_move_nothing(parts):
    text = "".join(parts)
    there = short_names_in_place(text)
    assert len(there) == len(text)
    assert [n for n, c in enumerate(there) if c == "\n"] == [n for n, c in enumerate(text) if c == "\n"]
    assert short_names_in_place(there) == there
    assert re.sub(r"\s", "", short_names(there)) == re.sub(r"\s", "", short_names(text))


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("vector<float, 3> x", "float3           x"),
        ("vector<float,\n3> x", "float3       \n   x"),
        ("matrix<\nfloat> x", "matrix<\nfloat> x"),
    ],
)
def test_shorter_spellings_are_followed_by_blanks(text, there):
    assert short_names_in_place(text) == there


def test_values_are_what_was_recorded():
    words = np.array([[0x3F800000, 0x40000000, 7], [0, 0xBF800000, 9]], np.uint32)
    np.testing.assert_array_equal(SlangType.parse("float2").values(words), [[1, 2], [0, -1]])
    assert SlangType.parse("double").values(np.array([0, 0x3FF80000, 1], np.uint32)).tolist() == [1.5]
    assert SlangType.parse("int8_t").values(np.array([0xFFFFFFFE], np.uint32)).tolist() == [-2]


def test_aliases_are_known_where_a_person_names_a_type():
    assert scalar_named("int32_t") is SCALARS["int"]
    assert scalar_named("float16_t").dtype == np.float16
    assert scalar_named("nothing") is None


def test_texel_formats():
    formats = {text: SlangType.parse(text).texel_format for text in ("float", "float2", "float3", "half4", "uint4", "int2", "bool")}
    assert formats == {
        "float": "r32_float", "float2": "rg32_float", "float3": "rgba32_float", "half4": "rgba16_float", "uint4": "rgba32_uint",
        "int2": "rg32_sint", "bool": "r32_uint",
    }  # fmt: skip
    assert not any(SlangType.parse(text).texel_format for text in ("double", "int64_t", "int16_t", "float2x2"))


def test_short_names():
    assert short_name("vector<float,3>") == "float3"
    assert short_name("matrix<float,3,2,0>") == "float3x2"
    assert short_name("StructuredBuffer<vector<uint,2>, DefaultDataLayout>") == "StructuredBuffer<uint2>"
    assert short_name("Atomic<uint>") == "Atomic<uint>"
