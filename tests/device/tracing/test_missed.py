"""What the checks cannot see is named as missed; barriers and accesses behind macros are seen where that is certain."""

import numpy as np
import pytest

from helpers.corpus import FINDINGS
from splatscope.api.recording import Recording
from splatscope.gpu.device import adapter_of, open_device
from splatscope.gpu.kernel import CompileError
from splatscope.tracing.job import KernelJob
from splatscope.tracing.judge import judge
from splatscope.tracing.record_and_check import record_and_check

BARRIER = "GroupMemoryBarrierWithGroupSync"
KERNEL = """RWStructuredBuffer<uint> data; groupshared uint s[64];
[shader("compute")] [numthreads(64, 1, 1)]
void t(uint l : SV_GroupIndex) { BODY }
"""
UNSURE = "#if 1 || __UNSURE"  # names that begin like the compiler's own may be defined
TURNED = "s[l] = l; S; data[l] = s[63 - l];"


def checked(body: str, head: str = "", **more) -> Recording:
    source = f"{head}\n{KERNEL.replace('BODY', body)}"
    return Recording(record_and_check(open_device(), KernelJob(source, records=100_000, **more)))


def kinds(checked: Recording) -> list[str]:
    return [finding.kind for finding in checked.findings]


@pytest.mark.parametrize(
    "head",
    [f"#define S {BARRIER}()", f"#define S {BARRIER}", f"#if 0\n#define S {BARRIER}()\n#endif", f"#define S() {BARRIER}()"],
)
def test_a_macro_that_is_not_called_hides_nothing(head):
    found = checked("data[0] += l;", head)
    assert kinds(found) == ["race"]
    assert found.missed == []


@pytest.mark.parametrize(
    ("head", "call"), [(f"#define S {BARRIER}()", "S;"), (f"#define S {BARRIER}", "S();"), (f"#define S() {BARRIER}()", "S();")]
)
def test_a_barrier_behind_a_macro_orders_what_it_orders(head, call):
    turned = TURNED.replace("S;", call)
    assert (kinds(checked(turned, head)), checked(turned, head).missed) == ([], [])
    assert kinds(checked(turned + " s[l] = 7;", head)) == ["race"]
    assert kinds(checked(f"if (l < 8) {{ {call} }} data[l] = l;", head)) == ["barrier-divergence"]


def test_a_barrier_that_is_given_with_the_kernel_is_seen():
    found = checked(TURNED, defines={"S": f"{BARRIER}()"})
    assert (kinds(found), found.missed) == ([], [])
    assert kinds(checked(TURNED + " s[l] = 7;", defines={"S": f"{BARRIER}()"})) == ["race"]
    default = f"int unused() {{ return 0; }}\n#ifndef S\n#define S {BARRIER}()\n#endif"
    assert kinds(checked(TURNED, default)) == []
    assert checked(TURNED, default, defines={"S": ""}).missed


def test_a_barrier_in_a_header_is_seen(tmp_path):
    (tmp_path / "wait.slangh").write_text(f"#define S {BARRIER}()\n")
    found = checked(TURNED + " s[l] = 7;", '#include "wait.slangh"', include=(tmp_path,))
    assert (kinds(found), found.missed) == (["race"], [])


def test_what_a_branch_defines_that_is_certainly_compiled_is_seen():
    sure = f"#define WAIT 1\n#if WAIT\n#define S {BARRIER}()\n#else\n#define S\n#endif"
    found = checked(TURNED, sure)
    assert (kinds(found), found.missed) == ([], [])


def test_checks_that_are_left_out_are_missed():
    unsure = f"{UNSURE}\n#define S {BARRIER}()\n#else\n#define S\n#endif"
    found = checked(TURNED, unsure)
    assert kinds(found) == []
    assert any("this barrier is not recorded, so races" in missed for missed in found.missed)
    hidden = checked("PUT;\n data[l] = s[l];", f"{UNSURE}\n#define PUT s[l] = l\n#endif")
    assert kinds(hidden) == []
    assert any(
        missed.endswith("this access is not recorded: no race with it is looked for, and no read before any write of s.")
        for missed in hidden.missed
    )


def test_what_a_macro_of_an_imported_module_does_is_missed_if_it_is_not_recorded(tmp_path):
    (tmp_path / "counts.slang").write_text(f"""
        {UNSURE}
        #define COUNT(b) b[0] += 1
        #endif
        public void count(RWStructuredBuffer<uint> bins) {{ COUNT(bins); }}""")
    found = checked("count(data);", "import counts;", include=(tmp_path,))
    assert kinds(found) == []
    assert found.missed == ["counts.slang, line 5: the macro COUNT is one step: what it reads and writes is not recorded."]


