"""Where arrays end: what the brackets after an expression may hold, for locals, members of structs, tables of a module, vectors."""

import re

from tree_sitter import Node

from splatscope.slang.declarations import Declarations, Memory
from splatscope.slang.source import Block, is_numeric, text_of

Array = tuple[str, tuple[str, ...]]  # (type of an element, sizes)


class Bounds:
    """What a function knows of the types and the arrays in its expressions."""

    known: Declarations
    block: Block
    types: dict[str, str]  # of parameters and locals
    dims: dict[str, tuple[str, ...]]  # of local arrays
    memory: dict[str, Memory]

    def sizes_at(self, node: Node) -> Array:
        """(type, sizes) of what an expression is: no sizes where it is no array, no type where nobody knows."""
        if node.type == "parenthesized_expression" and len(node.named_children) == 1:
            return self.sizes_at(node.named_children[0])
        if node.type == "identifier":
            return self._of_name(text_of(node))
        if node.type == "this":
            return self._own_struct(), ()
        if node.type == "subscript_expression":
            indices = node.child_by_field_name("indices")
            return self.below(self.sizes_at(node.child_by_field_name("argument"))) if len(indices.named_children) == 1 else ("", ())
        if node.type == "field_expression":
            type_text, sizes = self.sizes_at(node.child_by_field_name("argument"))
            return ("", ()) if sizes else self.field_of(type_text, text_of(node.child_by_field_name("field")))
        return "", ()

    def below(self, array: Array) -> Array:
        """What one more pair of brackets leads to."""
        type_text, sizes = array
        return (type_text, sizes[1:]) if sizes else (self.known.part(type_text, ["[]"]) if is_numeric(type_text) else "", ())

    def field_of(self, type_text: str, name: str) -> Array:
        type_text = self.known.type_of(type_text)
        if type_text not in self.known.generic:
            if name in self.known.arrays_in.get(type_text, {}):
                return self.known.arrays_in[type_text][name]
            return self.known.part(type_text, [f".{name}"]), ()
        return "", ()

    def length(self, array: Array) -> str:
        """How many elements the next brackets may choose from, "" where nobody knows."""
        type_text, sizes = array
        if sizes:
            return sizes[0]
        shape = re.search(r"([1-4])(x[1-4])?$", type_text) if is_numeric(type_text) else None
        return shape.group(1) if shape else ""

    def _of_name(self, name: str) -> Array:
        if name in self.types:
            return self.types[name], self.dims.get(name, ())
        memory = self.memory.get(name)
        if memory is not None:
            return ("", ()) if memory.byte_address else (memory.type, memory.dims or (("",) if memory.subscripts else ()))
        return self.known.arrays.get(name, ("", ()))

    def _own_struct(self) -> str:
        """The struct whose method this is, an extension's too."""
        owner = self.block.owner
        while owner is not None and owner.kind not in ("struct", "extension", "class"):
            owner = owner.owner
        return owner.name if owner is not None else ""
