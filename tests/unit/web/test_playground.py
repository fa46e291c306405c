"""Sources of the Slang Playground, and jobs from drafts: inputs, groups, functions, cost."""

import time

import numpy as np
import pytest

from helpers.playground import SOURCE
from splatscope.gpu.reflection import Interface, Layout, Texture
from splatscope.services.drafts.draft import job_of, kernel_of
from splatscope.services.drafts.inputs import MOST_INPUTS, MOST_TOGETHER, InputError
from splatscope.services.drafts.playground import complete, read
from splatscope.tracing.job import KernelJob


def test_attributes_say_what_the_widgets_would():
    specs = read(SOURCE).specs
    assert (specs["counts"]["fill"], specs["counts"]["count"]) == ("zeros", 288)
    assert (specs["values"]["fill"], specs["values"]["count"]) == ("random", 128)
    assert (specs["size"]["values"], specs["color"]["values"], specs["mouse"]["values"]) == ("10.0", "1.0 0.5 0", "0")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[playground::BLACK(4, 4)] RWTexture2D<float> t;", "BLACK] makes a texture"),
        ('[playground::URL("a.png")] Texture2D<float> t;', "URL] loads a picture"),
        ("[playground::SAMPLER] SamplerState s;", "SAMPLER] samples"),
        ('[playground::CALL_INDIRECT("b", 0)] void f() {}', "CALL_INDIRECT] takes the number of groups from a buffer"),
        ("[playground::RAND(UNKNOWN)] RWStructuredBuffer<float> b;", "“UNKNOWN”, which is not a number"),
        ("[playground::RAND(9**9**9**9)] RWStructuredBuffer<float> b;", "which is not a number"),
        ("[playground::FOO] uniform float f;", "FOO()] is not supported"),
        ('void printMain() { printf("%d", 1); }', "printf prints"),
        ("void f() { drawPixel(uint2(0), 0); }", "drawPixel draws into a texture"),
    ],
)
def test_what_is_not_to_be_had_is_named(line, words):
    refusal = read(f"import playground;\n{line}").refusal
    assert words in refusal
    assert "\n" not in refusal


def test_a_source_without_the_playground_is_left_alone():
    source = (
        'RWStructuredBuffer<float> b;\n[shader("compute")] [numthreads(8, 1, 1)] void imageMain(uint i : SV_DispatchThreadID) {}'
    )
    assert read(source).specs == {}
    assert read(source).refusal == ""
    assert complete(source) == source


@pytest.mark.parametrize(
    "junk",
    ["[playground::A(", '"\\"', "playground/*", "const int a = ", "float4 imageMain (", "[playground::ZEROS(1)] <[ ", "a [ "],
)
def test_no_text_takes_long_to_read(junk):
    def seconds(times: int) -> float:
        source = "import playground;" + junk * times
        began = time.process_time()
        read(source)
        complete(source)
        return time.process_time() - began

    assert seconds(32_000 // len(junk)) < 100 * (seconds(2_000 // len(junk)) + 0.01)  # sixteen times as long: not its square


@pytest.mark.parametrize(
    ("draft", "words"),
    [
        ({"groups": [0, 1, 1]}, "from 1"),
        ({"groups": [2, 1, 1], "group": [2, 0, 0]}, "counts from 0"),
        ({"groups": "many"}, "three whole numbers"),
        ({"inputs": {"b": {"fill": "file"}}}, "choose an array file"),
        ({"inputs": {"b": {"fill": "file", "array": "no such", "file": "a.npy"}}}, "choose a.npy again"),
        ({"inputs": {"b": {"fill": "values", "values": "1.5"}}}, "1.5 does not fit"),
    ],
)
def test_a_draft_that_does_not_fit_is_one_line(draft, words):
    interface = Interface(("main",), (4, 1, 1), {"b": Layout(4, (("", "uint", 0),), "uint")}, {}, {})
    with pytest.raises(InputError, match=words) as caught:
        job_of(draft, KernelJob(""), interface)
    assert "\n" not in str(caught.value)


def test_inputs_of_a_draft_are_the_bytes_that_a_kernel_sees():
    interface = Interface(("main",), (4, 1, 1), {"b": Layout(4, (("", "int", 0),), "int")}, {"scene.size": "uint2"}, {})
    job = job_of(
        {"inputs": {"b": {"fill": "values", "count": 3, "values": "-1 2"}, "scene.size": {"values": "8 4"}}},
        KernelJob(""),
        interface,
    )
    assert job.inputs["b"].view(np.int32).tolist() == [-1, 2, 0]
    assert job.inputs["scene.size"].tolist() == [8, 4]


def several(count: int) -> Interface:
    return Interface(("main",), (4, 1, 1), {f"b{i}": Layout(4, (("", "uint", 0),), "uint") for i in range(count)}, {}, {})


def test_all_inputs_of_a_job_share_one_budget():
    draft = {"inputs": {f"b{i}": {"fill": "ramp", "count": 1 << 20} for i in range(40)}}
    assert len(job_of(draft, KernelJob(""), several(MOST_TOGETHER >> 22)).inputs) == MOST_TOGETHER >> 22
    with pytest.raises(InputError, match="more than 67,108,864 bytes together") as caught:
        job_of(draft, KernelJob(""), several(40))
    assert "\n" not in str(caught.value)
    textures = Interface(
        ("main",), (4, 1, 1), {}, {}, {}, textures={f"t{i}": Texture("Texture2D", "2d", "float", 4, False) for i in range(9)}
    )
    specs = {f"t{i}": {"size": [1024, 1024], "mips": True} for i in range(9)}
    with pytest.raises(InputError, match="With t3"):
        job_of({"inputs": specs | {"t0": {}}}, KernelJob(""), textures)


def test_a_kernel_takes_a_bounded_number_of_inputs():
    assert len(job_of({}, KernelJob(""), several(MOST_INPUTS)).inputs) == MOST_INPUTS
    with pytest.raises(InputError, match="257 parameters"):
        job_of({}, KernelJob(""), several(MOST_INPUTS + 1))


def test_types_are_listed_between_commas_outside_of_angle_brackets():
    draft = {"source": "", "arguments": "float, Array<int, 4>\nPair<Pair<int, 2>, 3>, , uint"}
    assert kernel_of(draft).arguments == ("float", "Array<int, 4>", "Pair<Pair<int, 2>, 3>", "uint")
