"""The files of a program: where includes are found, what they are called, and what link-time constants it has."""

import pytest

from splatscope.slang.program import Program


@pytest.fixture
def tree(tmp_path):
    """Two folders that hold a header of the same name, each included from beside it."""
    for name, text in {
        "a/first.hlsl": '#include "common.hlsl"\nstatic const int first = 1;',
        "a/common.hlsl": "static const int in_a = 1;",
        "b/second.hlsl": '#include "common.hlsl"\n#include "../a/first.hlsl"',
        "b/common.hlsl": "static const int in_b = 1;",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_an_include_is_looked_for_beside_the_file_that_names_it(tree):
    main = '#include "a/first.hlsl"\n#include "b/second.hlsl"'
    modules = Program.read(main, "kernel.slang", (tree,)).modules
    assert [module.file for module in modules] == [
        "a/common.hlsl",
        "a/first.hlsl",
        "b/common.hlsl",
        "b/second.hlsl",
        "kernel.slang",
    ]
    assert [module.included for module in modules] == [True, True, True, True, False]


def test_folders_come_in_their_order(tree):
    (found, _) = Program.read('#include "common.hlsl"', "kernel.slang", (tree / "b", tree / "a")).modules
    assert "in_b" in found.original


def test_two_files_are_never_called_alike(tree):
    main = '#include "common.hlsl"\n#include "second.hlsl"'
    modules = Program.read(main, "kernel.slang", (tree / "a", tree / "b")).modules
    names = [module.file for module in modules]
    assert len(set(names)) == len(names) == 5


def test_link_time_constants_are_listed_with_their_types():
    text = "extern static const uint N;\nextern static const float K = 2;\nextern static const int M; // extern static const int C;"
    program = Program.read(text, "kernel.slang")
    assert program.constant_types == {"N": "uint", "K": "float", "M": "int"}
    assert program.constants_without_value(["M"]) == ["N"]


def test_a_constant_that_another_module_defines_has_a_value(tmp_path):
    (tmp_path / "sizes.slang").write_text("export public static const uint N = 8;")
    program = Program.read("import sizes;\nextern static const uint N;", "kernel.slang", (tmp_path,))
    assert program.constants_without_value([]) == []


@pytest.mark.parametrize(("body", "missing"), [("o[0] = 1;", []), ("o[0] = size();", ["N"]), ("o[0] = N;", ["N"])])
def test_a_constant_that_nothing_uses_needs_no_value(body, missing):
    head = "extern static const uint N;\nRWStructuredBuffer<uint> o;"
    text = f"{head}\nuint size() {{ return N; }}\n[numthreads(1, 1, 1)] void main() {{ {body} }}"
    assert Program.read(text, "kernel.slang").constants_without_value([]) == missing


def test_the_entry_point_is_the_chosen_one_or_the_first_that_can_be_read():
    entry = '[shader("compute")] [numthreads(8, 1, 1)]\nvoid {}(uint t : SV_GroupIndex)'

    def entry_in(text: str, chosen: str = "") -> str:
        return Program.read(text, "k.slang", entry=chosen).entry

    two = entry.format("one") + " {}\n" + entry.format("two") + " {}"
    assert (entry_in(two), entry_in(two, "two")) == ("one", "two")
    assert entry_in(entry.format("one") + "\n    GroupMemoryBarrierWithGroupSync();\n{\n}\n") == ""
    assert entry_in("// numthreads\nvoid f() {}\n") == ""


def test_the_mark_at_the_start_of_a_file_is_no_part_of_its_text(tmp_path):
    (tmp_path / "sizes.slang").write_text("\ufeffpublic static const uint N = 8;", encoding="utf-8")
    modules = Program.read("\ufeffimport sizes;\nuint n = N;", "kernel.slang", (tmp_path,)).modules
    assert [module.original for module in modules] == ["public static const uint N = 8;", "import sizes;\nuint n = N;"]


def test_functions_that_nothing_names_never_run():
    source = """int a() { return b(); }
int b() { return 1; }
int lost() { return lost2() + lost(); }
int lost2() { return 2; }
static int start = c();
int c() { return 3; }
int d() { return 4; }
struct S { int of() { return d(); } }
[noinline] int e() { return f(); }
namespace N { int f() { return 5; } int lost3() { return 6; } }
#define G g()
int g() { return 7; }
[shader("compute")] [numthreads(1, 1, 1)] void main() { a(); }
"""
    program = Program.read(source, "k.slang", entry="main")
    assert sorted(block.name for block in program.idle) == ["lost", "lost2", "lost3"]
    assert Program.read(source, "k.slang", entry="other").idle == set()
    assert Program.read(source + "#define NAME(x) lost##x\n", "k.slang", entry="main").idle == set()
