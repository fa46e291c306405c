"""A corpus of small kernels, one per language feature: recorded and plain leave the same buffers, and every function records."""

import numpy as np
import pytest

from helpers.corpus import LANGUAGE
from splatscope.gpu.device import open_device
from splatscope.gpu.kernel import CompileError
from splatscope.slang.program import Program
from splatscope.tracing.checks import find
from splatscope.tracing.job import KernelJob
from splatscope.tracing.judge import judge
from splatscope.tracing.recording import Recording, record

NO_KERNELS = {"shapes", "library", "library_part"}  # modules that others import
RACY = {"race"}
RECORDS = 100_000  # enough for each of these kernels
STEPPED_OVER: dict[str, set[str]] = {}  # by kernel: functions that cannot be recorded
INPUTS = {
    "constant_buffers": {"frame": np.array([3]), "size": np.array([0.5, 2], np.float32), "loose": np.array([7])},
    "entry_struct": {"offset": np.array([1000])},
    "histogram": {"values": np.arange(32, dtype=np.uint32)},
    "buffer_arguments": {"points": np.arange(16, dtype=np.float32)},
    "workgroup_of_many": {"groups": (4, 2, 1)},
    "group_ids_many": {"groups": (3, 2, 1)},
    "cbuffer_forms": {"scale": np.array([3]), "offset": np.array([1, 2], np.float32), "loose": np.array([7])},
    "matrices_in_bytes": {"source": np.arange(12, dtype=np.uint32)},
    "registers_spaces": {"inputBuffer": np.arange(4)},
}


def recorded(name: str, **options) -> Recording:
    inputs = dict(INPUTS.get(name, {}))
    file = LANGUAGE / f"{name}.slang"
    given = {"groups": inputs.pop("groups", (1, 1, 1)), "inputs": inputs, "include": (LANGUAGE,), "records": RECORDS} | options
    return record(open_device(), KernelJob(file.read_text(), file.name, **given))


def source(text: str, **options) -> Recording:
    return record(open_device(), KernelJob(text, **{"records": RECORDS} | options))


def kernel(body: str, outside: str = "", threads: str = "4, 1, 1") -> str:
    return f"""{outside}
RWStructuredBuffer<int> result;
[shader("compute")] [numthreads({threads})]
void computeMain(uint3 id : SV_DispatchThreadID)
{{
    {body}
}}
"""


def values(recording: Recording, name: str, kind: str = "value", thread: int = 0) -> list:
    """Return the recorded values of a name, in the thread's order."""
    trace = recording.trace
    found = []
    for event in np.flatnonzero(trace.thread == thread):
        site = trace.sites[trace.site[event]]
        if site.kind == kind and f"{site.name}{site.path}" == name:
            found.append(trace.value(event))
    return found


def events(recording: Recording, *kinds: str, thread: int = 0) -> list[tuple]:
    """(kind, name, index) of a thread's events."""
    trace = recording.trace
    sites = [(trace.sites[trace.site[e]], int(trace.index[e])) for e in np.flatnonzero(trace.thread == thread)]
    return [(site.kind, site.name, index) for site, index in sites if site.kind in kinds]


@pytest.mark.parametrize("name", sorted(f.stem for f in LANGUAGE.glob("*.slang") if f.stem not in NO_KERNELS))
def test_records_without_a_trace_in_the_outputs(name: str) -> None:
    recording = recorded(name)
    assert set(recording.stepped_over) == STEPPED_OVER.get(name, set()), recording.stepped_over
    assert len(recording.trace) > 0
    assert not recording.trace.info.truncated
    if name not in RACY:
        assert recording.same_as_plain, {
            key: (words[words != recording.plain[key]][:8], recording.plain[key][words != recording.plain[key]][:8])
            for key, words in recording.outputs.items()
        }
        assert any(words.any() for words in recording.outputs.values())  # a kernel that leaves nothing shows nothing


def test_values_of_every_number_type_decode() -> None:
    recording = recorded("number_types")
    expected = {
        "h": [0.5], "hv": [0.5, 2, 3], "d": [1 / 3], "big": [-(2**40)], "wide": [0xFFFFFFFF00000001], "small": [65535],
        "negative": [-3], "flags": [1, 1], "less": [1, 0, 1], "minus": [-17], "m": [1, 2, 3, 4, 5, 6], "quad": [1, 2, 3, 4],
    }  # fmt: skip
    for name, value in expected.items():
        assert values(recording, name) == [value], name
    assert values(recording, "h", thread=1) == [[1.0]]


