"""Places: elements of the memory that threads share, and how source reads and writes them while their indices are kept."""

from dataclasses import dataclass

from tree_sitter import Node

from splatscope.slang.declarations import Memory
from splatscope.slang.source import text_of, walk

_SIMPLE = {
    "identifier", "number_literal", "field_expression", "field_identifier", "binary_expression", "unary_expression", "this", "true",
    "false", "parenthesized_expression", "cast_expression", "type_descriptor", "primitive_type", "type_identifier",
}  # fmt: skip
NO_BOUND = "0xffffffff"


@dataclass
class LValue:
    """One element, or a part of one: `tile[y][x].rgb`. `rest` is what follows the element: ".field", or the node in brackets."""

    memory: Memory
    subscripts: list[Node]
    rest: list
    type: str  # "" where it is not known

    @property
    def path(self) -> str:
        return "".join(part if isinstance(part, str) else "[?]" for part in self.rest)

    @property
    def words(self) -> dict:
        """What sites say of this place."""
        return {"path": self.path, "space": self.memory.space, "dims": self.memory.dims, "atomic": self.memory.atomic}

    @property
    def sizes(self) -> list[str]:
        if self.memory.space != "shared":
            return [size_of(self.memory)]
        return [size or NO_BOUND for size in self.memory.dims]


def size_of(buffer: Memory) -> str:
    """How many elements a buffer has, in bytes if it is one of bytes. In brackets even a `globallycoherent` one may be passed."""
    return f"_rec_size(({buffer.name}))"


def lvalue_of(node: Node, memories: dict[str, Memory], type_of) -> LValue | None:
    """What `node` names, if it is one element (or a part of one) of a known memory. `type_of(type, parts)` finds a part's type."""
    chain, base = [], node
    while True:
        if base.type == "field_expression":
            chain.append("." + text_of(base.child_by_field_name("field")))
            base = base.child_by_field_name("argument")
        elif base.type == "subscript_expression":
            indices = base.child_by_field_name("indices")
            if indices is None or len(indices.named_children) != 1:
                return None
            chain.append(indices.named_children[0])
            base = base.child_by_field_name("argument")
        elif base.type == "parenthesized_expression" and len(base.named_children) == 1:
            base = base.named_children[0]
        else:
            break
    chain.reverse()
    name = text_of(base) if base.type == "identifier" else ""
    while name and name not in memories and chain and isinstance(chain[0], str):  # a buffer in a block: `scene.lights[i]`
        name += chain.pop(0)
    memory = memories.get(name)
    if memory is None or memory.byte_address or len(chain) < memory.subscripts:
        return None
    subscripts, rest = chain[: memory.subscripts], chain[memory.subscripts :]
    if any(isinstance(s, str) for s in subscripts) or len(subscripts) > 3:
        return None
    return LValue(memory, subscripts, rest, type_of(memory.type, [p if isinstance(p, str) else "[]" for p in rest]))


def is_simple(node: Node, memories: dict[str, Memory]) -> bool:
    """Whether an expression can be evaluated once more, or at another moment, and nobody would know."""
    return all(
        (n.type in _SIMPLE or not n.is_named) and not (n.type == "identifier" and text_of(n) in memories) for n in walk(node)
    )
