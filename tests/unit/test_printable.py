"""Text that others wrote becomes one printable line, which no terminal, log or report takes for anything else."""

import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from splatscope.printable import printable

TEXTS = st.text(st.characters(codec=None, categories=None) | st.sampled_from(":# [\n\r\x1b\x9b\x85\u2028\u202e\ud800\udcff\ufffe"))


@given(TEXTS, st.integers(10, 40))
def test_any_text_becomes_one_plain_line(text, most):
    line = printable(text, most)
    assert line.isprintable()
    assert not line.lstrip().startswith("::")
    assert not re.search(r"##\w*\[", line)
    element = ElementTree.Element("a", name=line)
    assert ElementTree.fromstring(ElementTree.tostring(element)).get("name") == line
    assert printable(text) == printable(printable(text))


def test_ordinary_text_stays_as_it_is():
    for text in ("blur.slang", "Größe – “α” × 2 · 数", "a::b in ns::c", "token ## paste", "100 %", "C:\\kernels"):
        assert printable(text) == text


def test_what_is_escaped_can_still_be_read():
    assert printable("a\n::error::b\x1b[31m") == r"a\n::error::b\x1b[31m"
    assert printable("::error::c") == r"\x3a:error::c"
    assert printable("x" * 50, 10) == "x" * 9 + "…"
