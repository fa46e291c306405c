"""Rewrite texture coordinates: in `image[at]`, `image.Load(at)` and `image.Store(at, value)`.

Coordinates outside of a texture are recorded. If the kernel may write the texture, all accesses are recorded as for a buffer.
"""

from tree_sitter import Node

from splatscope.gpu.slang_types import is_numeric
from splatscope.slang.tokens import split_type
from splatscope.tracing.instrument.context import FunctionContext
from splatscope.tracing.instrument.lvalues import LValue
from splatscope.tracing.instrument.writer import TreeWriter

KIND = "out-of-bounds"
_COORDINATES = {f"Texture{n}D{array}": n + bool(array) for n in (1, 2, 3) for array in ("", "Array")}


class Textures:
    """Writes the coordinates of texels."""

    def __init__(self, context: FunctionContext, writer: TreeWriter):
        self._context, self._writer = context, writer

    def subscript(self, texture: Node, index: Node, text: str, access: str) -> str:
        """Return the new text of the coordinates in `texture[index]`, "" if it is not a texture."""
        return self._checked(texture, index, text, access, "_rec_texel")

    def method(self, texture: Node, method: str, at: Node, text: str) -> str:
        """Return the new text of the coordinates in `texture.method(at, …)`, "" if it is not a texture or another method."""
        if method not in ("Load", "Store"):
            return ""
        properties = self._texture(texture)
        has_level = properties is not None and not properties[1]  # for a read-only texture
        return self._checked(texture, at, text, "read" if method == "Load" else "write", "_rec_load" if has_level else "_rec_texel")

    def _checked(self, texture: Node, coordinates: Node, text: str, access: str, function: str) -> str:
        properties = self._texture(texture)
        if properties is None or self._context.is_differentiable:
            return ""
        return self._noted(self._writer.text(texture), properties[0], coordinates, text, access, function)

    def texel(self, lvalue: LValue, access: str) -> str:
        """Return the new text of the coordinates of a texel that is recorded."""
        (coordinates,) = lvalue.subscripts
        memory = lvalue.memory
        return self._noted(
            memory.name, memory.coordinates, coordinates, self._writer.as_argument(coordinates), access, "_rec_texel"
        )

    def _noted(self, texture: str, count: int, coordinates: Node, text: str, access: str, function: str) -> str:
        type_text = f"int{count}" if count > 1 else "int"
        site = self._context.fault(coordinates, KIND, texture, type=type_text, access=access, space="texture")
        # In parentheses, without which Slang does not accept a `globallycoherent` texture as an argument.
        return f"{function}({site}, ({texture}), {text})"

    def _texture(self, node: Node) -> tuple[int, bool] | None:
        """Return the number of a texture's coordinates and whether it is writable; None if the node is not a texture."""
        if node.type not in ("identifier", "field_expression"):
            return None
        memory = self._context.scope.memory.get("".join(self._writer.text(node).split()))
        if memory is not None:
            return (memory.coordinates, True) if memory.coordinates else None
        name, arguments = split_type(self._context.types.whole(node))
        coordinates = _COORDINATES.get(name.removeprefix("RW"))
        if coordinates is None:
            return None
        element = arguments[0] if arguments else "float4"
        if not (is_numeric(element) or self._context.types.named(element)):
            return None
        return coordinates, name.startswith("RW")
