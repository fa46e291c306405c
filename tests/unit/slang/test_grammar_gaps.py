"""Constructs that the grammar lacks are masked, and everything else keeps its offset."""

import pytest

from splatscope.slang.grammar_gaps import mask


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("{ float[4] v; }", "{ float    v; }"),
        ("{ int[3] v[2] = { { 1, 2, 3 }, { 4, 5, 6 } }; }", "{ int    v[2] = { { 1, 2, 3 }, { 4, 5, 6 } }; }"),
        ("{ let x : float = 1; }", "{ let x         = 1; }"),
        ("{ [unroll] for (;;) {} }", "{          for (;;) {} }"),
        ("{ x = no_diff f(y); }", "{ x =         f(y); }"),
        ("{ v = (unorm float4)(w); }", "{ v = (      float4)(w); }"),
        ("{ break outer; }", "{ break      ; }"),
        ("{ defer { x = 1; } }", "{       { x = 1; } }"),
        ("{ typealias T = int; x = 1; }", "{ _________________; x = 1; }"),
        ("{ A.B c = d; }", "{ A_B c = d; }"),
        ("{ y = (int x) => x + 1; }", "{ y =            x + 1; }"),
        ("{ x = a[i] + b; }", "{ x = a[i] + b; }"),
        ("{ out[i]++; x = inout.y; }", "{ $ut[i]++; x = $nout.y; }"),
        ("{ float sample = 1; f(sample); }", "{ float $ample = 1; f($ample); }"),
        ("{ float var = 1; var x = var; }", "{ float $ar = 1; var x = $ar; }"),
        ("{ x = 1.#INF; }", "{ x = 1.e999; }"),
        ("{ precise float z = x; }", "{ precise float z = x; }"),
        ("{ x = try f(y); throw E.A; }", "{ x = +   f(y); goto  _  ; }"),
        ("{ do { f(); } catch (e: E) { g(); } catch { } }", "{    { f(); }              { g(); }       { } }"),
        ("{ do { f(); } while (catch(x)); }", "{ do { f(); } while (catch(x)); }"),
    ],
)
def test_a_construct_is_blanked_length_for_length(text, masked):
    assert mask(text) == masked
    assert len(mask(text)) == len(text)
