"""Reading a file of Slang: its blocks, what is code in it, and the trees of its functions."""

import pytest

from splatscope.slang.source import Source, closing, text_of
from splatscope.slang.tokens import Tokens


def split_arguments(text: str) -> list[str]:
    tokens = Tokens(text)
    return [tokens.text(part) for part in tokens.split(tokens.indices)]


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind, block.name) for block in Source(text).walk()]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("void f() {}", [("function", "f")]),
        ("[numthreads(4, 1, 1)] public void f<T : IFloat>(T x) {}", [("function", "f")]),
        ("struct S { int x; int get() { return x; } }", [("struct", "S"), ("function", "get")]),
        ("namespace a.b { struct S {} }", [("namespace", "a.b"), ("struct", "S")]),
        ("interface I { void f(); }", [("interface", "I")]),
        ("extension S : I { void f() {} }", [("extension", "S"), ("function", "f")]),
        ("enum E : uint { a, b }", [("enum", "E")]),
        ("struct S { property float x { get { return 1; } } }", [("struct", "S"), ("property", "x"), ("function", "x.get")]),
        ("struct S { S operator+(S o) { return o; } }", [("struct", "S"), ("function", "operator+")]),
        ("void f() { let g = (int x) => { return x; }; }", [("function", "f"), ("lambda", "f")]),
        ("void f() { struct L { int x; } L l; }", [("function", "f"), ("struct", "L")]),
        ("static const int table[2] = { 1, 2 };", []),
        ("DECLARE(x) void f() {}", [("function", "f")]),
        ("// void f() {}\n/* struct S {} */", []),
    ],
)
def test_blocks_are_found_with_their_names(text, found):
    assert blocks(text) == found


def test_comments_strings_and_directives_are_no_code():
    text = '#define X {\nint a; // {\nprintf("{"); /* { */ int b;'
    code = Source(text).code
    assert "{" not in code
    assert len(code) == len(text)
    assert [code.index("int a"), code.index("int b")] == [text.index("int a"), text.index("int b")]


def test_of_branches_that_open_other_braces_the_first_stands():
    source = Source("#if A\nvoid f(int x) {\n#else\nvoid g() {\n#endif\n}\nvoid h() {}")
    assert [block.name for block in source.functions()] == ["f", "h"]


def test_a_function_tells_its_parameters_attributes_and_generic_parameters():
    source = Source("struct Box<T, let N : int, bool f = true> { [mutating] void put<U, each V>(inout T x[N], U y = f(1, 2)) {} }")
    (put,) = source.functions()
    assert source.parameters(put) == ["inout T x[N]", "U y = f(1, 2)"]
    assert source.attributes(put).strip() == "[mutating]"
    assert source.type_parameters(put) == {"T", "U"}
    assert source.value_parameters(put) == {"N", "f"}
    assert put.struct_name == "Box"
    assert put.is_outermost_code
    source = Source('[[shader("compute")]] [numthreads(4, 1, 1)] void main<T : IOperation>() {}')
    assert source.type_parameters(*source.functions()) == {"T"}


def test_lines_and_columns_count_from_one():
    source = Source("int a;\n  int b;\n")
    assert source.line_column(0) == (1, 1)
    assert source.line_column(source.text.index("int b")) == (2, 3)
    assert source.line_column(source.text.index("\n")) == (1, 7)


def test_characters_of_several_bytes_do_not_move_what_follows():
    source = Source("// Ω√\nvoid f() { int x = 1; }")
    (f,) = source.functions()
    assert text_of(source.body(f)) == "{ int x = 1; }"
    assert source.line_column(f.head) == (2, 1)


def test_statements_outside_of_blocks_are_listed():
    source = Source("int a; struct S { int b; } namespace n { int c; } void f() { int d; } static const int e[2] = {1, 2};")
    assert [source.tokens.text(span) for span in source.statements] == ["int a", "static const int e[2] = {1, 2}"]
    assert [[source.tokens.text(span) for span in block.statements] for block in source.blocks] == [["int b"], ["int c"], []]


@pytest.mark.parametrize(
    "text", [")", "int a) ; void f() { }", "}{", "(", "void f( {", "struct", "[", "operator", "a<b<c", "=> {", "=> {("]
)
def test_brackets_without_partners_are_passed_over(text):
    source = Source(text)
    assert [source.code[block.start] for block in source.walk()] == ["{"] * len(list(source.walk()))


def test_a_body_that_the_grammar_cannot_read_has_no_tree():
    (f,) = Source("void f() { ) }").functions()
    assert Source("void f() { ) }").body(f) is None


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a, b", ["a", "b"]),
        ("f(a, b), c[d, e]", ["f(a, b)", "c[d, e]"]),
        ("Pair<int, float> p, x => y", ["Pair<int, float> p", "x => y"]),
        ("", []),
    ],
)
def test_arguments_are_split_outside_of_brackets(text, parts):
    assert split_arguments(text) == parts


def test_a_bracket_is_closed_by_its_own():
    assert closing("f(a[b(c)])x", 1) == 9
    assert closing("f(a", 1) == 2


def test_a_body_is_read_alike_wherever_its_function_stands():
    function = "float f(float x)\n{\n    return x < 1 ? g(x) : 0;\n}\n"
    before = "struct S { int a; };\nvoid h() {}\n" * 50
    trees = []
    for source in (Source(function), Source(before + function)):
        block = next(block for block in source.functions() if block.name == "f")
        body = source.body(block)
        assert body is not None
        trees.append((str(body), body.start_byte - block.start, body.end_byte - block.end))
    assert trees[0] == trees[1]