def test_what_stands_for_one_buffer_or_another_is_missed():
    head = "RWStructuredBuffer<uint> a, b; void put(RWStructuredBuffer<uint> to, uint i) { to[i] = i; }"
    found = checked("put(a, l); put(b, l);", head)
    assert found.missed == ["kernel.slang, line 1: to stands for one buffer or another: no race is looked for on what it accesses."]
    assert checked("put(a, l); put(a, l);", head).missed == []


def test_an_array_of_buffers_is_missed():
    found = checked("several[1][l] = l;", "RWStructuredBuffer<uint> several[2];")
    assert found.missed == ["kernel.slang, line 4: this access to several is not recorded: no race with it is looked for."]


def test_a_load_that_the_recorder_does_not_know_is_missed():
    found = checked("data[l] = bytes.LoadByteOffset<uint>(0);", "RWByteAddressBuffer bytes;")
    assert found.missed == ["kernel.slang, line 4: this access to bytes is not recorded: no race with it is looked for."]


UNGUARDED = """
StructuredBuffer<int> numbers;
RWStructuredBuffer<int> tripled;
[shader("compute")] [numthreads(32, 1, 1)]
void triple(uint3 thread : SV_DispatchThreadID)
{
    tripled[thread.x] = 3 * numbers[thread.x];
    if (thread.x > 1000)
        tripled[0] = 1;
}
"""


def test_a_pointer_is_missed_with_what_to_write_in_its_place():
    found = checked("put(&data[l], 1);", "void put(Ptr<uint> at, uint value) { *at = value; }")
    (sentence,) = found.missed
    assert sentence.startswith("kernel.slang, line 4: what is accessed through a pointer to data is not recorded")
    assert "write data[index] where the pointer is used" in sentence


def test_a_handle_is_refused_with_what_to_take_in_its_place():
    with pytest.raises(ValueError, match=r"^m\.albedo is a DescriptorHandle: .* Take a Texture2D<float4> in its place\.$"):
        checked(
            "data[l] = uint(m.albedo.Load(int3(0)).r);",
            """struct Material { DescriptorHandle<Texture2D<float4>> albedo; }
ConstantBuffer<Material> m;""",
        )


@pytest.mark.parametrize(
    ("body", "name", "head"),
    [
        ("data[l] = WaveMatch(l % 3).x;", "WaveMatch", ""),
        ("data[l] = uint(of(l));", "TensorView", "TensorView<float> view; float of(uint at) { return view[at]; }"),
        ("Hit hit; data[l] = of(hit);", "class", "class Hit { uint t; }; uint of(Hit hit) { return hit.t; }"),
    ],
)
def test_what_the_device_lacks_is_named(body, name, head):
    if "NVIDIA" in adapter_of(open_device()).name:
        pytest.skip("This device may have it.")
    with pytest.raises(CompileError, match=rf"^kernel\.slang, line \d+: this device has no {name}\. (It|Slang) "):
        checked(body, head)


def test_a_function_that_changes_shared_memory_in_place_is_noted():
    found = checked("put(s, l); data[l] = s[l];", "void put(inout uint cells[64], uint at) { cells[at] = at; }")
    assert (kinds(found), found.missed) == ([], [])
    assert any(note.startswith("put changes s in place here") for note in found.notes)


def test_a_store_that_is_outside_in_another_workgroup_leaves_the_notes_of_the_first():
    """Such a store has a site of its own in the recording of all workgroups, which the other recording does not know."""
    given = {"numbers": np.ones(70, np.int32), "tripled": np.zeros(70, np.int32)}
    found = Recording(record_and_check(open_device(), KernelJob(UNGUARDED, groups=(3, 1, 1), inputs=given), between_groups=True))
    assert {finding.kind for finding in found.findings} == {"out-of-bounds"}
    assert found.unreached == [("kernel.slang", 9, 9)]


COMPACTION = """RWStructuredBuffer<float> kept; RWStructuredBuffer<uint> cursor; groupshared uint base;
[shader("compute")] [numthreads(32, 1, 1)]
void compact(uint3 tid : SV_DispatchThreadID, uint lane : SV_GroupIndex)
{
    if (lane == 0)
    {
        uint start;
        InterlockedAdd(cursor[0], 32, start);
        base = start;
    }
    GroupMemoryBarrierWithGroupSync();
    kept[base + lane] = float(tid.x);
}
"""


def test_workgroups_that_draw_their_places_from_a_counter_leave_nothing_unexplained():
    given = {"kept": np.zeros(256, np.float32), "cursor": np.zeros(1, np.uint32)}
    recording = record_and_check(open_device(), KernelJob(COMPACTION, groups=(8, 1, 1), inputs=given), between_groups=True)
    kept = np.roll(recording.outputs["kept"], 32)  # as if its groups had come in another order
    recording.plain = recording.outputs | {"kept": kept}
    verdict = judge(recording, recording.findings, between_groups=True)
    assert verdict.agreement == "different"
    assert (verdict.missed, verdict.findings) == ((), ())


