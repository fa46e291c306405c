"""The source filter: no source from a page can name a file, however it is written."""

import pytest

from splatscope.paths import LESSONS, shaders
from splatscope.tracing.job import KernelJob
from splatscope.web.examples.gallery import EXAMPLES
from splatscope.workers.sandbox.source_filter import MOST_BYTES, MOST_FILES, MOST_TOGETHER, modules, refuse, refuse_job
from tests.helpers.corpus import CORPUS
from tests.helpers.filter_tricks import accepted_code, file_tricks, plain, target_tricks
from tests.helpers.linear_time import superlinear


@pytest.mark.parametrize(
    "source",
    [
        '#include "/etc/passwd"',
        "# include <x>",
        '#/**/include "x"',
        '#/* two\nlines */include "x"',
        '/* first */ #include "x"',
        '#inc\\\nlude "x"',
        '#inc\\  \nlude "x"',
        '#inc\\\r\nlude "x"',
        '\\\n#include "x"',
        '%:include "x"',
        "#define I import\nI secrets;",
        "#define A im##port\nA secrets;",
        "#define I #include\nI <x>",
        '#line 1 "/etc/passwd"',
        "#pragma something",
        'import "/etc/passwd";',
        "import secrets;",
        "import blending, secrets;",
        "import folder.secrets;",
        "import blending; import secrets;",
        "__include secrets;",
        "__exported import secrets;",
        "implementing secrets;",
        'void f() { __requirePrelude("x"); }',
        "void f() { spirv_asm { OpNop }; }",
        'void f() { __intrinsic_asm "x"; }',
        '[DllImport("c")] int system(NativeString line);',
        "void f() { __target_switch { case cpp: break; } }",
        'a"\\\n"#include <x>',
        '//\r#include "/etc/passwd"',
        "// x\rimport secrets;",
        "// x\\ \nimport secrets;",
        "// x\\\t\r\nimport secrets;",
        "uint f() { return spirv\\\r_asm { OpNop }; }",
        "#inc\\\n\rlude <x>",
        'static const String s = "a\\\n\rb"; import secrets; static const String t = "c";',
        """#if 0\n'a"' \n#endif\nint a = 'ab"'; import secrets; int b = '"';""",
        '\ufeff#line 1 "/etc/passwd"',
        "void f() {}\0",
        """int a = '"'; import secrets; int b = '"';""",
        """static let x = R"(" ;import secrets; )";""",
        "x" * (MOST_BYTES + 1),
    ],
)
def test_what_may_not_be_is_refused_in_one_line(source):
    answer = refuse(source)
    assert answer
    assert "\n" not in answer


@pytest.mark.parametrize(
    "source",
    [
        "import blending;\nimport obb;",
        "// #include <x>\nvoid f() {}",
        "/* import secrets; */ void f() {}",
        "#define TWICE(x) ((x) * 2)\n#if 1\n#endif\nint f() { return TWICE(2); }",
        'void f() { printf("#include is a word // here"); }',
        "x" * MOST_BYTES,
    ],
)
def test_what_may_be_passes(source):
    assert refuse(source) == ""


# These lines of the corpus are refused wherever they come from: other files of the corpus, and code for a single target.
NOT_ON_A_PAGE = ("#include", "There is no module", "`implementing", "`__include", "Joining", "`__target_switch`", "#language")


def test_no_kernel_of_the_app_or_the_corpus_is_refused():
    kernels = [*shaders(), *LESSONS.rglob("*.slang"), *CORPUS.rglob("*.slang")]
    sources = {path.name: path.read_text() for path in kernels} | {one.name: one.source for one in EXAMPLES}
    refused = {name: wrong for name, source in sources.items() if (wrong := refuse(source))}
    assert len(sources) > 800
    assert not [wrong for wrong in refused.values() if not wrong.startswith(NOT_ON_A_PAGE)]
    assert len(refused) < 12


def test_a_trick_that_names_a_file_plainly_is_refused(tmp_path):
    assert all(refuse(line, "k.slang", {"k.slang"}) for line in plain(tmp_path).values())
    refused = [name for name, source in file_tricks(tmp_path).items() if refuse(source, "k.slang", {"k.slang"})]
    assert len(refused) > 150  # a test on a device asks the compiler what it reads of the others


@pytest.mark.parametrize("name", target_tricks())
def test_code_for_a_single_target_is_refused(name):
    assert refuse(target_tricks()[name])


@pytest.mark.parametrize("name", accepted_code())
def test_code_that_only_looks_like_it_is_accepted(name):
    assert refuse(accepted_code()[name]) == ""


def test_of_the_compilers_own_words_only_a_few_are_accepted():
    assert refuse("#ifndef __COMMON_H__\n#define __COMMON_H__\nstruct S { __init() {} }\n#endif") == ""
    assert "`__anything`" in refuse("void f() { __anything(); }")


def test_the_filter_takes_linear_time_on_any_text():
    assert superlinear(lambda text: refuse(text, "k.slang", {"k.slang"}), "import ", 'import "x', "*/", "R", "__a") == []


