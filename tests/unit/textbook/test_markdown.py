"""The texts of the sections: blocks, quoted code, words of the glossary."""

import ast
import textwrap
from html import unescape

import pytest

from splatscope.paths import LESSONS
from splatscope.textbook.contents import find_lesson, lesson_names, text_of
from splatscope.textbook.lesson import kernels_of
from splatscope.textbook.markdown import KINDS, drawings, html_of, inline, parse, region
from splatscope.textbook.results import Answer, Table, Verdict, Words, literal
from splatscope.textbook.terms import Links, terms
from splatscope.web.lesson_page.lesson_form import address_of, set_from_address
from splatscope.web.lesson_results.results import plain, public_answer, public_verdict
from splatscope.web.shell.pages import BY_NAME

STEMS = lesson_names()


@pytest.mark.parametrize("stem", STEMS)
def test_a_section_names_only_what_there_is(stem: str):
    lesson = find_lesson(stem)()
    blocks = parse(text_of(stem))
    kinds = [block.kind for block in blocks]
    assert {"afterwards", "figure", "formula", "quiz", "claim"} <= set(kinds)
    assert kinds.count("figure") == 1
    assert BY_NAME[stem].is_section
    for block in blocks:
        if block.kind in ("quiz", "claim", "show"):
            assert callable(getattr(lesson, block.args[0]))
        if block.kind == "code":
            assert all(text for _, text in region(block.args[0], block.args[1:]))
        if block.kind == "drawing":
            assert "aria-label" in drawings(stem, block.args)
        if block.kind == "controls":
            assert all(name in lesson.param for name in block.args)
    assert lesson.job().source in kernels_of(stem).values()


@pytest.mark.parametrize("stem", STEMS)
def test_an_address_restores_a_section(stem: str):
    lesson = find_lesson(stem)()
    assert address_of(lesson) == ""
    set_from_address(lesson, {"nobody": "1", **{name: "\x00[" for name in lesson.param if name != "name"}})
    assert all(type(value) is type(lesson.param[name].default) for name, value in lesson.param.values().items())


def test_what_is_not_there_is_an_error_and_not_an_empty_box():
    with pytest.raises(ValueError, match="Line 2: there is no block “picture”"):
        parse("words\n::: picture\n:::\n")
    with pytest.raises(ValueError, match="Line 3: the block “quiz” is not closed"):
        parse("one\n\n::: quiz one\nwhat?")
    with pytest.raises(ValueError, match="Line 4: the block “quiz” is not closed"):
        parse("---\ntitle: One\n---\n::: quiz one\nwhat?\n")
    with pytest.raises(ValueError, match="Line 1: there is no block “”"):
        parse(":::\n")
    for text in (
        "::: aside More\n:::\nwords",
        "::: end\n:::\n",
        "::: aside A\n:::\n::: aside B\n:::\n::: end\n:::\n",
        "::: claim a\n:::\n::: answer\n:::\n",
    ):
        with pytest.raises(ValueError, match="needs one block “end”"):
            parse(text)
    with pytest.raises(ValueError, match="Line 4: a block “answer” stands directly behind"):
        parse("::: quiz one\n:::\nwords\n::: answer\n:::\n::: end\n:::\n")
    with pytest.raises(LookupError, match=r"no shaders/nothing\.slang"):
        region("nothing.slang", ("a",))
    with pytest.raises(LookupError, match="declares no neverHeardOf"):
        region("shortlist.slang", ("neverHeardOf",))
    for names in (("nothing.svg",), ("text.md",), ()):
        with pytest.raises(LookupError, match="no drawing lessons/undo"):
            drawings("undo", names)


def test_a_region_has_its_comment_and_its_line():
    [(line, text)] = region("obb.slang", ("OBB.intersects",))
    assert text.lstrip().startswith("//")
    assert "bool intersects(OBB other)" in text
    assert text.rstrip().endswith("}")
    assert line > 1


@pytest.mark.parametrize("stem", STEMS)
def test_a_region_of_a_model_is_what_python_reads_as_the_function(stem: str):
    source = (LESSONS / stem / "lesson.py").read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and source.count(f"def {node.name}(") == 1:
            [(line, text)] = region(f"{stem}.py", (node.name,))
            assert line == node.lineno
            assert text == textwrap.dedent("\n".join(source.split("\n")[node.lineno - 1 : node.end_lineno]))
    with pytest.raises(LookupError, match=rf"lessons/{stem}\.py has no function neverHeardOf"):
        region(f"{stem}.py", ("neverHeardOf",))


