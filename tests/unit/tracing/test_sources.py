"""What the text of a recorded kernel says of its memory, also where a stranger wrote it."""

from dataclasses import replace

import pytest

from splatscope.slang.program import Program
from splatscope.tracing.checks.analysis.sources import Sources
from splatscope.tracing.checks.analysis.unrecorded_accesses import unrecorded_accesses
from splatscope.tracing.sites import Site

MANY = 20_000


def sources(texts: str | dict[str, str], defines: dict[str, str] | None = None) -> Sources:
    return Sources(Program.as_recorded({"k.slang": texts} if isinstance(texts, str) else texts, defines))


def test_fields_of_structs_are_found_at_every_depth():
    found = sources("""
        struct Ray : IRay { float3 at, to; int n = 3; float a[4]; float f(int x) { float y = x; return y; } uint bits : 4; }
        namespace n { struct Outer { struct Inner { half2 x; } int after; void g() { if (true) { int z; } } bool last; } }
        struct Box<T> { T t; }  struct Late; struct Ray { float3 here; }
    """).structs
    assert found == {
        "Ray": [("here", "float3")],  # the later one of the name
        "Outer": [("after", "int"), ("last", "bool")],
        "Inner": [("x", "half2")],
        "Box": [("t", "T")],
    }
    fields = sources("struct Ray : IRay { float3 at, to; int n = 3; float a[4]; uint bits : 4; }").structs["Ray"]
    assert fields == [("at", "float3"), ("to", "float3"), ("n", "int"), ("bits", "uint")]


@pytest.mark.parametrize(
    "text",
    [
        "struct A { int x; " * MANY,
        "struct A { int x; " * MANY + "}" * MANY,
        "struct A : " * MANY,
        "{" * MANY * 5,
        "}" * MANY * 5,
        "groupshared float a " * MANY,
        "StructuredBuffer<float " * MANY,
        "/*" * MANY * 5,
        "RWTexture2D<" * MANY,
        "RWTexture2D<float> t;\n" + "t " * MANY,
        "#define M(x) x\n" + "M(" * MANY,
        "groupshared uint a;\n" + "".join(f"#define m{i} m{i + 1} a\n" for i in range(MANY)),
        "groupshared float " + ", ".join(f"a{i}" for i in range(MANY)) + ";\n" + "x;\n" * MANY,
    ],
    ids=[
        "structs",
        "nested structs",
        "heads",
        "open",
        "close",
        "shared",
        "buffers",
        "comments",
        "textures",
        "uses of a texture",
        "calls",
        "macros",
        "names and lines",
    ],
)
def test_a_hostile_text_of_any_size_is_read(text):
    """Each of these takes minutes if every occurrence is read to the end of the text."""
    found = sources(text)
    assert len(found.structs) <= 1
    assert unrecorded_accesses(found, []) == {}
    assert len(found.textures) <= 1


def test_a_cell_is_named_with_its_rows():
    known = sources("static const uint T = 8;\n#define WIDE (T + 1)\ngroupshared float As[T][WIDE];")
    tile = Site("k.slang", 1, 1, "read", "As", "f", "float", path=".x", space="shared", dims=("T", "WIDE"))
    assert known.cell(tile, 10) == "As[1][1].x"
    assert known.cell(tile, 72) == "As[8][0].x"
    assert known.cell(tile, -1) == "As[-1].x"
    assert known.cell(replace(tile, dims=("2", "3", "4")), 23) == "As[1][2][3].x"
    assert known.cell(replace(tile, dims=("T", "unknown")), 10) == "As[10].x"
    assert known.cell(replace(tile, dims=("64",)), 10) == "As[10].x"
    assert known.cell(replace(tile, dims=()), 0) == "As.x"
    assert known.cell(replace(tile, dims=(), space="device"), 3) == "As[3].x"