def test_the_compiler_says_the_types_that_the_source_does_not() -> None:
    recording = recorded("let_and_var")
    assert values(recording, "i", thread=1) == [[1]]
    assert values(recording, "pair") == [[1.0, 2.0]]
    assert values(recording, "big")[0] == [2**33]
    assert values(recording, "yes", thread=1) == [[1]]
    assert values(recording, "half_of") == [[0.25]]
    assert values(recording, "sum")[:2] == [[0.5], [2.5]]


def test_matrices_of_integers_in_bytes_are_recorded_whole() -> None:
    recording = recorded("matrices_in_bytes")
    assert values(recording, "a", thread=1) == [[6, 7, 8, 9, 10, 11]]
    assert values(recording, "b", thread=1) == [[6, 7, 8, 9, 10, 11]]
    assert not recording.verdict.unseen


def test_structs_are_recorded_field_by_field() -> None:
    recording = recorded("nested_structs")
    assert values(recording, "leaf.weight", thread=3) == [[1.5]]
    assert values(recording, "leaf.at", thread=3) == [[3, 2]]
    assert values(recording, "other.right.at") == [[1, 5]]
    assert values(recording, "tree.right.at.y", "write") == [[5]]
    assert values(recording, "tree.left.weight", "write", thread=2) == [[1.0]]


def test_pairs_of_autodiff_are_recorded_as_value_and_derivative() -> None:
    recording = recorded("autodiff_pairs")
    assert values(recording, "pair.p", thread=1) == [[2, 2], [2, 2]]
    assert values(recording, "pair.d", thread=1) == [[0, 0], [12, 40]]
    assert values(recording, "apart.d") == [[6]]


def test_indices_of_arrays_with_rows_are_flattened() -> None:
    recording = recorded("shared_2d")
    thread = 4 + 1  # x 1, y 1 of 4 × 3
    writes = events(recording, "write", thread=thread)
    assert ("write", "plane", 1 * 4 + 1) in writes
    assert ("write", "cube", (1 * 3 + 1) * 2 + 0) in writes
    assert ("write", "cells", 1 * 2 + 1) in writes
    assert ("read", "plane", 1 * 4 + 2) in events(recording, "read", thread=thread)


def test_elements_of_local_arrays() -> None:
    recording = recorded("local_arrays")
    assert ("element", "grid", 1 * 3 + 2) in events(recording, "element")
    assert values(recording, "flat", "element") == [[10.0]]
    assert values(recording, "grid", "element")[-1] == [13]


def test_an_index_with_a_side_effect_is_evaluated_once() -> None:
    recording = recorded("side_effects_in_indices")
    assert [index for _, name, index in events(recording, "write") if name == "list"] == [*range(8), 0, 1]
    assert recording.outputs["result"][:2].tolist() != [0, 0]
    assert values(recording, "filled", "read")[:3] == [[0], [1], [2]]


def test_short_circuits_stay_short() -> None:
    recording = recorded("short_circuits")
    calls = [events(recording, "call", thread=thread) for thread in range(4)]
    assert [sum(name == "count" for _, name, _ in each) for each in calls] == [1, 2, 5, 5]


def test_calls_and_returns_pair() -> None:
    recording = recorded("early_return")
    for thread in range(4):
        stack, paired = [], events(recording, "call", "return", thread=thread)
        assert paired
        for kind, name, _ in paired:
            if kind == "call":
                stack.append(name)
            else:
                assert stack.pop() == name
        assert not stack


def test_loops_and_branches() -> None:
    recording = source(
        kernel("int n = 0; for (int i = 0; i < 3; i++) { if (i == 1) n += 5; } while (n > 3) n -= 2; result[0] = n;")
    )
    assert len(events(recording, "loop")) == 3 + 1
    assert values(recording, "i") == [[0], [1], [2]]
    assert values(recording, "n") == [[0], [5], [3]]


def test_the_backward_pass_is_marked_as_replay_and_gradients_are_bit_identical() -> None:
    recording = recorded("autodiff_backward")
    trace = recording.trace
    inside = np.array([site.function == "poly" for site in trace.sites])[trace.site]
    replayed = (trace.flags >> 1 & 1).astype(bool)
    assert (inside & replayed).any()
    assert (inside & ~replayed).any()
    assert not (replayed & ~inside & np.array([s.function == "computeMain" for s in trace.sites])[trace.site]).any()
    assert np.array_equal(recording.outputs["result"], recording.plain["result"])


