"""Rewrite indices: evaluate each once, clamp it to the bounds, and record it if it is out of bounds.

`tile[i + 1]` becomes `tile[_rec_at(uint(i + 1), uint n)]`. `_rec_at` notes the index for the record of the access and returns an
index within bounds. An index into a local array, a vector or a field, whose accesses are not recorded, becomes `_rec_inside(site,
i, n)`, which records only an index that is out of bounds.
"""

from collections.abc import Sequence

from tree_sitter import Node

from splatscope.slang.declaration import ArrayType, Memory
from splatscope.slang.source import parent_of, part, text_of, walk
from splatscope.slang.tokens import Tokens
from splatscope.tracing.instrument.context import FunctionContext
from splatscope.tracing.instrument.lvalues import NO_BOUND, LValue, element_count
from splatscope.tracing.instrument.textures import Textures
from splatscope.tracing.instrument.writer import TreeWriter

_MAY_CHANGE = ("assignment_expression", "update_expression", "call_expression")  # expressions that must not be evaluated twice


class Bounds:
    """Writes indices, and elements and paths with their indices."""

    def __init__(self, context: FunctionContext, writer: TreeWriter, textures: Textures):
        self._context, self._writer, self._textures = context, writer, textures

    def index(self, argument: Node, index: Node, array: ArrayType, text: str, access: str = "read") -> str:
        """Return the new text of an index into anything but recorded memory.

        Args:
            argument: The expression before the brackets.
            index: The expression in the brackets.
            array: The type of `argument`.
            text: The new text of `index`, without the bounds check.
            access: "read" or "write".
        """
        if (texel := self._textures.subscript(argument, index, text, access)) != "":
            return texel
        size = self._size(argument, array)
        surely_inside = index.type == "number_literal" and size.isdecimal() and text.isdecimal() and int(text) < int(size)
        if not size or surely_inside or self._context.is_differentiable:
            return text
        tokens = Tokens(text_of(argument))
        name = "".join(tokens.words[at] for at in tokens.outermost(tokens.indices) if tokens.words[at] != "[")
        site = self._context.site(parent_of(index), "out-of-bounds", name, access=access, dims=array.sizes)
        return f"_rec_inside({site}, uint({text}), uint({size}))"

    def _size(self, argument: Node, array: ArrayType) -> str:
        """Return the expression for the number of elements of an argument with this type; "" if it is not known.

        For an array in a constant buffer's struct, the expression asks the array itself, since the names in its size may be local
        to the struct or to a namespace.
        """
        scope, size = self._context.scope, self._context.scope.length(array)
        if not array.sizes or not size or size.isdecimal() or scope.root(argument) in scope.types:
            return size
        may_change = any(node.type in _MAY_CHANGE for node in walk(argument))
        return f"({text_of(argument)}).getCount()" if argument.type == "field_expression" and not may_change else size

    def element(self, lvalue: LValue, is_pushed: bool = False, access: str = "read", also: Sequence[str] = ()) -> str:
        """Return an element with its indices noted and clamped to the bounds.

        If `is_pushed`, other accesses may come between the index and the record, so the index waits on the recorder's stack. `also`
        lists sites of accesses without a value, which are recorded in this order as soon as the index is known.
        """
        in_path, also = (also, ()) if lvalue.noted else ((), also)  # once it is known which part is accessed
        if not lvalue.subscripts:
            return lvalue.memory.name + self.path(lvalue, access, in_path)
        if lvalue.memory.coordinates:
            coordinates = self._textures.texel(lvalue, access)
            coordinates = self._add_records(also, coordinates)
            return f"{lvalue.memory.name}[{f'_rec_push({coordinates})' if is_pushed else coordinates}]{self.path(lvalue, access)}"
        pairs = zip(lvalue.subscripts, lvalue.sizes, strict=True)
        arguments = ", ".join(f"uint({self._writer.as_argument(subscript)}), {size}" for subscript, size in pairs)
        first = self._add_records(also, f"_rec_at({arguments})")
        first = f"_rec_push({first})" if is_pushed else first
        later = "".join(("[_rec_second()]", "[_rec_third()]")[: len(lvalue.subscripts) - 1])
        return f"{lvalue.memory.name}[{first}]{later}{self.path(lvalue, access, in_path)}"

    def _add_records(self, sites: Sequence[str], index: str) -> str:
        for site in sites:
            index = f"_rec_also({site}, {index})"
        return index

    def texel(self, lvalue: LValue) -> str:
        """Return the coordinates of a texel that is written."""
        return self._textures.texel(lvalue, "write")

    def path(self, lvalue: LValue, access: str, also: Sequence[str] = ()) -> str:
        """Return the path after an element that is read or written (`access`), with its indices clamped to the bounds.

        `also` lists sites of accesses that are recorded as soon as the noted index is known; the element waits on the stack.
        """
        text, array = "", ArrayType(lvalue.memory.type)
        for step in lvalue.path:
            if isinstance(step, str):
                array = ArrayType("") if array.sizes else self._context.scope.field_of(array.element, step[1:])
                text += step
            else:
                argument = part(parent_of(parent_of(step)), "argument")
                is_plain = step.id in lvalue.names or self._context.scope.is_repeatable(step)
                new_text = lvalue.names.get(step.id) or (self._writer.text(step) if is_plain else self._writer.emit(step))
                inner = self.index(argument, step, array, new_text, access)
                if also and step.id == lvalue.noted:
                    inner = f"_rec_pop(uint({inner}))" if lvalue.subscripts else f"_rec_here(uint({inner}))"
                    for site in also:
                        inner = f"_rec_also({site}, _rec_part({inner}, {lvalue.weight}))"
                elif step.id == lvalue.noted:
                    inner = f"_rec_part(uint({inner}), {lvalue.weight})"
                # Accesses in the brackets come in between: a scalar is noted again, an element waits on the stack.
                text += f"[{inner if is_plain or lvalue.subscripts else f'_rec_here(uint({inner}))'}]"
                array = self._context.scope.element_of(array)
        return text


