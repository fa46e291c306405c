"""The scanner: tokens with their places, brackets with their partners, and what is split at commas."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splatscope.slang.tokens import Tokens, is_simple_operand, last_name, names_in, split_type


def split_arguments(text: str) -> list[str]:
    tokens = Tokens(text)
    return [tokens.text(part) for part in tokens.split(tokens.indices)]


def test_tokens_are_names_numbers_and_signs():
    assert Tokens("a->b::c => x1.5e3 >>= 0xFFu;").words[:-1] == [
        "a",
        "->",
        "b",
        "::",
        "c",
        "=>",
        "x1",
        ".",
        "5e3",
        ">",
        ">",
        "=",
        "0xFFu",
        ";",
    ]


@given(st.text(alphabet="ab1 ()[]{}<>,;:=-\n", max_size=60))
def test_every_token_is_where_it_says_and_every_bracket_has_one_partner(code):
    tokens = Tokens(code)
    assert all(code.startswith(word, start) for word, start in zip(tokens.words[:-1], tokens.starts, strict=False))
    assert "".join(tokens.words) == "".join(code.split())
    for at, partner in enumerate(tokens.partners):
        if 0 <= partner < len(tokens.partners):
            assert tokens.partners[partner] == at
            assert {tokens.words[min(at, partner)], tokens.words[max(at, partner)]}.issubset("()[]{}")


@given(st.text(alphabet="ab(<[{}]>),; ", max_size=40))
def test_parts_between_commas_lie_in_order_and_hold_no_outer_comma(code):
    tokens = Tokens(code)
    parts = tokens.split(tokens.indices)
    assert all(part and part.stop <= following.start for part, following in pairwise(parts))
    if "<" not in code:
        assert all(tokens.words[at] != "," for part in parts for at in tokens.outermost(part))


@pytest.mark.parametrize(
    ("code", "behind"),
    [("<a, b> c", 5), ("<a<b>> c", 6), ("<f(a > b)> c", 8), ("< b; c >", 0), ("< a", 0), ("a<b>", 0)],
)
def test_template_arguments_end_at_their_own_bracket(code, behind):
    tokens = Tokens(code)
    assert tokens.after_template(0, len(tokens.partners)) == behind


def test_names_are_found_in_any_text():
    assert names_in("tile[i + 2u].x = f(0x1F)") == {"tile", "i", "x", "f"}
    assert [last_name(path) for path in ("f", "tools::f<int>", "light . shade", "Box<int>.put")] == ["f", "f", "shade", "put"]
    assert [is_simple_operand(text) for text in ("light.colour.r", "3", "a + b", "f(x)", "")] == [True, True, False, False, False]
    assert split_type("Box<Pair<int, float>, 3>") == ("Box", ["Pair<int, float>", "3"])
    assert split_type("float") == ("float", [])
    assert split_type("Box<int>.Key") == ("Box<int>.Key", [])
    assert split_arguments("a <= b, c << d, e") == ["a <= b", "c << d", "e"]
    assert split_arguments("a > b, c") == ["a > b", "c"]
