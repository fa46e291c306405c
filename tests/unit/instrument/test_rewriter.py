"""A function before, the function after, and its sites: what each kind of statement becomes."""

import pytest

from splatscope.slang.source import Source
from splatscope.slang.symbols import Symbols
from splatscope.tracing.instrument.context import SiteTable
from splatscope.tracing.instrument.rewriter import FunctionRewriter

DECLARED = """groupshared float tile[8]; groupshared int grid[2][3]; groupshared Atomic<uint> hits;
RWStructuredBuffer<int> result; RWStructuredBuffer<int> out; RWByteAddressBuffer bytes; static const int N = 4;
struct Ray { float3 at; int n; } RWStructuredBuffer<Ray> rays; enum Pick { no, yes } RWTexture2D<float> image; Texture2D map;
"""


def rewritten(body: str, attributes: str = "", excluded_lines=()) -> tuple[str, list[tuple]]:
    """The new text of a body that begins on line 5, and (kind, name, type) of its sites; the call's are 1 and 2."""
    source = Source(f"{DECLARED}{attributes}void f(int n) {{\n{body}\n}}")
    (f,) = source.functions()
    table = SiteTable()
    text = FunctionRewriter(source, f, Symbols.of([source]), table, frozenset(excluded_lines)).rewrite(source.body(f))
    lines = text.split("\n")
    assert lines[0] == "{ _rec_step(2); _rec_value(1, n);"
    assert len(lines) == body.count("\n") + 3  # every line stays where it was
    return "\n".join(lines[1:-1]), [(site.kind, site.name, site.type) for site in table.sites[3:-1]]


