"""Kernels that record themselves in a browser: WGSL, and where their inputs go."""

import json
import re

import pytest

from splatscope.gpu.device import open_device
from splatscope.gpu.kernel import CompileError
from splatscope.paths import LESSONS
from splatscope.textbook.contents import find_lesson
from splatscope.tracing.browser_kernel import BrowserKernel, browser_kernel
from splatscope.tracing.job import KernelJob

# All that may follow the reader's hand. The kernel of "binned" counts over waves, which WGSL has no form for.
SECTIONS = (
    "adam", "autodiff", "background", "bitonic-sort", "blending", "caching", "cas", "coarse-raster", "dispatch-ids", "final-count",
    "fine-raster", "gaussian", "pipeline", "premultiply", "reduction", "termination", "training-loop", "undo", "workgroups",
)  # fmt: skip
KERNEL = """struct Light { int2 at; float power; }
RWStructuredBuffer<float3> left;
uniform Light sun;
uniform uint turns;
[shader("compute")] [numthreads(8, 2, 1)]
void main(uint lane : SV_GroupIndex, uint3 group : SV_GroupID)
{
    for (uint i = 0; i < turns; i++)
        left[lane] += float3(float2(sun.at), sun.power) + float(group.x);
}
"""


def kernel_of(source: str) -> BrowserKernel:
    return browser_kernel(open_device(), KernelJob(source))


@pytest.mark.parametrize("name", SECTIONS)
def test_the_kernels_of_sections_become_wgsl(name):
    job = find_lesson(name)().job()
    kernel = browser_kernel(open_device(), job)
    size = re.search(r"@compute\n@workgroup_size\((\d+), (\d+), (\d+)\)\nfn (\w+)\(", kernel.wgsl)
    assert size
    assert (*map(int, size.groups()[:3]), size[4]) == (*kernel.size, kernel.entry)
    given = {field.name for one in kernel.bindings for field in one.fields} | {one.name for one in kernel.bindings}
    assert {"_rec_records", "_rec_clock", "_rec_starts", "_rec.chosen"} <= given


@pytest.mark.parametrize("live", sorted(LESSONS.glob("*/live.ts")), ids=lambda path: path.parent.name)
def test_what_a_section_ships_for_the_browser_is_its_kernel(live):
    kernel = browser_kernel(open_device(), find_lesson(live.parent.name)().job())
    shipped = json.loads(live.with_name("kernel.wgsl.json").read_text(encoding="utf-8"))
    assert shipped == json.loads(json.dumps(kernel.as_json())), "run tools/make_browser_kernels.py"


def test_uniforms_have_their_places():
    kernel = kernel_of(KERNEL)
    fields = {field.name: (field.offset, field.type) for one in kernel.bindings for field in one.fields}
    assert fields["sun.at"] == (0, "vec2<i32>")
    assert fields["sun.power"] == (8, "f32")
    assert fields["turns"] == (16, "u32")
    assert next(one.size for one in kernel.bindings if one.name == "globalParams") == 32


def test_each_system_value_is_taken_once():
    kernel = kernel_of(KERNEL)
    head = re.search(r"fn main\w*\((.*)\)\n", kernel.wgsl)
    assert head
    builtins = re.findall(r"@builtin\((\w+)\)", head[1])
    assert sorted(builtins) == sorted(set(builtins))
    assert not re.search(r"\b_rec_lane_0\b", kernel.wgsl[head.end() :])


def test_what_wgsl_lacks_is_said():
    source = """RWStructuredBuffer<uint> counts;
[shader("compute")] [numthreads(8, 1, 1)]
void main(uint lane : SV_GroupIndex) { InterlockedAdd(counts[lane & 1], 1); }
"""
    with pytest.raises(CompileError, match="InterlockedAdd is not available"):
        kernel_of(source)
