"""Recognise l-values: expressions that name elements of shared memory and of buffers."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tree_sitter import Node

from splatscope.slang.declaration import Memory
from splatscope.slang.source import part, text_of, walk
from splatscope.slang.tokens import last_name

NO_BOUND = "0xffffffff"
_MOST_SUBSCRIPTS = 3
_REPEATABLE = {
    "identifier", "qualified_identifier", "namespace_identifier", "number_literal", "field_expression",
    "field_identifier", "binary_expression", "unary_expression", "this", "true",
    "false", "parenthesized_expression", "cast_expression", "type_descriptor", "primitive_type", "type_identifier",
}  # fmt: skip


@dataclass
class LValue:
    """One element of a memory, or a part of one: `tile[y][x].rgb`.

    Attributes:
        subscripts: The nodes in the brackets that select the element: `y`, `x`.
        path: The steps after the element: ".field", or the node in a pair of brackets.
        type: The type of the whole expression, "" if it is not known.
        names: The variables that hold the values of nodes in the path, by the nodes' `id`.
        noted: The `id` of a node in the path whose value the recorder notes when the element is read; 0 if there is none.
        weight: The number of sites between two of its values.
    """

    memory: Memory
    subscripts: list[Node]
    path: list[str | Node]
    type: str
    names: dict[int, str] = field(default_factory=dict)
    noted: int = 0
    weight: int = 1

    @property
    def site_fields(self) -> dict[str, Any]:
        """The fields of a `Site` that describe the accessed memory."""
        path = "".join(part if isinstance(part, str) else "[?]" for part in self.path)
        return {"path": path, "space": self.memory.space, "dims": self.memory.sizes, "atomic": self.memory.atomic}

    @property
    def sizes(self) -> list[str]:
        """The bound of each subscript, as text."""
        if self.memory.space != "shared":
            return [element_count(self.memory)]
        return [size or NO_BOUND for size in self.memory.sizes]


def element_count(memory: Memory) -> str:
    """Return the expression for a buffer's number of elements, or of bytes for a byte-address buffer.

    The name is in parentheses, without which Slang does not accept a `globallycoherent` buffer as an argument.
    """
    return f"_rec_size(({memory.name}))"


def find_lvalue(
    node: Node,
    memories: Mapping[str, Memory],
    shared_fields: Collection[str],
    namespaces: Mapping[str, Mapping[str, Memory]],
    type_of_part: Callable[[str, list[str]], str],
) -> LValue | None:
    """Return the element that an expression names; None if it does not name an element of a known memory.

    Example:
        `scene.lights[i].color.rgb` is element `i` of the buffer "scene.lights", with the path [".color", ".rgb"].

    Args:
        node: The expression.
        memories: Shared variables and buffers by name; those in parameter blocks are "block.field".
        shared_fields: The fields of "this", if that is among them.
        namespaces: The memory of each namespace by name, also if a local hides it; "" for what `::` before a name names.
        type_of_part: Returns the type that a chain of ".field" and "[]" leads to, starting at a type.
    """
    chain, base = [], node
    while True:
        if base.type == "field_expression":
            chain.append("." + text_of(part(base, "field")))
            base = part(base, "argument")
        elif base.type == "subscript_expression":
            indices = base.child_by_field_name("indices")
            if indices is None or len(indices.named_children) != 1:
                return None
            chain.append(indices.named_children[0])
            base = part(base, "argument")
        elif base.type == "parenthesized_expression" and len(base.named_children) == 1:
            base = base.named_children[0]
        else:
            break
    chain.reverse()
    name = text_of(base) if base.type in ("identifier", "this", "qualified_identifier") else ""
    if name in shared_fields:
        chain.insert(0, f".{name}")
        name = "this"
    memory = _memory_of(name, chain, memories, namespaces)
    if memory is None or memory.byte_address or len(chain) < memory.subscripts:
        return None
    subscripts, path = chain[: memory.subscripts], chain[memory.subscripts :]
    if any(isinstance(s, str) for s in subscripts) or len(subscripts) > _MOST_SUBSCRIPTS:
        return None
    return LValue(memory, subscripts, path, type_of_part(memory.type, [p if isinstance(p, str) else "[]" for p in path]))


def _memory_of(
    name: str, chain: list[str | Node], memories: Mapping[str, Memory], namespaces: Mapping[str, Mapping[str, Memory]]
) -> Memory | None:
    """Return the memory that a name and the first fields of a chain name (`block.field`, `N::tile`); these leave the chain."""
    while name and name not in memories:
        space, _, last = name.replace("::", ".").rpartition(".")
        memory = namespaces.get(last_name(space), {}).get(last) if space or name.startswith("::") else None
        if memory is not None:
            return replace(memory, name=name, alias_of=memory.declared_name)
        step = chain.pop(0) if chain else None
        if not isinstance(step, str):
            return None
        name += step
    return memories.get(name)


def is_repeatable(node: Node, memories: Collection[str], namespaces: Mapping[str, Collection[str]]) -> bool:
    """Return whether an expression may be evaluated twice or later: it has no call, no change and no read of recorded memory."""

    def names_memory(node: Node) -> bool:
        if node.type == "qualified_identifier":
            return any(last_name(text_of(node)) in names for names in namespaces.values())
        return node.type in ("identifier", "this") and text_of(node) in memories

    return all((n.type in _REPEATABLE or not n.is_named) and not names_memory(n) for n in walk(node))