@pytest.mark.parametrize(
    ("body", "becomes"),
    [
        # locals
        ("int x = n * 2, y;", "int x = _rec_product(8388608, n, 2), y; _rec_value(3, x);"),
        ("uint x = n * 2;", "uint x = n * 2; _rec_value(3, x);"),
        ("n = 2;", "n = 2; _rec_value(3, n);"),
        ("let x = n * 2.5;", "let x = n * 2.5; _rec_value(3, x);"),
        ("Ray r = {}; r.n = 3;", "Ray r = {}; _rec_value(3, r.at); _rec_value(4, r.n); r.n = 3; _rec_value(5, r.n);"),
        ("Pick p = Pick.yes;", "Pick p = Pick.yes; _rec_value(3, int(p));"),
        # reads
        ("n = result[n];", "n = _rec_read(3, result[_rec_at(uint(n), _rec_size((result)))]); _rec_value(4, n);"),
        ("n = grid[n][1];", "n = _rec_read(3, grid[_rec_at(uint(n), 2, uint(1), 3)][_rec_second()]); _rec_value(4, n);"),
        (
            "n = result[grid[n][0]];",
            "n = _rec_read(3, result[_rec_at(uint(_rec_read(4, grid[_rec_at(uint(n), 2, uint(0), 3)][_rec_second()])), "
            "_rec_size((result)))]); _rec_value(5, n);",
        ),
        (
            "n = bytes.Load(n);",
            "n = _rec_read(3, bytes.Load(_rec_at(uint(_rec_aligned(8388608, uint(n), 4)), "
            "_rec_room(_rec_size((bytes)), uint(4) - 1)))); _rec_value(4, n);",
        ),
        # indices of local arrays
        (
            "int v[4]; n = v[2];",
            "int v[4]; uint _rec_set_v = 0; _rec_step(3); "
            "n = _rec_initialised(8388608, (_rec_set_v & _rec_bit(uint(2), 4)) != 0, v[2]); _rec_value(4, n);",
        ),
        (
            "float x; x = 1; n = int(x);",
            "float x; _rec_step(3); x = 1; _rec_value(4, x); n = int(_rec_converted(8388608, x, "
            "-2147483904.0, 2147483648.0)); _rec_value(5, n);",
        ),
        (
            "float x; if (n > 1) x = 1; n = x > 0 ? 1 : 2;",
            "float x; uint _rec_set_x = 0; _rec_step(3); if (_rec_branch(4, bool(n > 1))) {  x = 1; _rec_value(5, x); "
            "_rec_set_x |= ~0u; } n = _rec_initialised(8388608, (_rec_set_x & ~0u) != 0, x) > 0 ? 1 : 2; _rec_value(6, n);",
        ),
        ("int v[4] = {}; n = v[n];", "int v[4] = {}; _rec_step(3); n = v[_rec_inside(4, uint(n), uint(4))]; _rec_value(5, n);"),
        # writes in expressions
        (
            "n = (tile[n] = n);",
            "n = _rec_converted(8388608, (_rec_read(3, tile[_rec_at(uint(n), 8)] = n)), -2147483904.0, 2147483648.0); "
            "_rec_value(4, n);",
        ),
        (
            "n = (tile[n] = g(n));",
            "n = _rec_converted(8388608, (_rec_read(3, _rec_pop(tile[_rec_push(_rec_at(uint(n), 8))] = g(n)))), -2147483904.0, "
            "2147483648.0); _rec_value(4, n);",
        ),
        # operations that may be wrong
        ("n = 8 / n % 3;", "n = 8 / _rec_divisor(8388608, n) % 3; _rec_value(3, n);"),
        ("n = n / N / (2 * N);", "n = n / N / (2 * N); _rec_value(3, n);"),
        ("n /= (n);", "n /= _rec_divisor(8388608, (n)); _rec_value(3, n);"),
        ("float x = 1.0 / n;", "float x = 1.0 / n; _rec_value(3, x);"),
        ("n = 1 << n >> 3;", "n = 1 << _rec_width(8388608, n, 32) >> 3; _rec_value(3, n);"),
        ("n >>= 32;", "n >>= _rec_width(8388608, 32, 32); _rec_value(3, n);"),
        (
            "let x = 2.5; n = x;",
            "let x = 2.5; _rec_value(3, x); n = _rec_converted(8388608, x, -2147483904.0, 2147483648.0); _rec_value(4, n);",
        ),
        ("uint m = (uint)2.5;", "uint m = (uint)2.5; _rec_value(3, m);"),
        (
            "image[uint2(n, 1)] = 2;",
            "{ let _rec_t = _rec_texel(8388608, (image), uint2(n, 1)); uint _rec_i = _rec_where(); "
            "bool _rec_is_in = _rec_is_inside(); bool _rec_ok = _rec_is_in; float _rec_v = 2; "
            "if (_rec_ok) image[_rec_t] = _rec_v; _rec_wrote(_rec_mark(3, _rec_ok), _rec_i, _rec_v); }",
        ),
        ("float x = map.Load(int3(n)).x;", "float x = map.Load(_rec_load(8388608, (map), int3(n))).x; _rec_value(3, x);"),
        (
            "n = WaveReadLaneAt(n, n + 1);",
            "n = WaveReadLaneAt(n, _rec_read_lane(8388609, _rec_sum(8388608, n, 1))); _rec_value(3, n);",
        ),
        ('assert(n < 3, "n");', "_rec_assert(8388608, bool(n < 3)); _rec_step(3);"),
        (
            "if (n > 1) n = WaveActiveSum(n);",
            "if (_rec_branch(3, bool(n > 1))) {  n = _rec_over_wave(8388608, WaveActiveSum(n)); _rec_value(4, n); }",
        ),
        ("n = WaveActiveSum(n);", "n = WaveActiveSum(n); _rec_value(3, n);"),
        ("static int m = 8 / n;", "static int m = 8 / n; _rec_step(3);"),
        # atomics
        ("hits.add(1);", "_rec_read(_rec_here(3), hits.add(1)); _rec_step(4);"),
        ("hits.store(1);", "{ uint _rec_v = 1; hits.store(_rec_v); _rec_wrote(3, 0, _rec_v); }"),
        # control flow
        ("if (n > 1) n = 2;", "if (_rec_branch(3, bool(n > 1))) {  n = 2; _rec_value(4, n); }"),
        ("switch (n) { case 1: n = 2; break; }", "switch (n) { case 1: n = 2; _rec_value(3, n); { _rec_step(4); break; } }"),
        (
            "while (n > 0) n -= 1;",
            "while (_rec_branch(3, bool(n > 0))) { if (_rec_overrun(4)) break; _rec_step(5);  "
            "n -= _rec_subtracted(8388608, n, 1); _rec_value(6, n); }",
        ),
        (
            "for (int i = 0; i < n; i++) n += i;",
            "for (int i = 0; _rec_within(4, i < n); i++) { _rec_step(5); _rec_value(3, i);  "
            "n += _rec_added(8388608, n, i); _rec_value(6, n); }",
        ),
        ("return;", "{ _rec_step(3); return; }"),
        # barriers
        ("GroupMemoryBarrierWithGroupSync();", "{ _rec_sync(3); GroupMemoryBarrierWithGroupSync(); _rec_sync(4); }"),
        ("GroupMemoryBarrier();", "{ GroupMemoryBarrier(); _rec_sync(3); }"),
    ],
)
def test_a_statement_becomes_itself_with_records(body, becomes):
    text, _ = rewritten(body)
    assert text == becomes