def test_a_store_outside_is_reported_and_not_made() -> None:
    body = "tile[id.x] = 1; GroupMemoryBarrierWithGroupSync(); tile[id.x + 3] = int(id.x); int a[2]; a[id.x] = 4;"
    body += " result[id.x] = tile[id.x];"
    recording = source(kernel(body, "groupshared int tile[4];"))
    assert recording.plain is None
    assert ("out-of-bounds", "tile", 4) in events(recording, "out-of-bounds", thread=1)
    assert ("out-of-bounds", "tile", 3) not in events(recording, "out-of-bounds", thread=0)
    assert recording.outputs["result"][:3].tolist() == [1, 1, 1]


def test_an_endless_loop_ends_and_is_reported_with_its_line() -> None:
    recording = source(kernel("int n = 1;\nwhile (n > 0)\n n = 1;\nresult[0] = n;"), loop_budget=50)
    assert {trace_line(recording, e) for e in np.flatnonzero(recording.trace.kinds == "overrun")} == {7}


def test_a_loop_that_only_a_return_leaves_has_a_budget() -> None:
    assert recorded("loops_left_by_return").trace.verdict.unseen == ()
    function = "int f(int x)\n{\n for (;;)\n {\n  if (x > 5)\n   return x;\n }\n}"
    recording = source(kernel("result[id.x] = f(int(id.x) * 3);", function), loop_budget=50)
    assert {trace_line(recording, e) for e in np.flatnonzero(recording.trace.kinds == "overrun")} == {3}
    assert not recording.stepped_over
    assert recording.outputs["result"][2:4].tolist() == [6, 9]


def trace_line(recording: Recording, event: int) -> int:
    return recording.trace.sites[recording.trace.site[event]].line


def test_atomics_record_what_they_returned() -> None:
    recording = recorded("atomic_buffer")
    returned = [values(recording, "counters", "atomic", thread)[0][0] for thread in range(8)]
    assert sorted(returned) == list(range(8))


def test_coherent_buffers_are_recorded_as_others_are() -> None:
    recording = recorded("coherent_buffers")
    accesses = events(recording, "read", "write", "atomic", thread=1)
    assert accesses == [
        ("write", "posted", 1), ("write", "bytes", 4), ("write", "texels", 1), ("write", "pairs", 1),
        ("read", "posted", 2), ("read", "bytes", 8), ("read", "texels", 2), ("read", "pairs", 2), ("write", "result", 1),
        ("atomic", "posted", 4), ("read", "posted", 1), ("read", "result", 1), ("write", "result", 1),
        ("read", "posted", 6), ("write", "posted", 6),
    ]  # fmt: skip


def test_a_race_on_a_coherent_buffer_is_found() -> None:
    recording = source(kernel("note[0] = int(id.x); result[id.x] = note[0];", "globallycoherent RWStructuredBuffer<int> note;"))
    assert ("race", "note") in {(finding.kind, finding.name) for finding in find(recording.trace)}


def test_imported_and_included_functions_record_on_their_own_lines() -> None:
    for name, file, line in (("imports", "shapes.slang", "float p = 2"), ("includes", "ring.slangh", "uint next")):
        recording = recorded(name)
        lines = (LANGUAGE / file).read_text().split("\n")
        wanted = next(number for number, text in enumerate(lines, 1) if line in text)
        assert any(
            site.file == file and site.line == wanted for site in (recording.trace.sites[n] for n in set(recording.trace.site))
        )


def test_what_macros_do_is_recorded_at_the_lines_that_call_them() -> None:
    recording = recorded("macros_written_out")
    lines = (LANGUAGE / "macros_written_out.slang").read_text().split("\n")
    at = {word: next(n for n, text in enumerate(lines, 1) if text.strip().startswith(word)) for word in ("PUSH(", "int x", "EACH(")}
    assert events(recording, "read", thread=2)[1:] == [("read", "tile", 3)] * 2
    assert {kind for kind, *_ in events(recording, "arrive", "resume")} == {"arrive", "resume"}
    assert values(recording, "plus", "call", 1) == values(recording, "plus", "return", 1) == [None] * 3
    about = {(site.kind, site.name, site.line) for site in recording.trace.sites}
    assert about >= {("write", "tile", at["PUSH("]), ("atomic", "count", at["PUSH("]), ("read", "tile", at["int x"])}
    assert ("overrun", "", at["EACH("]) in about
    assert "plus" in recording.functions


