"""The names in the code: which a source uses, and that each is used by a shader or a section."""

from splatscope.paths import SHADERS
from splatscope.textbook.code_names import code_names, names_in
from splatscope.textbook.contents import lesson_names, written_of


def test_names_are_listed_in_the_order_of_their_first_use_and_comments_do_not_count():
    source = "// overWhite\nPixelState state = transformPixelState(state, gval); // eval\nPixelState other;"
    assert list(names_in(source)) == ["PixelState", "transformPixelState", "gval"]


def test_each_name_is_used():
    sources = [path.read_text(encoding="utf-8") for path in SHADERS.rglob("*.slang")]
    sources += [text for stem in lesson_names() for text in written_of(stem)]
    assert names_in("\n".join(sources)).keys() == code_names().keys()


def test_sentences_end_with_a_full_stop():
    assert [name for name, says in code_names().items() if not says.endswith(".")] == []