def test_an_attribute_goes_with_its_loop_into_the_braces():
    text, _ = rewritten("if (n > 1) [loop] while (n > 2) return;")
    assert "{ [loop] while" in text
    assert text.count("[loop]") == 1


@pytest.mark.parametrize(
    ("body", "parts", "sites"),
    [
        (
            "tile[n] = 1;",
            ["_rec_i = uint(n);", "_rec_v = 1;", "if (_rec_ok) tile[_rec_i] = _rec_v;", "_rec_wrote(_rec_mark(3, _rec_ok)"],
            [("write", "tile", "float")],
        ),
        (
            "tile[n] += 2;",
            ["_rec_v = tile[_rec_i]; _rec_wrote(_rec_mark(3", "_rec_v += 2;", "tile[_rec_i] = _rec_v; _rec_wrote(_rec_mark(4"],
            [("read", "tile", "float"), ("write", "tile", "float")],
        ),
        ("result[n]++;", ["_rec_v += 1;"], [("read", "result", "int"), ("write", "result", "int")]),
        (
            "out[n]++;",
            ["_rec_v = out[_rec_i];", "_rec_v += 1;", "out[_rec_i] = _rec_v;"],
            [("read", "out", "int"), ("write", "out", "int")],
        ),
        ("out[n] = 2;", ["_rec_v = 2;", "out[_rec_i] = _rec_v;", "_rec_wrote(_rec_mark(3"], [("write", "out", "int")]),
        ("float2 point; point.x = 1;", ["point.x = 1; _rec_value("], [("step", "", ""), ("value", "point", "float2")]),
        ("grid[n][1] = 3;", ["_rec_i < uint(2) && _rec_j < uint(3)", "(_rec_i * uint(3) + _rec_j)"], [("write", "grid", "int")]),
        ("rays[n].at.x = 1;", ["rays[_rec_i].at.x = _rec_v;"], [("write", "rays", "float")]),
        (
            "tile[n] = tile[n + 1];",
            ["= _rec_read(3, tile[_rec_at(uint(n + 1), 8)]);"],
            [("read", "tile", "float"), ("write", "tile", "float")],
        ),
        (
            "Ray r = {}; rays[n] = r;",
            ["if (_rec_may(5", "rays[_rec_i] = r;", "_rec_wrote(5, _rec_i, rays[_rec_i].at);", "rays[_rec_i].n);"],
            [("value", "r.at", "float3"), ("value", "r.n", "int"), ("write", "rays", "float3"), ("write", "rays", "int")],
        ),
        ("InterlockedAdd(result[n], 1);", ["InterlockedAdd(result[_rec_i], 1); _rec_wrote(3"], [("atomic", "result", "int")]),
        (
            "bytes.Store(4 * n, 1u);",
            ["uint _rec_i = uint(_rec_aligned(8388609, uint(_rec_product(8388608, 4, n)), 4));", "bytes.Store(_rec_i, _rec_v);"],
            [("write", "bytes", "?")],
        ),
        ("int v[4]; v[n] = 2;", ["_rec_element(_rec_mark(4, _rec_ok), _rec_i"], [("step", "", ""), ("element", "v", "int")]),
    ],
)  # fmt: skip
def test_a_store_is_made_where_it_is_inside_and_recorded_in_any_case(body, parts, sites):
    text, found = rewritten(body)
    assert found == sites
    positions = [text.index(part) for part in parts]
    assert positions == sorted(positions)