def test_a_macro_that_may_stand_for_something_else_is_one_step() -> None:
    text = "#ifdef FAST\n#define SET(v) result[0] = v\n#else\n#define SET(v) result[id.x] = v\n#endif\n#define STR(x) #x\n"
    recording = source(text + kernel("SET(int(id.x) + 1);\n#undef SET\n#define SET(v) result[id.x] += v\nSET(2);"))
    assert recording.outputs["result"][:4].tolist() == [3, 4, 5, 6]
    assert recording.same_as_plain
    assert events(recording, "write") == []
    about = "the macro SET is one step: what it reads and writes is not recorded."
    assert list(recording.trace.verdict.unseen) == [f"kernel.slang, line {line}: {about}" for line in (12, 15)]


def test_a_macro_that_names_itself_and_one_that_explodes_stay_as_they_are() -> None:
    many = "".join(f"#define M{n}(x) M{n - 1}(x) + M{n - 1}(x)\n" for n in range(1, 40))
    text = "#define add(x) add(x) + 1\n#define M0(x) x\n" + many
    recording = source(text + kernel("int y = add(1); result[id.x] = M3(y);", "int (add)(int x) { return x + 10; }"))
    assert recording.outputs["result"][:4].tolist() == [8 * 12] * 4
    assert recording.same_as_plain
    own = Program.read(text + kernel("result[id.x] = M39(1);"), "kernel.slang").own
    assert len(own.source.text) < 100_000
    chain = "#define M0(x) x\n" + "".join(f"#define M{n}(x) M{n - 1}(x)\n" for n in range(1, 3000)) + "void f() { M2999(1); }"
    assert "M2999(1)" in Program.read(chain, "kernel.slang").own.source.text


def test_a_loop_without_a_budget_is_named() -> None:
    text = """float f(float x)
{
    x = spirv_asm { result:$$float = OpFMul $x $x };
    for (int i = 0; i < 4; i++) x += i;
    do
        x *= 0.5;
    while (x > 1.0);
    return x;
}"""
    recording = source(kernel("result[id.x] = int(f(id.x)); while (result[id.x] > 1) result[id.x] -= 1;", text))
    assert set(recording.stepped_over) == {"f"}
    assert list(recording.trace.verdict.unseen) == [
        "kernel.slang, line 5: this loop has no budget: nothing but the time limit ends it."
    ]


def test_what_catches_errors_is_no_loop_and_all_of_it_is_recorded() -> None:
    recording = recorded("errors_caught")
    verdict = judge(recording, find(recording.trace))
    assert (verdict.missed, verdict.unreached, verdict.findings) == ((), (), ())
    assert recording.outputs["outputBuffer"][:8].tolist() == [3, 7, 14, 19, 100, 100, 100, 100]
    written = {thread: events(recording, "write", thread=thread) for thread in range(4)}
    assert [event for event in written[1] if event[2] < 4] == [("write", "outputBuffer", 1)]
    assert len([event for event in written[3] if event[2] < 4]) == 3


def test_a_branch_that_the_compiler_leaves_out_is_recorded_and_left_out() -> None:
    recording = recorded("constant_branches")
    assert recording.trace.verdict.unseen == ()
    sites = [recording.trace.sites[number] for number in np.unique(recording.trace.site)]
    written = (LANGUAGE / "constant_branches.slang").read_text().split("\n")
    assert {site.line for site in sites if site.kind == "branch"} == {n for n, line in enumerate(written, 1) if "if (" in line}


def test_only_chosen_functions_record() -> None:
    recording = recorded("early_return", functions=("computeMain",))
    assert "find" in recording.stepped_over
    assert not any(name == "find" for _, name, _ in events(recording, "call"))


def test_what_the_compiler_refuses_costs_a_line_and_not_the_function() -> None:
    text = kernel(
        "int x = 3;\nPick p = x == 3 ? Pick.yes : Pick.no;\nresult[id.x] = x + choose(p);\nx += 1;",
        "enum Pick { no, yes }\nint choose(Pick p) { return p == Pick.yes ? 10 : 0; }",
    )
    recording = source(text)
    assert recording.same_as_plain
    assert not recording.stepped_over
    assert values(recording, "x")[-1] == [4]


