"""The names in the code that a reader may not know: Slang's own, and those of the shaders that many sections run."""

import re
from functools import cache
from pathlib import Path

from splatscope.textbook.terms import rows

NAMES = Path(__file__).with_name("code_names.md")


@cache
def code_names() -> dict[str, str]:
    """Return all names, each with a sentence in Markdown."""
    return dict(rows(NAMES))


def names_in(source: str) -> dict[str, str]:
    """Return the known names that a Slang source uses outside its comments, in the order of their first use."""
    words = re.findall(r"\w+", re.sub(r"//.*", "", source))
    return {word: code_names()[word] for word in words if word in code_names()}