def test_a_fence_has_one_site_and_a_barrier_two():
    assert rewritten("GroupMemoryBarrier();")[1] == [("resume", "GroupMemoryBarrier", "")]
    name = "GroupMemoryBarrierWithGroupSync"
    assert rewritten(f"{name}();")[1] == [("arrive", name, ""), ("resume", name, "")]


def test_excluded_lines_stay_as_written():
    text, sites = rewritten("n = 1;\nn = 2;\nif (n > 1)\n n = 3;", excluded_lines=(6, 7))
    assert text.split("\n")[1:3] == ["n = 2;", "if (n > 1)"]
    assert sites == [("value", "n", "int"), ("value", "n", "int")]


def test_where_autodiff_follows_records_have_no_derivative_and_loops_no_break():
    text, _ = rewritten("for (int i = 0; i < n; i++) n += int(no_diff(tile[i]) + tile[0]);", "[Differentiable] ")
    assert "no_diff(_rec_within(3, i < n))" in text
    assert "break" not in text
    assert "(no_diff(_rec_read(" in text
    assert "no_diff(no_diff(" not in text.replace(" ", "")


def test_a_loop_that_surely_ends_keeps_its_bound_for_autodiff():
    text, _ = rewritten("for (int i = 0; i < N; i++) n += i;", "[Differentiable] ")
    assert "for (int i = 0; i < N; i++)" in text
    assert "_rec_within" not in text


def test_a_local_hides_the_memory_of_its_name():
    text, _ = rewritten("{ float tile[2]; tile[1] = 1; }\nn = int(tile[1]);")
    inside, behind = text.split("\n")
    assert "_rec_element(" in inside
    assert "_rec_read(" in behind


def test_sites_tell_where_they_stand():
    source = Source("groupshared int a[4];\nvoid f()\n{\n  a[1] = a[2];\n}")
    (f,) = source.functions()
    table = SiteTable()
    FunctionRewriter(source, f, Symbols.of([source]), table).rewrite(source.body(f))
    about = [(site.kind, site.line, site.column, site.space, site.dims) for site in table.sites[2:4]]
    assert about == [("read", 4, 10, "shared", ("4",)), ("write", 4, 3, "shared", ("4",))]


@pytest.mark.parametrize(
    ("calls", "name", "space"),
    [("f(one);", "one", "device"), ("f(one); f(one);", "one", "device"), ("f(one); f(two);", "b", "alias")],
)
def test_a_buffer_that_is_passed_goes_by_the_name_of_the_global_if_all_calls_agree(calls, name, space):
    declared = "RWStructuredBuffer<int> one; RWStructuredBuffer<int> two; void f(RWStructuredBuffer<int> b) { b[0] = 1; }"
    source = Source(f"{declared} void g() {{ {calls} }}")
    f = next(source.functions())
    table = SiteTable()
    FunctionRewriter(source, f, Symbols.of([source]), table).rewrite(source.body(f))
    (write,) = (site for site in table.sites if site.kind == "write")
    assert (write.name, write.space) == (name, space)