PROJECT = {
    "src/kernel.slang": "",
    "src/near.slangh": "",
    "lib/math.slang": "",
    "lib/parts.slang": "",
    "lib/deep/constants.hlsli": "",
    "two-words.slang": "",
}


def answer(source: str, file: str = "src/kernel.slang", **settings) -> str:
    """Return why a project with this source as one of its files is refused."""
    files = PROJECT | {file: source}
    return refuse_job(KernelJob(files.pop("src/kernel.slang"), "src/kernel.slang", files=files, **settings))


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("src/kernel.slang", '#include "near.slangh"'),
        ("src/kernel.slang", "#include <near.slangh> // beside it"),
        ("src/kernel.slang", '#include "lib/deep/constants.hlsli"'),
        ("src/kernel.slang", '#include "../lib/deep/constants.hlsli"'),
        ("src/kernel.slang", "import lib.math;"),
        ("src/kernel.slang", 'import "lib/math.slang";'),
        ("src/kernel.slang", "import two_words; import workgroup;"),
        ("src/kernel.slang", "__exported import lib.math;"),
        ("lib/math.slang", 'module math;\n__include parts;\n#include "deep/constants.hlsli"'),
        ("lib/parts.slang", "implementing math;"),
        ("src/near.slangh", "#pragma once\n#pragma pack_matrix(row_major)\n#pragma warning(disable : 3571)"),
    ],
)
def test_a_project_includes_and_imports_its_own_files(file, source):
    assert "workgroup" in modules()
    assert answer(source, file) == ""


@pytest.mark.parametrize(
    "source",
    [
        '#include "../../lib/math.slang"',
        '#include "../lib/../../secret.h"',
        '#include "/src/near.slangh"',
        '#include "//src/near.slangh"',
        '#include "near.slangh" "x"',
        '#include "near.slangh',
        '#include "nea\\x72.slangh"',
        '#define WHERE "near.slangh"\n#include WHERE',
        '%:include "near.slangh"',
        '#include "constants.hlsli"',
        '#import "near.slangh"',
        'import "../../secret";',
        'import "../near.slangh/../../../secret";',
        'import lib.math; import "/etc/passwd";',
        'import lib.math, "/etc/passwd";',
        "import lib.nothing;",
        "__include nothing;",
        'implementing "/etc/passwd";',
        '#pragma include_alias("near.slangh", "/etc/passwd")',
    ],
)
def test_a_project_reaches_nothing_else(source):
    said = answer(source)
    assert said.startswith("src/kernel.slang: ")
    assert "\n" not in said


@pytest.mark.parametrize(
    "name",
    [
        *("/etc/x.slang", "../x.slang", "a/../x.slang", "a//x.slang", "./x.slang", ".x.slang", "a/.git/x.slang", "x.slang/", ""),
        *("a\\x.slang", "x.py", "x", "x\n.slang", "x\0.slang", "é.slang", "a./x.slang", "a /x.slang", "C:x.slang"),
        *("d/" * 9 + "x.slang", "x" * 120 + ".slang", "src/kernel.slang/x.slang"),
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(name):
    said = answer("", name)
    assert said
    assert "\n" not in said
    assert "\0" not in said


def test_a_project_is_bounded():
    assert "files" in refuse_job(KernelJob("", files={f"{i}.slang": "" for i in range(MOST_FILES)}))
    half = {f"{i}.slang": "x" * MOST_BYTES for i in range(MOST_TOGETHER // MOST_BYTES)}
    assert refuse_job(KernelJob("", files=half)) == ""
    assert "together" in refuse_job(KernelJob("x", files=half))
    assert "one.slang" in refuse_job(KernelJob("", files={"one.slang": "x" * (MOST_BYTES + 1)}))


@pytest.mark.parametrize(
    "settings",
    [
        {"defines": {"I": "import"}},
        {"defines": {"A B": "1"}},
        {"defines": {"A": "1\n#include <x>"}},
        {"defines": {"A": "im##port"}},
        {"defines": {"A": "1" * 201}},
        {"constants": {"N;": 1}},
        {"constants": {"N": "1; import x"}},
        {"arguments": ("float>; import x;",)},
        {"arguments": ("import",)},
        {"conformances": (("A", "I\n"),)},
    ],
)
def test_what_a_source_is_compiled_with_is_filtered_too(settings):
    assert refuse_job(KernelJob("", **settings))


def test_what_a_source_may_be_compiled_with():
    settings = {"defines": {"N": "8", "TYPE": "float2"}, "constants": {"M": 3, "G": 0.5}, "arguments": ("Array<float, 4>",)}
    assert refuse_job(KernelJob("", **settings, conformances=(("Sphere", "IShape"),))) == ""


@pytest.mark.parametrize(
    "settings",
    [
        {"defines": {"A\u2028B\ud800": ""}},
        {"constants": {"A\nB": 1}},
        {"arguments": ("A\nB",)},
        {"conformances": (("A", "\ud800"),)},
    ],
)
def test_a_name_that_is_refused_is_quoted_in_one_line_of_plain_letters(settings):
    said = answer("", **settings)
    assert "?" in said
    assert said.encode().splitlines() == [said.encode()]
