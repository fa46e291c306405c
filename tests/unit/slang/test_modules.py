"""The files of a program: where includes are found, what they are called, and what link-time constants it has."""

import pytest

from splatscope.gpu.kernel import CompileError
from splatscope.slang.modules import Module, constants_without_value, declared_constants, find_entry, load_modules
from splatscope.slang.source import Source


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
    modules = load_modules(main, "kernel.slang", (tree,))
    assert [module.file for module in modules] == [
        "a/common.hlsl",
        "a/first.hlsl",
        "b/common.hlsl",
        "b/second.hlsl",
        "kernel.slang",
    ]
    assert [module.included for module in modules] == [True, True, True, True, False]


def test_folders_come_in_their_order(tree):
    (found, _) = load_modules('#include "common.hlsl"', "kernel.slang", (tree / "b", tree / "a"))
    assert "in_b" in found.original


def test_two_files_are_never_called_alike(tree):
    main = '#include "common.hlsl"\n#include "second.hlsl"'
    modules = load_modules(main, "kernel.slang", (tree / "a", tree / "b"))
    names = [module.file for module in modules]
    assert len(set(names)) == len(names) == 5


def test_link_time_constants_are_listed_with_their_types():
    text = "extern static const uint N;\nextern static const float K = 2;\nextern static const int M; // extern static const int C;"
    modules = load_modules(text, "kernel.slang", ())
    assert declared_constants(modules) == {"N": "uint", "K": "float", "M": "int"}
    assert constants_without_value(modules, ["M"]) == ["N"]


def test_a_constant_that_another_module_defines_has_a_value(tmp_path):
    (tmp_path / "sizes.slang").write_text("export public static const uint N = 8;")
    modules = load_modules("import sizes;\nextern static const uint N;", "kernel.slang", (tmp_path,))
    assert constants_without_value(modules, []) == []


def test_the_first_entry_point_is_found_and_one_that_cannot_be_read_is_the_compiler_s_to_explain():
    entry = '[shader("compute")] [numthreads(8, 1, 1)]\nvoid {}(uint t : SV_GroupIndex)'

    def first(text: str) -> str:
        return find_entry(Module("", "k.slang", text, Source(text, "k.slang")))

    assert first(entry.format("one") + " {}\n" + entry.format("two") + " {}") == "one"
    assert first(entry.format("one") + "\n    GroupMemoryBarrierWithGroupSync();\n{\n}\n") == ""
    with pytest.raises(CompileError, match="no entry point"):
        first("// numthreads\nvoid f() {}\n")


def test_the_mark_at_the_start_of_a_file_is_no_part_of_its_text(tmp_path):
    (tmp_path / "sizes.slang").write_text("\ufeffpublic static const uint N = 8;", encoding="utf-8")
    modules = load_modules("\ufeffimport sizes;\nuint n = N;", "kernel.slang", (tmp_path,))
    assert [module.original for module in modules] == ["public static const uint N = 8;", "import sizes;\nuint n = N;"]
