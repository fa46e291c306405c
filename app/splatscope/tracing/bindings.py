"""Bind a program's parameters to inputs by name. Buffers without an input are filled with zeros."""

import re
from dataclasses import dataclass

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import USAGE
from splatscope.tracing.textures import make_texture, texel_of

ELEMENTS = 1024  # of a buffer without an input
_TEXEL_BUFFERS = ("float", "int", "uint")  # scalars that texel buffers may hold


@dataclass
class BoundBuffer:
    """A buffer, or a writable texture, and the scalar type of its elements ("uint" for structs)."""

    buffer: spy.Buffer | spy.Texture
    type: str


def bind(
    device: spy.Device, program: spy.ShaderProgram, root: spy.ShaderObject, inputs: dict, recorder: dict
) -> dict[str, BoundBuffer]:
    """Bind every parameter of a program, and return the buffers by name.

    Args:
        device: The device.
        program: The program.
        root: Its shader object.
        inputs: Arrays by name. Members of structs and blocks are named with dots.
        recorder: The recorder's own parameters by name, which are written as they are.

    Raises:
        ValueError: A parameter is of a kind that cannot be bound.
    """
    globals_ = spy.ShaderCursor(root)
    buffers: dict[str, BoundBuffer] = {}
    entry = program.layout.entry_points[0]
    for cursor, parameters in ((globals_, program.layout.parameters), (globals_.find_entry_point(0), entry.parameters)):
        for parameter in parameters:
            if parameter.name in recorder:
                cursor[parameter.name].dereference().write(recorder[parameter.name])
            elif cursor.has_field(parameter.name):
                _bind_one(device, cursor[parameter.name], parameter.name, parameter.type_layout, inputs, buffers)
    return buffers


def _bind_one(
    device: spy.Device, cursor: spy.ShaderCursor, name: str, layout, inputs: dict, buffers: dict[str, BoundBuffer]
) -> None:
    kind = layout.kind.name
    if kind in ("constant_buffer", "parameter_block", "struct"):
        inner = layout.element_type_layout if kind != "struct" else layout
        if kind != "struct":
            cursor = cursor.dereference()
        if name in inputs and inner.kind.name != "struct":
            cursor.write(_value(inputs[name], inner))
        elif name in inputs:
            cursor.set_data(np.ascontiguousarray(inputs[name]))
        for part in getattr(inner, "fields", None) or []:
            if inner.kind.name == "struct":
                _bind_one(device, cursor[part.name], f"{name}.{part.name}", part.type_layout, inputs, buffers)
    elif kind == "array" and _holds_resource(layout):
        for i in range(layout.type.element_count):
            _bind_one(device, cursor[i], f"{name}[{i}]", layout.element_type_layout, inputs, buffers)
    elif kind == "resource":
        _bind_resource(device, cursor, name, layout, inputs, buffers)
    elif kind == "sampler_state":
        cursor.write(device.create_sampler())
    elif name in inputs:
        cursor.write(_value(inputs[name], layout))


def _holds_resource(layout) -> bool:
    while layout.kind.name == "array":
        layout = layout.element_type_layout
    return layout.kind.name in ("resource", "sampler_state")


def _bind_resource(
    device: spy.Device, cursor: spy.ShaderCursor, name: str, layout, inputs: dict, buffers: dict[str, BoundBuffer]
) -> None:
    shape = layout.type.resource_shape.name
    short = name if name in inputs or "." not in name else name.rpartition(".")[2]
    given = inputs.get(name, inputs.get(short))
    if shape == "texture_buffer":
        buffers[name] = _texel_buffer(device, cursor, name, layout, given)
        return
    if shape.startswith("texture_"):
        texture = make_texture(device, name, layout, given)
        cursor.write(texture)
        if layout.type.resource_access.name != "read":
            buffers[name] = BoundBuffer(texture, texel_of(layout).scalar.name)
        return
    if shape not in ("structured_buffer", "byte_address_buffer"):
        raise ValueError(f"{name} is a {layout.type.full_name}: only buffers and textures can be given.")
    stride = layout.element_type_layout.stride if shape == "structured_buffer" else 4
    data = _padded(given, stride)
    buffer = device.create_buffer(size=len(data), struct_size=stride if shape == "structured_buffer" else 0, usage=USAGE)
    buffer.copy_from_numpy(data.view(np.uint32))
    cursor.write(buffer)
    buffers[name] = BoundBuffer(buffer, _scalar_type(layout.element_type_layout))


def _texel_buffer(device: spy.Device, cursor: spy.ShaderCursor, name: str, layout, given: np.ndarray | None) -> BoundBuffer:
    texel = texel_of(layout)
    if texel is None or texel.scalar.name not in _TEXEL_BUFFERS or texel.count == 3:
        raise ValueError(
            f"{name} is a {layout.type.full_name}: of texel buffers only those of 1, 2 or 4 float, int or uint can be given."
        )
    data = _padded(given, 4 * texel.count)
    buffer = device.create_buffer(size=len(data), format=getattr(spy.Format, texel.texel_format), usage=USAGE)
    buffer.copy_from_numpy(data.view(np.uint32))
    cursor.write(buffer)
    return BoundBuffer(buffer, texel.scalar.name)


def _padded(given: np.ndarray | None, stride: int) -> np.ndarray:
    """Return the bytes of an input, padded with zeros to whole elements."""
    data = (
        np.zeros(ELEMENTS * stride, np.uint8) if given is None else np.frombuffer(np.ascontiguousarray(given).tobytes(), np.uint8)
    )
    padded = np.zeros(-(-max(1, -(-len(data) // stride)) * stride // 4) * 4, np.uint8)
    padded[: len(data)] = data
    return padded


def _scalar_type(element) -> str:
    if element is None or element.kind.name not in ("scalar", "vector", "matrix"):
        return "uint"
    while element.kind.name != "scalar":
        element = element.element_type_layout
    return element.type.full_name


def _value(value: np.ndarray, layout):
    """Return a number or a list for a cursor to write. Bools arrive as 32-bit words and are converted."""
    if re.search(r"\bbool\b", layout.type.full_name):
        value = value.astype(bool)
    return value.tolist() if value.size > 1 else value.reshape(-1)[0].item()