def test_html_in_a_text_is_shown_and_not_taken():
    assert "<script" not in html_of("a <script>alert(1)</script>")
    assert set(KINDS) >= {block.kind for block in parse("::: quiz a\nb\n:::")}


def test_the_glossary_is_in_order_and_leads_to_pages():
    names = [term.name for term in terms()]
    assert names == sorted(names, key=str.casefold)
    assert len(names) == len(set(names)) > 25
    assert all(term.page in BY_NAME and term.definition.endswith(".") for term in terms())
    assert {term.linked for term in terms()} <= {"everywhere", "here", "never"}


def test_a_term_is_linked_where_prose_names_it_first():
    links = Links("bitonic-sort")
    text = "# A barrier\n\nNo `barrier` and no [barrier](?page=cas), but *Barriers*, barriers and a link-time constant."
    shown = html_of(text, links)
    assert shown.count('class="term"') == 2
    assert '#term-barrier" aria-describedby="says-term-barrier">Barriers</a></em>, barriers and' in shown
    assert "#term-link-time-constant" in shown
    assert "term" not in html_of("Another barrier.", links)
    assert '<b>barrier</b> <span id="says-term-barrier">' in links.definitions(), "a link says its term, the description does not"


def test_a_word_with_a_second_meaning_is_linked_on_its_own_page_or_nowhere():
    text = "One pass over another."
    assert "#term-pass" in html_of(text, Links("bitonic-sort"))
    assert "#term" not in html_of(text, Links("blending"))


def test_the_first_cell_of_a_row_is_its_head_unless_it_is_a_sentence():
    html = html_of("| number | what it says |\n| --- | --- |\n| *x*, y | where |\n| It is long. | It is short. |")
    assert '<th scope="row"><em>x</em>, y</th>\n<td>where</td>' in html
    assert "<td>It is long.</td>\n<td>It is short.</td>" in html


def test_a_derivative_stays_on_one_line():
    assert inline("Then ∂L/∂p is `∂L/∂p`.") == "Then ∂L/\u2060∂p is <code>∂L/∂p</code>."


def test_a_term_stays_on_one_line_and_a_sum_may_break():
    text = "So T = 1 − α, m̂ / √v̂ and **0.3** · `T`: 0.9 η + 1, so α = 0.5."
    joined = "So T_=_1_−_α, m̂_/_√v̂ and <strong>0.3</strong>_·_<code>T</code>: 0.9_η + 1, so α_=_0.5."
    assert inline(text) == joined.replace("_", "\u00a0")


def test_terms_of_an_answer_and_a_verdict_stay_on_one_line():
    answer = public_answer(Answer("1 − α", ("1 − α", "2 · α"), because="α · T", wrong={"2 · α": "0.9 η"}, question="1 − α?"))
    verdict = public_verdict(Verdict(None, "1 − α", "α · T"), offer="")
    shown = (*answer["options"], *answer["wrong"].values(), answer["because"], answer["question"], verdict["ran"], verdict["said"])
    assert not [text for text in shown if " " in text]
    assert set(answer["options"]) == {answer["value"], *answer["wrong"]}
    assert verdict["holds"] is None


def test_a_result_is_markdown_in_lines():
    shown = "<strong>1</strong> of <code>a &lt; b</code><br>then &lt;b&gt;"
    assert public_verdict(Verdict(True, "**1** of `a < b`\nthen <b>", ""), "")["ran"] == shown
    assert plain(Table(("**1**",), (("`2`",),)))["rows"] == (("<code>2</code>",),)


def test_what_a_compiler_says_is_shown_as_it_is():
    said = "error[E1]: '*p*' < `q` \\ &amp; _r_, ~~s~~, [a](b), **c**, 1 · 2"
    assert unescape(inline(literal(said))) == said.replace("1 · 2", "1\u00a0·\u00a02")
    assert plain(Words("`f`:", "a < *b*"))["html"].endswith(">a &lt; *b*</pre>")
