"""Which tensors of SlangPy a program is said to access."""

import pytest

from splatscope.slang.program import Program
from splatscope.tracing.foreign_tensors import accesses_of_tensors

ENTRY = '[shader("compute")] [numthreads(8, 1, 1)] void main() { f(); }'


def named(text: str) -> list[str]:
    """Return the line and the name of each tensor that is accessed: "line 2: t"."""
    found = accesses_of_tensors(Program.read(f"{text}\n{ENTRY}", "k.slang"))
    return [words.partition(", ")[2].partition(" is a tensor")[0] for words in found]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("void f(RWTensor<float, 1> t) { t[0] = 1; }", ["t"]),
        ("void f(ITensor<float, 1> t, out float o) { o = t.load({0}); }", ["t"]),
        ("void f<T : IRWTensor<float, 2>>(T t) { t.store({0, 1}, 2); }", ["t"]),
        ("void f(in Tensor<float2, 1> a, AtomicTensor<float2, 1> b) { b.add({0}, a[1]); }", ["a", "b"]),
        ("struct Blobs { GradInOutTensor<float, 1> kept; float f(int i) { return kept[i]; } };", ["kept"]),
        ("void f(RWTensorView<Particle[2]> all) { all [3] = p; }", ["all"]),
        ("void f(RWTensor<float, 1> t) { int n = t.shape[0]; }", []),
        ("void f(RWTensor<float, 1> t) { t.__slangpy_store(context, 1); }", []),
        ("void f(RWTensor<float, 1> t) { g(other.t2[0]); }", []),
        ("struct MyTensor { float x; };\nvoid f(MyTensor t) { t.move(); }", []),
    ],
)
def test_tensors_that_are_accessed_are_named(text, names):
    assert [words.split(": ")[1] for words in named(f"import slangpy;\n{text}")] == names


def test_only_a_program_that_imports_slangpy_has_them():
    text = "void f(RWTensor<float, 1> t) { t[0] = 1; }"
    assert named(text) == []
    assert named(f'import "slangpy";\n{text}') == ["line 2: t"]


def test_a_function_that_nothing_calls_does_not_count():
    both = "void g(RWTensor<float, 1> t) { t[0] = 1; }\nvoid f(RWTensor<float, 1> t) { h(t); }"
    assert named(f"import slangpy;\n{both}") == []
    assert named(f"import slangpy;\n{both.replace('h(t)', 'g(t)')}") == ["line 2: t"]
