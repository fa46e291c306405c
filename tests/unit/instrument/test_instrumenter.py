"""A module before and after: which functions record, and what the entry point gets."""

from splatscope.slang.program import Module, Program
from splatscope.slang.source import Source
from splatscope.tracing.instrument.instrumenter import Exclusions, Instrumented, Instrumenter

KERNEL = """RWStructuredBuffer<int> result;
int twice(int x) { return 2 * x; }
[shader("compute")] [numthreads(4, 1, 1)]
void main(uint i : SV_GroupIndex)
{
#line 900
    result[i] = twice(1);
}
"""


def instrumented(text: str, excluded: Exclusions | None = None, is_module: bool = True) -> tuple[Instrumented, Instrumenter]:
    module = Module("", "k.slang", text, Source(text, "k.slang"), included=not is_module)
    instrumenter = Instrumenter(Program((module,), chosen_entry="main"), excluded)
    return instrumenter.instrument()[0], instrumenter


def test_the_entry_point_finds_its_thread_and_the_module_imports_the_recorder():
    result, _ = instrumented(KERNEL)
    assert result.functions == ["twice", "main"]
    assert "void main(uint i : SV_GroupIndex, uint3 _rec_group : SV_GroupID, uint _rec_lane : SV_GroupIndex)" in result.text
    assert result.text.count("_rec_begin(_rec_group, _rec_lane);") == 1
    assert result.text.endswith("\nimport _recorder;\n")


def test_a_comma_after_the_last_parameter_stays_the_only_one():
    for written in ("uint i : SV_GroupIndex,", "uint i : SV_GroupIndex, // the last\n"):
        result, _ = instrumented(KERNEL.replace("uint i : SV_GroupIndex", written))
        assert f"void main({written}uint3 _rec_group : SV_GroupID" in result.text


def test_no_line_moves_and_line_directives_go():
    result, _ = instrumented(KERNEL)
    assert "#line" not in result.text
    before, after = KERNEL.split("\n"), result.text.split("\n")
    assert [n for n, line in enumerate(before) if "result" in line] == [n for n, line in enumerate(after) if "result" in line]


def test_functions_that_never_run_are_blank():
    lost = "float lost(float x)\n{\n    return x;\n}\n"
    (result, instrumenter), (without, _) = instrumented(lost + KERNEL), instrumented(KERNEL)
    assert result.text.lstrip() == without.text
    assert result.text.count("\n") == without.text.count("\n") + lost.count("\n")
    assert all(site.function != "lost" for site in instrumenter.sites)


def test_text_that_others_include_imports_nothing():
    assert "import _recorder" not in instrumented(KERNEL, is_module=False)[0].text


def test_excluded_functions_stay_as_written_with_the_reason():
    source = Source(KERNEL)
    twice = next(source.functions())
    result, _ = instrumented(KERNEL, Exclusions(functions={("k.slang", twice.start): "it was not chosen"}))
    assert result.stepped_over == {"twice": "it was not chosen"}
    assert "{ return 2 * x; }" in result.text


def test_target_code_and_unreadable_bodies_are_stepped_over():
    result, _ = instrumented("void a() { spirv_asm { OpNop }; }\nvoid b() { ) }\nvoid c() { return; }")
    assert result.functions == ["c"]
    assert result.stepped_over == {
        "a": "it holds target code",
        "b": "its body has syntax that the recorder does not read",
    }


def test_functions_of_one_name_are_stepped_over_one_by_one():
    code = "{ spirv_asm { OpNop }; }"
    methods = f"struct A {{ void f() {code} }}\nstruct B {{ void f() {code} void g() {code} }}\n"
    result, _ = instrumented(
        methods + f"void f(int x) {code}\nvoid f(float x) {code}\nvoid h() {{ let g = () => {{ return 1; }}; }}"
    )
    names = ["A.f (line 1)", "B.f (line 2)", "g", "f (line 3)", "f (line 4)"]
    assert result.stepped_over == dict.fromkeys(names, "it holds target code")


def test_methods_and_lambdas_record_too():
    text = "struct S { int n; [mutating] void add() { n += 1; } }\nvoid main() { let f = (int x) => { return x + 1; }; }"
    result, instrumenter = instrumented(text)
    assert "n += _rec_added(8388608, n, 1); _rec_value(" in result.text
    assert "=> { _rec_value(" in result.text
    assert {site.function for site in instrumenter.sites[1:]} == {"add", "main"}


def test_neighbouring_records_are_one_batch():
    result, instrumenter = instrumented("void main(int a, float b) { }")
    assert "_rec_int_float(" in result.text
    assert [len(batch) for batch in instrumenter.batches.values()] == [4]
    assert instrumenter.value_types == {"int", "float"}
