"""Read a kernel's interface from the compiler: entry points, buffers with the layout of their elements, uniforms."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import slangpy as spy

from splatscope.gpu.slang_types import SlangType, short_name

_WITHOUT_COUNTER = {
    "AppendStructuredBuffer": "it stays 0, and every Append writes element 0",
    "ConsumeStructuredBuffer": "it stays 0, and every Consume reads element -1, which is outside",
}
MOST_ARRAY = 256  # elements of an array of structs or resources; further ones are not listed


@dataclass(frozen=True)
class Layout:
    """The layout of a buffer's element.

    Attributes:
        stride: Its size in bytes.
        parts: Its scalars as (path after the subscript, scalar type, byte offset).
        type: Its type.
        shape: The kind of buffer: "structured_buffer", "byte_address_buffer" or "texel_buffer".
    """

    stride: int
    parts: tuple[tuple[str, str, int], ...]
    type: str = ""
    shape: str = "structured_buffer"


@dataclass(frozen=True)
class Texture:
    """A texture that a kernel takes.

    Attributes:
        type: Its type.
        shape: "1d", "2d", "3d" or "cube", perhaps followed by "_array".
        scalar: The scalar type of its texels.
        components: How many of them a texel has.
        writable: Whether the kernel can write to it.
    """

    type: str
    shape: str
    scalar: str
    components: int
    writable: bool


@dataclass(frozen=True)
class Interface:
    """The interface of one entry point.

    Attributes:
        entries: All compute entry points of the source.
        group_size: Threads per workgroup in x, y and z.
        buffers: Layouts by name.
        uniforms: Types by name.
        textures: Textures by name.
        samplers: Names.
        unfit: Parameters that the debugger's page cannot set: types by name.
        warnings: The compiler's warnings.
    """

    entries: tuple[str, ...]
    group_size: tuple[int, int, int]
    buffers: dict[str, Layout]
    uniforms: dict[str, str]
    unfit: dict[str, str]
    warnings: str = ""
    textures: dict[str, Texture] = field(default_factory=dict)
    samplers: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, plain: dict[str, Any]) -> "Interface":
        """Return the object that `asdict` and JSON turned into `plain`."""
        layouts = {
            name: Layout(**fields | {"parts": tuple(map(tuple, fields["parts"]))}) for name, fields in plain["buffers"].items()
        }
        textures = {name: Texture(**fields) for name, fields in plain["textures"].items()}
        sizes = {"entries": tuple(plain["entries"]), "group_size": tuple(plain["group_size"])}
        values: dict[str, Any] = {**plain, **sizes, "buffers": layouts, "textures": textures}
        return cls(**values)


def interface_of(program: spy.ShaderProgram, entries: tuple[str, ...], parameters: list["Parameter"]) -> Interface:
    """Return the interface of a linked program's entry point, given its parameters and the names of all entry points."""
    size = program.layout.entry_points[0].compute_thread_group_size
    interface = Interface(entries, (size.x, size.y, size.z), {}, {}, {})
    for parameter in parameters:
        name, type_ = parameter.name, short_name(parameter.layout.type.full_name)
        if parameter.kind == "uniform":
            interface.uniforms[name] = type_
        elif parameter.kind == "buffer":
            interface.buffers[name] = layout_of(parameter)
        elif parameter.kind == "texture" and (layout := _texel_layout(parameter.layout.type)):
            interface.buffers[name] = layout
        elif parameter.kind == "texture" and (texture := texture_of(parameter)):
            interface.textures[name] = texture
        elif parameter.kind == "sampler":
            interface.samplers.append(name)
        elif parameter.kind in ("texture", "other"):
            interface.unfit[name] = type_
    return interface


def _texel_layout(type_: Any) -> Layout | None:
    """Return the layout of a texel buffer such as `RWBuffer<float4>`; None for other types and for unsupported texels."""
    texel = (
        SlangType.parse(short_name(type_.resource_result_type.full_name)) if type_.resource_shape.name == "texture_buffer" else None
    )
    if texel is None or texel.scalar.name not in ("float", "int", "uint") or len(texel.shape) > 1 or texel.count == 3:
        return None
    names = [f".{'xyzw'[i]}" for i in range(texel.count)] if texel.shape else [""]
    parts = tuple((name, texel.scalar.name, 4 * i) for i, name in enumerate(names))
    return Layout(4 * texel.count, parts, short_name(type_.resource_result_type.full_name), "texel_buffer")


