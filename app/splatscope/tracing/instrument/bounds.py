"""Indices on their way into brackets: evaluated once, kept inside, and recorded where they are outside.

`tile[i + 1]` becomes `tile[_rec_at(uint(i + 1), uint n)]`: `_rec_at` notes the index for the record of the access, and returns
one that is inside. An index into a local array, a vector or a field, whose accesses are not recorded, becomes `_rec_inside(site,
i, n)`, which records only an index that is outside.
"""

import re
from collections.abc import Sequence

from tree_sitter import Node

from splatscope.slang.declarations import ArrayType, Memory
from splatscope.slang.source import text_of, walk
from splatscope.tracing.instrument.context import FunctionContext
from splatscope.tracing.instrument.lvalues import NO_BOUND, LValue, element_count
from splatscope.tracing.instrument.textures import Textures
from splatscope.tracing.instrument.writer import TreeWriter

_MAY_CHANGE = ("assignment_expression", "update_expression", "call_expression")  # what must not be evaluated twice


class Bounds:
    """Writes indices and what they are inside of."""

    def __init__(self, context: FunctionContext, writer: TreeWriter, textures: Textures):
        self._context, self._writer, self._textures = context, writer, textures

    def index(self, argument: Node, index: Node, array: ArrayType, text: str, access: str = "read") -> str:
        """Return the new text of an index into something that is no shared memory.

        Args:
            argument: What stands before the brackets.
            index: What stands in them.
            array: The type of `argument`.
            text: The new text of `index`, without bounds.
            access: "read" or "write".
        """
        if (texel := self._textures.subscript(argument, index, text, access)) != "":
            return texel
        size = self._size(argument, array)
        surely_inside = index.type == "number_literal" and size.isdecimal() and re.fullmatch(r"\d+", text) and int(text) < int(size)
        if not size or surely_inside or self._context.is_differentiable:
            return text
        name = re.sub(r"\[.*?\]", "", text_of(argument))
        site = self._context.site(index.parent, "out-of-bounds", name, access=access, dims=array.sizes)
        return f"_rec_inside({site}, uint({text}), uint({size}))"

    def _size(self, argument: Node, array: ArrayType) -> str:
        """Return how many elements an argument of a type has, as an expression; "" where that is not known.

        An array in a constant buffer's struct is asked for it: the names in its size may be the struct's or a namespace's own.
        """
        scope, size = self._context.scope, self._context.scope.length(array)
        if not array.sizes or not size or size.isdecimal() or scope.root(argument) in scope.types:
            return size
        may_change = any(node.type in _MAY_CHANGE for node in walk(argument))
        return f"({text_of(argument)}).getCount()" if argument.type == "field_expression" and not may_change else size

    def element(self, lvalue: LValue, is_pushed: bool = False, access: str = "read", also: Sequence[str] = ()) -> str:
        """Return an element with its indices noted and kept inside.

        `is_pushed`: other accesses may come between the index and the record, so the index waits on the recorder's stack.
        `also` are sites of accesses without a value, in their order, that are recorded as soon as the index is known.
        """
        if not lvalue.subscripts:
            return lvalue.memory.name + self.path(lvalue)
        if lvalue.memory.coordinates:
            at = self._textures.texel(lvalue, access)
            at = self._recorded_too(also, at)
            return f"{lvalue.memory.name}[{f'_rec_push({at})' if is_pushed else at}]{self.path(lvalue)}"
        pairs = zip(lvalue.subscripts, lvalue.sizes, strict=True)
        arguments = ", ".join(f"uint({self._writer.as_argument(subscript)}), {size}" for subscript, size in pairs)
        first = self._recorded_too(also, f"_rec_at({arguments})")
        first = f"_rec_push({first})" if is_pushed else first
        later = "".join(("[_rec_second()]", "[_rec_third()]")[: len(lvalue.subscripts) - 1])
        return f"{lvalue.memory.name}[{first}]{later}{self.path(lvalue)}"

    def _recorded_too(self, sites: Sequence[str], index: str) -> str:
        for site in sites:
            index = f"_rec_also({site}, {index})"
        return index

    def texel(self, lvalue: LValue) -> str:
        """Return the coordinates of a texel that is written."""
        return self._textures.texel(lvalue, "write")

    def path(self, lvalue: LValue) -> str:
        """Return what follows an element, its indices kept inside."""
        text, array = "", ArrayType(lvalue.memory.type)
        for part in lvalue.path:
            if isinstance(part, str):
                array = ArrayType("") if array.sizes else self._context.scope.field_of(array.element, part[1:])
                text += part
            else:
                argument = part.parent.parent.child_by_field_name("argument")
                is_plain = self._context.scope.is_repeatable(part)
                inner = self.index(argument, part, array, self._writer.text(part) if is_plain else self._writer.emit(part))
                # Accesses in the brackets come between: a scalar is noted anew, an element waits on the stack.
                text += f"[{inner if is_plain or lvalue.subscripts else f'_rec_here(uint({inner}))'}]"
                array = self._context.scope.element_of(array)
        return text


def count_of(memory: Memory) -> str:
    """Return how many elements a buffer has, bytes for a byte-address buffer, as an expression."""
    return element_count(memory) if memory.space != "shared" else NO_BOUND


def room(memory: Memory, width: str) -> str:
    """Return where an access of `width` bytes (an expression) must begin before, so that all of it is inside of a buffer."""
    return f"_rec_room({count_of(memory)}, uint({width}) - 1)" if memory.byte_address else count_of(memory)


def flat_index(names: list[str], sizes: list[str] | tuple[str, ...]) -> str:
    """Return the expression for an element's flat index, rows first: `(i * uint(4) + j)` for `i`, `j` in 3 × 4."""
    if not names:
        return "0"
    flat = names[0]
    for name, size in zip(names[1:], sizes[1:], strict=True):
        flat = f"({flat} * uint({size or NO_BOUND}) + {name})"
    return flat


def is_inside(names: list[str], sizes: list[str] | tuple[str, ...]) -> str:
    """Return the condition that all indices are inside."""
    return " && ".join(f"{name} < uint({size or NO_BOUND})" for name, size in zip(names, sizes, strict=True))


def guarded(site: int, names: list[str], sizes: list[str] | tuple[str, ...], setup: str, action: str) -> str:
    """Return a block that performs an action on an element where its indices are inside, and else records that they are not.

    Args:
        site: The site of the access.
        names: The names of the indices, which `setup` declares.
        sizes: How many elements each chooses from.
        setup: Statements that come first.
        action: Statements that access the element and record it.
    """
    if not names:
        return f"{{ {setup}{action} }}"
    return f"{{ {setup}if (_rec_may({site}, {flat_index(names, sizes)}, {is_inside(names, sizes)})) {{ {action} }} }}"
