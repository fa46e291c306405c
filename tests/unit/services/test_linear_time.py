"""What reads a stranger's text takes linear time on any text."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from helpers.linear_time import superlinear
from splatscope.services.drafts.dispatch_comment import dispatch_comment
from splatscope.services.drafts.draft import kernel_of
from splatscope.services.drafts.inputs import numbers
from splatscope.services.drafts.playground import complete, read
from splatscope.slang.source import Source
from splatscope.tracing.comments import allowances


def parsed(text: str) -> None:
    """Read a text as Slang. It may be nested more deeply than Python calls."""
    with suppress(RecursionError):
        Source(text)


PARSERS: dict[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "sources": (lambda text: kernel_of({"source": text}), ("// splatscope: ", "float4 imageMain(")),
    "settings": (
        lambda text: kernel_of({"source": "", "defines": text, "arguments": text, "conformances": text, "constants": {"N": text}}),
        (",", ">", ":", "="),
    ),
    "the playground's attributes": (
        lambda text: (read(f"import playground;{text}"), complete(text)),
        ("[playground::A(", "const int a = ", "[playground::ZEROS(1)] <[ "),
    ),
    "comments on a dispatch": (lambda text: dispatch_comment(f"// splatscope: vars={text}"), ("// splatscope: ", '{"a":', "[1,")),
    "comments on findings": (allowances, ("// splatscope: allow race: ", "// splatscope: allow a, ")),
    "numbers": (lambda text: numbers("a", text), ("1 ", "0x1f,", "-")),
    "Slang": (parsed, ("void f() {", "*/")),
}


@pytest.mark.parametrize("name", PARSERS)
def test_no_text_takes_more_than_linear_time(name):
    parse, parts = PARSERS[name]
    assert superlinear(parse, *parts) == []