def texture_of(parameter: "Parameter") -> Texture | None:
    """Return the description of a texture; None for a texel buffer and for unsupported texels."""
    type_ = parameter.layout.type
    shape = type_.resource_shape.name.removeprefix("texture_")
    texel = SlangType.parse(short_name(type_.resource_result_type.full_name))
    if shape.removesuffix("_array") not in ("1d", "2d", "3d", "cube") or texel is None or not texel.texel_format:
        return None
    writable = type_.resource_access.name != "read"
    return Texture(short_name(type_.full_name), shape, texel.scalar.name, texel.count, writable)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a program: a leaf, or a container of leaves.

    Attributes:
        name: Its name, with dots before members of structs and blocks and brackets around array indices, as in `tracing.bindings`.
        kind: "uniform", "buffer", "texture", "sampler", or "other" for one that cannot be set. Containers, which come before
            their contents, are "block" for a struct or constant buffer and "array" for an array of structs or resources.
        layout: SlangPy's layout.
    """

    name: str
    kind: str
    layout: Any

    @property
    def without_counter(self) -> str:
        """What follows from SlangPy not setting counters, if this parameter has one; otherwise ""."""
        consequence = _WITHOUT_COUNTER.get(self.layout.type.name)
        if self.kind != "buffer" or consequence is None:
            return ""
        return (
            f"{self.name} is {_with_article(self.layout.type.name)}, whose counter SlangPy cannot set: {consequence}. "
            "Take a RWStructuredBuffer and a counter of your own (InterlockedAdd) in its place."
        )


def parameters_of(program: spy.ShaderProgram, source: str) -> list[Parameter]:
    """Return the parameters of a linked program with one entry point.

    Left out are specialization constants, which SlangPy cannot set, system values, and structs of nothing but these. (Slang takes
    a struct with anything else in it for a uniform.)
    """
    parameters = [p for p in program.layout.parameters if not _is_specialization_constant(source, p.name)]
    leaves = [leaf for parameter in parameters for leaf in _walk(parameter.name, parameter.type_layout)]
    for parameter in program.layout.entry_points[0].parameters:
        own = list(_walk(parameter.name, parameter.type_layout))
        if not all(leaf.kind == "block" or _is_system_value(source, leaf.name.rpartition(".")[2]) for leaf in own):
            leaves += own
    return leaves


def _walk(name: str, layout: Any) -> Iterator[Parameter]:
    kind = layout.kind.name
    if kind in ("constant_buffer", "parameter_block", "struct"):
        inner = layout if kind == "struct" else layout.element_type_layout
        if inner.kind.name != "struct":
            yield from _walk(name, inner)
            return
        yield Parameter(name, "block", inner)
        for member in inner.fields:
            yield from _walk(f"{name}.{member.name}", member.type_layout)
    elif kind == "array" and innermost(layout).kind.name not in ("scalar", "vector", "matrix"):
        yield Parameter(name, "array", layout)
        for i in range(min(layout.type.element_count, MOST_ARRAY)):
            yield from _walk(f"{name}[{i}]", layout.element_type_layout)
    elif kind == "resource":
        yield Parameter(name, _resource_kind(layout), layout)
    elif kind == "pointer":
        yield Parameter(name, "other", layout)
    else:
        yield Parameter(name, "sampler" if kind == "sampler_state" else "uniform", layout)


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def innermost(layout: Any) -> Any:
    """Return the element layout of an array, nested to any depth; for anything else, the layout itself."""
    while layout.kind.name == "array":
        layout = layout.element_type_layout
    return layout


def _resource_kind(layout: Any) -> str:
    shape = layout.type.resource_shape.name
    if shape in ("structured_buffer", "byte_address_buffer"):
        return "buffer"
    return "texture" if shape.startswith("texture_") else "other"


def layout_of(parameter: Parameter) -> Layout:
    """Return the layout of a buffer's elements."""
    shape = parameter.layout.type.resource_shape.name
    if shape == "byte_address_buffer":
        return Layout(4, (("", "uint", 0),), "bytes", shape)
    element = parameter.layout.element_type_layout
    return Layout(max(4, element.stride), tuple(_parts(element, "", 0)), short_name(element.type.full_name), shape)


def stride_of(parameter: Parameter) -> int | None:
    """Return the size of a buffer's element in bytes, 4 if it has no element type; None for anything but a buffer."""
    if parameter.kind not in ("buffer", "texture"):
        return None
    if parameter.kind == "texture":
        texels = _texel_layout(parameter.layout.type)
        return texels.stride if texels else None
    structured = parameter.layout.type.resource_shape.name == "structured_buffer"
    return parameter.layout.element_type_layout.stride if structured else 4


def _is_system_value(source: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\s*:\s*SV_\w+", source) is not None


def _is_specialization_constant(source: str, name: str) -> bool:
    attribute = r"\[\s*\[?\s*(?:SpecializationConstant|vk\s*::\s*constant_id\s*\([^()]*\))\s*\]?\s*\]"
    return re.search(rf"{attribute}[\w\s]*\b{re.escape(name)}\b", source) is not None


def _parts(layout, name: str, offset: int):
    """Yield the scalars of a type as in `Layout.parts`."""
    kind = layout.kind.name
    if kind == "scalar":
        yield name, layout.type.full_name, offset
    elif kind == "vector":
        vector = SlangType.parse(short_name(layout.type.full_name))
        if vector is None:
            return
        step = layout.size // vector.count
        yield from ((f"{name}.{'xyzw'[i]}", vector.scalar.name, offset + i * step) for i in range(vector.count))
    elif kind == "struct":
        for member in layout.fields:
            yield from _parts(member.type_layout, f"{name}.{member.name}", offset + member.offset)
    elif kind == "matrix":
        matrix = SlangType.parse(short_name(layout.type.full_name))
        if matrix is None:
            return
        rows, columns = matrix.shape
        step = layout.size // matrix.count
        for r in range(rows):
            for c in range(columns):
                yield f"{name}[{r}][{c}]", matrix.scalar.name, offset + (r * columns + c) * step
    elif kind == "array" and layout.element_type_layout is not None and layout.type.element_count <= 16:
        stride = layout.element_type_layout.stride
        for i in range(layout.type.element_count):
            yield from _parts(layout.element_type_layout, f"{name}[{i}]", offset + i * stride)