def test_what_slang_refuses_only_as_it_generates_code_costs_a_line_too() -> None:
    outside = """interface I { int f(int x); }
struct A : I { int f(int x) { return x; } }
struct B : I { int by; int f(int x) { return x * by; } }
float made(float x) { return x; }
I made(uint n) { if (n == 0) return A(); return B(3); }"""
    recording = source(kernel("let one = made(id.x);\nresult[id.x] = one.f(2);", outside))
    assert recording.outputs["result"][:4].tolist() == [2, 6, 6, 6]
    assert recording.same_as_plain
    assert not recording.stepped_over
    gap = "the compiler accepts it only as written, so it is not recorded."
    assert list(recording.trace.verdict.unseen) == [f"kernel.slang, line 10: {gap}"]


def test_a_line_with_an_interface_value_of_inferred_type_is_recorded() -> None:
    recording = recorded("interface_values_inferred")
    assert recording.trace.verdict.unseen == ()
    assert ("read", "scales", 2) in events(recording, "read", thread=2)


@pytest.mark.parametrize(
    ("statement", "outside", "words"),
    [
        ("result[id.x] = f(3);", "int f(int n) { return n < 2 ? 1 : f(n - 1) * n; }", r"kernel\.slang:1:\d+: recursion detected"),
        ("result[id.x] = f<int>();", 'int f<T>() { static_assert(sizeof(T) == 8, "eight"); return 1; }', r"static .* eight"),
        ("int a[4] = { 1, 2, 3, 4 }; result[id.x] = a[5];", "", "^array index out of bounds$"),
    ],
)
def test_what_slang_says_when_the_pipeline_is_created_is_the_error(statement: str, outside: str, words: str) -> None:
    with pytest.raises(CompileError, match=words):
        source(kernel(statement, outside))


def test_textures_hold_what_is_given_and_show_what_is_written() -> None:
    texels = np.arange(4 * 64, dtype=np.float32)
    outside = "Texture2D<float4> picture; RWTexture2D<int> drawn;"
    recording = source(
        kernel("result[id.x] = int(picture[uint2(id.x, 1)].y); drawn[uint2(id.x, 0)] = result[id.x];", outside),
        inputs={"picture": texels},
    )
    assert recording.outputs["result"][:4].tolist() == [4 * (32 + i) + 1 for i in range(4)]
    assert recording.outputs["drawn"][:4].tolist() == recording.outputs["result"][:4].tolist()
    assert recording.same_as_plain


def test_textures_that_cannot_be_are_refused_in_words() -> None:
    with pytest.raises(ValueError, match=r"picture is a Texture2DMS.*cannot be given"):
        source(kernel("result[0] = int(picture.Load(int2(0, 0), 0).x);", "Texture2DMS<float4> picture;"))


@pytest.mark.parametrize(("scope", "recorded_ones"), [("entry", ["computeMain"]), ("nothing", [])])
def test_less_is_recorded_within_a_smaller_scope(scope: str, recorded_ones: list[str]) -> None:
    recording = recorded("early_return", instrument_scope=scope)
    assert recording.functions == recorded_ones
    assert "find" in recording.stepped_over
    assert recording.same_as_plain
    assert (len(recording.trace) > 0) == bool(recorded_ones)


def test_within_a_smaller_scope_unrolled_loops_are_recorded_as_loops_and_said_to_be() -> None:
    text = kernel("int sum = 0;\n[unroll] for (int i = 0; i < 5; i++) sum += i;\nresult[id.x] = sum;")
    recording = source(text, instrument_scope="entry")
    assert recording.same_as_plain
    assert (recording.trace.kinds == "loop").sum() == 5 * recording.trace.info.threads
    verdict = judge(recording, [])
    assert any("are recorded as loops" in note for note in verdict.notes)
    assert verdict.missed == ()


def test_line_directives_do_not_move_what_is_refused() -> None:
    text = kernel(
        "int x = 3;\n#line 900\nPick p = x == 3 ? Pick.yes : Pick.no;\nresult[id.x] = x + choose(p);\nx += 1;",
        "enum Pick { no, yes }\nint choose(Pick p) { return p == Pick.yes ? 10 : 0; }",
    )
    recording = source(text)
    assert recording.same_as_plain
    assert not recording.stepped_over
    assert values(recording, "x")[-1] == [4]


def test_stores_to_memory_named_like_a_modifier_are_recorded():
    recording = recorded("names_like_keywords")
    assert values(recording, "out", "write", thread=1) == [[1], [3]]
    assert values(recording, "line", "write", thread=1) == [[3], [9]]
    assert values(recording, "sample", "write", thread=1) == [[13.5]]
    assert values(recording, "point", thread=1)[-1] == [1.5, 1]
