"""The table of Slang's types. slang_types.json, which tests/js reads too, ties it to the browser's copy."""

import json
from pathlib import Path

import numpy as np
import pytest

from splatscope.gpu.slang_types import SCALARS, SlangType, is_numeric, scalar_named, short_name, words_in

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


@pytest.mark.parametrize("text", ["", "?", "void", "Pair", "float5", "float3x", "float0", "interval", "int32_t", "vector<float,3>"])
def test_other_types_are_none(text):
    assert SlangType.parse(text) is None
    assert not is_numeric(text)
    assert words_in(text) == 0


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
