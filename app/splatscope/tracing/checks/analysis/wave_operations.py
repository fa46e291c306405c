"""Find operations over waves in syntax trees, and sources that ask for a width of waves."""

from collections.abc import Iterable

from tree_sitter import Node

from splatscope.slang.comments import COMMENT
from splatscope.slang.source import part, text_of
from splatscope.slang.tokens import names_in


def is_wave_name(name: str) -> bool:
    """Return whether a name is that of one of the language's wave or quad operations."""
    return name.startswith(("Wave", "Quad")) and name[4:5].isupper()


def asks_for_a_width(texts: Iterable[str]) -> bool:
    """Return whether sources request a width, or have instructions of a target, whose width is not known."""
    names = set().union(*(names_in(COMMENT.sub("", text)) for text in texts))
    is_low_level = any(name.startswith("gl_Subgroup") or (name.startswith("__") and "asm" in name) for name in names)
    return is_low_level or not names.isdisjoint(("WaveSize", "spirv_asm"))


def called(call: Node) -> str:
    """Return the name of the called function, for a method without its object."""
    function = part(call, "function")
    if function.type == "field_expression":
        function = part(function, "field")
    return text_of(function).partition("<")[0].rstrip()


def root_of(declarator: Node) -> str:
    """Return the name that a declarator or a parameter declares."""
    node: Node | None = declarator
    while node is not None and node.type != "identifier":
        node = node.child_by_field_name("declarator")
    return text_of(node) if node is not None else ""
