"""The source filter: no source from a page can name a file, however it is written."""

import pytest

from splatscope.paths import shaders
from splatscope.workers.sandbox.source_filter import MOST_BYTES, refuse


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
        "void f() {}\0",
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


def test_the_shipped_modules_pass_themselves():
    assert len(shaders()) > 10
    for path in shaders():
        assert refuse(path.read_text()) == "", path.name