@pytest.mark.parametrize(
    ("defines", "hidden"),
    [
        ("#define S GroupMemoryBarrierWithGroupSync()", {}),
        ("#if 0\n#define S GroupMemoryBarrierWithGroupSync()\n#endif", {}),
        ("#define S() \\\n GroupMemoryBarrierWithGroupSync()", {}),
        ("#define P GroupMemoryBarrierWithGroupSync()\n#define WAIT P", {"barriers": ("k.slang", 5)}),
        ("#define WAIT cells[0] = 1;", {"cells": ("k.slang", 4)}),
    ],
    ids=["unused", "left out", "over two lines", "through another", "of a variable"],
)
def test_a_macro_hides_what_it_names_where_it_is_called(defines, hidden):
    found = sources(f"{defines}\ngroupshared uint cells[8];\nvoid f() {{\nWAIT }}")
    assert unrecorded_accesses(found, []) == hidden
    header = sources({"h.slang": defines, "k.slang": "groupshared uint cells[8];\nvoid f() { WAIT }"})
    assert unrecorded_accesses(header, []) == {name: ("k.slang", 2) for name in hidden}
    ((name, (file, line)),) = hidden.items() or [("cells", ("k.slang", 5))]
    about = "GroupMemoryBarrierWithGroupSync" if name == "barriers" else name
    assert unrecorded_accesses(found, [Site(file, line, 1, "arrive", about)]) == {}


def test_a_macro_that_is_called_over_two_lines_accesses_what_it_names_on_the_first():
    known = sources("#define PUT(v) output[0] = v\ngroupshared uint cells[8];\nvoid f() { PUT(\ncells[0]); cells[1] = 2;\n}")
    sites = [Site("k.slang", line, 1, "read", "cells") for line in (3, 4)]
    assert unrecorded_accesses(known, sites) == {}
    assert unrecorded_accesses(known, sites[1:]) == {"cells": ("k.slang", 3)}


def test_accesses_to_textures_that_may_be_written_are_unrecorded_without_a_site():
    known = sources("""
        RWTexture2D<float4> image : register(u0); Texture2D<float4> photo; RWTexture3D<uint> unused; // unused[0]
        struct Block { RWTexture2DArray<float> layers[4]; }
        void main(uniform RWTexture1D<Atomic<uint>> line, uniform uint n) {
            image.GetDimensions(w, h); draw(image, line); photo[0] = 1;
            image[0] = photo[0];
            block.layers[0][at] = line . Load(1);
        }
    """)
    assert known.textures == {"image", "layers", "line", "unused"}
    hidden = {"image": ("k.slang", 6), "layers": ("k.slang", 7), "line": ("k.slang", 7)}
    assert unrecorded_accesses(known, []) == hidden
    site = Site("k.slang", 7, 1, "read", "line", space="texture")
    assert unrecorded_accesses(known, [site]) == {"image": ("k.slang", 6)}
    assert unrecorded_accesses(known, [replace(site, kind="fault")]) == hidden  # notes only what is outside


def test_what_the_preprocessor_leaves_out_is_no_access():
    text = "groupshared uint cells[8];\nvoid f()\n{\n#ifdef SLOW\n    cells[0] = 1;\n#endif\n}\n"
    cells = {"cells": ("k.slang", 5)}
    assert unrecorded_accesses(sources(text, {}), []) == {}
    assert unrecorded_accesses(sources(text, {"SLOW": "1"}), []) == cells
    assert unrecorded_accesses(sources(text), []) == cells, "a file of an earlier version does not name its macros"


def test_the_names_in_an_index_are_those_of_this_memory():
    known = sources("void f()\n{\n    kept[base + sums[lane - 1]] = other[place];\n}\n")
    site = Site("k.slang", 3, 5, "write", "kept", space="device")
    assert known.names_in_index(site) == {"base", "sums", "lane"}
    assert known.names_in_index(replace(site, name="sums")) == {"lane"}


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("InterlockedAdd(kept[0], 0, old)", [0, None]),
        ("InterlockedCompareExchange(kept[0], FREE, 2u, old)", [7, 2, None]),
        ("InterlockedAdd(kept[0], 0, old) + InterlockedAdd(kept[1], 1, old)", []),
    ],
)
def test_the_operands_of_an_atomic_are_known_where_they_are_constants(call, found):
    known = sources(f"static const uint FREE = 7;\nvoid f()\n{{\n    {call};\n}}\n")
    assert known.operands(Site("k.slang", 4, 5, "atomic", "kept", operation=call.partition("(")[0])) == found
