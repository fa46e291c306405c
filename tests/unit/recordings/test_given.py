"""What a packed recording says of what the host gave: uniforms, and the sizes of arrays that are constants."""

import numpy as np
import pytest

from splatscope.recordings.wire import _uniform


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("uint", np.array([8]), [8]),
        ("int2", np.array([-1, 3]), [0xFFFFFFFF, 3]),
        ("float", np.array([2.5]), [0x40200000]),
        ("float3", None, [0, 0, 0]),
        ("bool", np.array([True]), [1]),
        ("float2", np.array([1, 2], np.float32).view(np.uint8), [0x3F800000, 0x40000000]),
    ],
)
def test_a_uniform_is_packed_as_its_type_says(kind, given, words):
    assert _uniform("scale", kind, given) == [{"name": "scale", "type": kind, "words": words}]


def test_an_array_is_packed_element_by_element():
    found = _uniform("scale", "uint2[2]", np.arange(4, dtype=np.uint32))
    assert found == [
        {"name": "scale[0]", "type": "uint2", "words": [0, 1]},
        {"name": "scale[1]", "type": "uint2", "words": [2, 3]},
    ]
    assert _uniform("scale", "uint[65]", None) == []
    assert len(_uniform("scale", "uint[64]", None)) == 64


@pytest.mark.parametrize(("kind", "given"), [("double", None), ("Camera", None), ("float4", np.array([1.0, 2.0]))])
def test_what_cannot_be_shown_is_left_out(kind, given):
    assert _uniform("scale", kind, given) == []