def said_of_waves(body: str, threads: int) -> list[str]:
    kernel = KERNEL.replace("[numthreads(64, 1, 1)]", f"[numthreads({threads}, 1, 1)]").replace("BODY", body)
    given = {"data": np.zeros(threads, np.uint32)}
    found = Recording(record_and_check(open_device(), KernelJob(kernel, records=100_000, inputs=given)))
    assert found.findings == []
    return [words for words in [*found.notes, *found.missed] if "WaveActive" in words]


def test_a_sum_that_all_threads_or_all_of_one_wave_use_is_not_named():
    assert not said_of_waves("uint sum = WaveActiveSum(l + 1); data[l] = sum;", 256)
    assert not said_of_waves("uint least = WaveActiveMin(l / 4); if (l == 0) data[0] = least;", 4)


@pytest.mark.parametrize(
    "name",
    ["members_by_call_apart", "qualified_shared_ordered", "member_named_like_shared", "namespaces_with_one_name"],
)
def test_accesses_by_full_names_and_calls_are_seen(name):
    recording = Recording(record_and_check(open_device(), KernelJob((FINDINGS / "race" / f"{name}.slang").read_text())))
    assert (kinds(recording), recording.missed) == ([], [])


def test_what_copies_of_arguments_overwrite_is_told():
    both = "void both(inout uint a, inout uint b) { a += 1; b += 2; }"
    bump = "void bump(inout uint a, uint i) { a += 1; s[i] += 10; }"
    start = "s[l] = 3; uint x = 1, y = 2; "
    (twice,) = checked(f"{start} both(x, x); data[l] = x + s[l];", both).missed
    assert twice == (
        "kernel.slang, line 4: x is passed to both for several out parameters, and which of their values it keeps is not defined: "
        "pass a variable of its own for each."
    )
    assert not checked(f"{start} both(x, y); data[l] = x + y + s[l];", both).missed
    (overwritten,) = checked(f"{start} bump(s[l], l); data[l] = s[l];", bump).missed
    assert overwritten.startswith("kernel.slang, line 4: the call has a copy of an element of s, which overwrites what line 1 ")
    assert not checked(f"{start} bump(x, l); data[l] = x + s[l];", bump).missed


@pytest.mark.parametrize("way", ["inout", "out"])
@pytest.mark.parametrize("memory", ["s", "data"])
def test_an_element_that_two_arguments_turn_out_to_be_is_told(way, memory):
    both = f"void both({way} uint a, {way} uint b) {{ a = 1; b = 2; }}"
    call = f"for (uint k = 0; k < 2; k++) if (l < 8) both({memory}[2 * l], {memory}[AT]); data[l + 64] = o;"
    (twice,) = checked(f"s[l] = 3; uint o = l == 5 ? 0 : 1; {call}".replace("AT", "2 * l + o"), both).missed
    assert twice.startswith(
        f"kernel.slang, line 4: {memory}[10] is passed to both for several out parameters in thread 5, and which"
    )
    assert not checked(f"s[l] = 3; uint o = 1; {call}".replace("AT", "2 * l + o"), both).missed


@pytest.mark.parametrize("name", ["var", "let"])
def test_a_local_may_bear_the_name_of_a_keyword(name):
    body = TURNED.replace("data[l] = s[63 - l];", f"uint {name} = s[63 - l]; data[l] = {name};")
    guarded = checked(body.replace("S;", f"{BARRIER}();"))
    assert (kinds(guarded), guarded.missed) == ([], [])
    assert kinds(checked(body.replace("S;", ""))) == ["race"]


@pytest.mark.parametrize(
    ("given", "kept", "found"), [(np.inf, "min(d, 9)", []), (np.nan, "min(d, 9)", ["nan"]), (np.inf, "d * (float(t) - 2)", ["nan"])]
)
def test_an_infinity_that_was_given_is_a_note(given, kept, found):
    source = """StructuredBuffer<float> depth; RWStructuredBuffer<float> kept;
[shader("compute")] [numthreads(4, 1, 1)]
void cut(uint t : SV_GroupIndex) { float d = depth[t]; kept[t] = KEPT; }
"""
    inputs = {"depth": np.array([1, 2, given, 3], np.float32), "kept": np.zeros(4, np.float32)}
    recording = Recording(record_and_check(open_device(), KernelJob(source.replace("KEPT", kept), inputs=inputs)))
    assert kinds(recording) == found
    assert any("depth[2] is infinite, as it was given." in note for note in recording.notes) == np.isinf(given)