def count_of(memory: Memory) -> str:
    """Return the expression for the number of elements in a buffer, or of bytes in a byte-address buffer."""
    return element_count(memory) if memory.space != "shared" else NO_BOUND


def room(memory: Memory, width: str) -> str:
    """Return the exclusive bound on the start of an access of `width` bytes (an expression) that lies inside a buffer."""
    return f"_rec_room({count_of(memory)}, uint({width}) - 1)" if memory.byte_address else count_of(memory)


def flat_index(names: list[str], sizes: list[str] | tuple[str, ...]) -> str:
    """Return the expression for an element's flat index, row-major: `(i * uint(4) + j)` for `i`, `j` in 3 × 4."""
    if not names:
        return "0"
    flat = names[0]
    for name, size in zip(names[1:], sizes[1:], strict=True):
        flat = f"({flat} * uint({size or NO_BOUND}) + {name})"
    return flat


def is_inside(names: list[str], sizes: list[str] | tuple[str, ...]) -> str:
    """Return the condition that all indices are within bounds."""
    return " && ".join(f"{name} < uint({size or NO_BOUND})" for name, size in zip(names, sizes, strict=True))


def guarded(site: str | int, names: list[str], sizes: list[str] | tuple[str, ...], setup: str, action: str) -> str:
    """Return a block that performs an action on an element if its indices are within bounds, and otherwise records the fault.

    Args:
        site: The site of the access.
        names: The names of the indices, which `setup` declares.
        sizes: The bounds of the indices.
        setup: Statements that come first.
        action: Statements that access the element and record it.
    """
    if not names:
        return f"{{ {setup}{action} }}"
    return f"{{ {setup}if (_rec_may({site}, {flat_index(names, sizes)}, {is_inside(names, sizes)})) {{ {action} }} }}"
