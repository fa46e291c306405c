"""Bind a program's parameters to inputs by name. Buffers without an input are filled with zeros."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import USAGE
from splatscope.gpu.reflection import innermost
from splatscope.gpu.slang_types import SlangType, short_name
from splatscope.gpu.struct_layout import dtype_of
from splatscope.slang.tokens import names_in
from splatscope.tracing.textures import make_sampler, make_texture, texel_of

ELEMENTS = 1024  # in a buffer without an input
_COLUMN_MAJOR = 2  # the last argument of Slang's matrix type
_TEXEL_BUFFERS = ("float", "int", "uint")  # the scalar types that texel buffers may contain


@dataclass
class BoundBuffer:
    """A buffer or writable texture on the device, and the type of its contents.

    Attributes:
        buffer: The buffer or texture.
        type: The scalar type of its elements, "uint" for structs.
        dtype: The dtype of a buffer's element as the device stores it; None for textures and if it is not known.
    """

    buffer: spy.Buffer | spy.Texture
    type: str
    dtype: np.dtype | None = None

    def typed(self, data: np.ndarray) -> np.ndarray:
        """Return data read from it in the dtype of its elements, structs as structured arrays; a texture's rows are unchanged."""
        if isinstance(self.buffer, spy.Texture) or self.dtype is None:
            return data
        raw = data.reshape(-1).view(np.uint8)
        return np.frombuffer(raw[: len(raw) // self.dtype.itemsize * self.dtype.itemsize].tobytes(), self.dtype)


def bind(
    device: spy.Device,
    program: spy.ShaderProgram,
    root: spy.ShaderObject,
    inputs: dict,
    recorder: dict,
    has_column_major: bool = False,
) -> dict[str, BoundBuffer]:
    """Bind every parameter of a program, and return the buffers by name.

    Args:
        device: The device.
        program: The program.
        root: Its shader object.
        inputs: Arrays by parameter name, as `inputs.fitted` returns them.
        recorder: The recorder's own parameters by name, which are bound without conversion.
        has_column_major: Whether matrices may be stored by columns, so that each one's layout has to be looked up.

    Raises:
        ValueError: A parameter cannot be bound because of its kind, or a value does not fit it.
    """
    globals_ = spy.ShaderCursor(root)
    binder = _Binder(device, program, inputs, {}, has_column_major)
    entry = program.layout.entry_points[0]
    for cursor, parameters in ((globals_, program.layout.parameters), (globals_.find_entry_point(0), entry.parameters)):
        for parameter in parameters:
            if parameter.name in recorder:
                cursor[parameter.name].dereference().write(recorder[parameter.name])
            elif cursor.has_field(parameter.name):
                binder.bind(cursor[parameter.name], parameter.name, parameter.type_layout)
    return binder.buffers


@dataclass
class _Binder:
    """Writes inputs through cursors, and collects the buffers that it creates."""

    device: spy.Device
    program: spy.ShaderProgram
    inputs: dict[str, np.ndarray]
    buffers: dict[str, BoundBuffer]
    has_column_major: bool

    def bind(self, cursor: spy.ShaderCursor, name: str, layout: Any) -> None:
        kind = layout.kind.name
        if kind in ("constant_buffer", "parameter_block"):
            self._block(cursor.dereference(), name, layout.element_type_layout)
        elif kind == "struct":
            self._block(cursor, name, layout)
        elif kind == "array" and innermost(layout).kind.name in ("constant_buffer", "parameter_block"):
            raise ValueError(f"{name} is an array of constant buffers, which SlangPy cannot set: take a StructuredBuffer.")
        elif kind == "array" and innermost(layout).kind.name not in ("scalar", "vector", "matrix"):
            for i in range(layout.type.element_count):
                self.bind(cursor[i], f"{name}[{i}]", layout.element_type_layout)
        elif kind == "resource":
            self._resource(cursor, name, layout)
        elif kind == "pointer":
            raise ValueError(f"{name} is a pointer: pointers cannot be given. Take a buffer in its place.")
        elif kind == "sampler_state":
            compares = short_name(layout.type.full_name) == "SamplerComparisonState"
            cursor.write(make_sampler(self.device, name, self.inputs, compares))
        elif name in self.inputs:
            _write(cursor, self.inputs[name], layout, self._is_column_major(innermost(layout)))

    def _is_column_major(self, layout: Any) -> bool:
        """Return whether a matrix is stored by columns. Slang ignores `column_major` for matrices of integers and bools.

        Types are compared only in programs that ask for this layout: Slang 2026.12 crashes when it compares those of a device in a
        process that has opened another one since, as a user's own program may have.
        """
        if not self.has_column_major or (matrix := _numeric_type(layout)) is None or not matrix.scalar.is_floating:
            return False
        rows, columns = matrix.shape
        by_columns = self.program.layout.find_type_by_name(f"matrix<{matrix.scalar.name},{rows},{columns},{_COLUMN_MAJOR}>")
        return by_columns is not None and self.program.layout.is_sub_type(layout.type, by_columns)

    def _block(self, cursor: spy.ShaderCursor, name: str, layout: Any) -> None:
        if layout.kind.name != "struct":
            self.bind(cursor, name, layout)
            return
        if name in self.inputs:
            cursor.set_data(_writable(self.inputs[name]))
        for member in layout.fields:
            self.bind(cursor[member.name], f"{name}.{member.name}", member.type_layout)

    def _resource(self, cursor: spy.ShaderCursor, name: str, layout: Any) -> None:
        shape = layout.type.resource_shape.name
        if shape == "texture_buffer":
            self.buffers[name] = _texel_buffer(self.device, cursor, name, layout, self.inputs.get(name))
        elif shape.startswith("texture_"):
            texture, texel = make_texture(self.device, name, layout, self.inputs), texel_of(layout)
            cursor.write(texture)
            if layout.type.resource_access.name != "read" and texel is not None:
                self.buffers[name] = BoundBuffer(texture, texel.scalar.name)
        elif shape in ("structured_buffer", "byte_address_buffer"):
            self.buffers[name] = self._buffer(cursor, name, layout, shape == "structured_buffer")
        else:
            raise ValueError(f"{name} is a {layout.type.full_name}: only buffers and textures can be given.")

    def _buffer(self, cursor: spy.ShaderCursor, name: str, layout: Any, structured: bool) -> BoundBuffer:
        element = layout.element_type_layout if structured else None
        stride = element.stride if element is not None else 4
        data = _padded(self.inputs.get(name), stride)
        buffer = self.device.create_buffer(size=len(data), struct_size=stride if structured else 0, usage=USAGE)
        buffer.copy_from_numpy(data.view(np.uint32))
        cursor.write(buffer)
        return BoundBuffer(
            buffer, _scalar_type(layout.element_type_layout), dtype_of(element) if element is not None else np.dtype(np.uint32)
        )


def _write(cursor: spy.ShaderCursor, value: np.ndarray, layout: Any, by_columns: bool = False) -> None:
    """Write a uniform; an array of uniforms is written element by element. `by_columns` says how matrices are stored."""
    if layout.kind.name == "array":
        count = layout.type.element_count
        for i, element in enumerate(np.asarray(value).reshape(count, -1)):
            _write(cursor[i], element, layout.element_type_layout, by_columns)
        return
    if (
        by_columns and (matrix := _numeric_type(layout)) is not None
    ):  # SlangPy copies a matrix's numbers in the order in which they come
        value = value.reshape(matrix.shape).T
    if (matrix := _numeric_type(layout)) is not None and matrix.scalar.name != "float":  # SlangPy supports only matrices of floats
        rows = np.ascontiguousarray(_value(value, layout).astype(matrix.scalar.dtype)).view(np.uint8)
        stride = layout.element_type_layout.stride
        cursor.set_data(np.pad(rows, ((0, 0), (0, stride - rows.shape[1]))))
    elif (
        vector := _numeric_type(layout, "vector")
    ) is not None and vector.scalar.dtype.itemsize != 4:  # SlangPy has no such vectors
        cursor.set_data(np.ascontiguousarray(value.reshape(-1).astype(vector.scalar.dtype)))
    else:
        cursor.write(_value(value, layout))


def _texel_buffer(device: spy.Device, cursor: spy.ShaderCursor, name: str, layout, values: np.ndarray | None) -> BoundBuffer:
    texel = texel_of(layout)
    if texel is None or texel.scalar.name not in _TEXEL_BUFFERS or texel.count == 3:
        raise ValueError(
            f"{name} is a {layout.type.full_name}: of texel buffers only those of 1, 2 or 4 float, int or uint can be given."
        )
    data = _padded(values, 4 * texel.count)
    buffer = device.create_buffer(size=len(data), format=getattr(spy.Format, texel.texel_format), usage=USAGE)
    buffer.copy_from_numpy(data.view(np.uint32))
    cursor.write(buffer)
    return BoundBuffer(buffer, texel.scalar.name)


def _writable(values: np.ndarray) -> np.ndarray:
    """Return a copy by rows, since SlangPy refuses arrays that may not be written to."""
    return np.array(values, order="C")


def _padded(values: np.ndarray | None, stride: int) -> np.ndarray:
    """Return the bytes of an input, padded with zeros to whole elements."""
    data = (
        np.zeros(ELEMENTS * stride, np.uint8) if values is None else np.frombuffer(np.ascontiguousarray(values).tobytes(), np.uint8)
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


def _numeric_type(layout: Any, kind: str = "matrix") -> SlangType | None:
    return SlangType.parse(short_name(layout.type.full_name)) if layout.kind.name == kind else None


def _value(value: np.ndarray, layout: Any) -> Any:
    """Return a number, a list or a matrix for a cursor to write. Bools arrive as 32-bit words and are converted."""
    if "bool" in names_in(layout.type.full_name):
        value = value.astype(bool)
    if (matrix := _numeric_type(layout)) is not None:
        return _writable(value.reshape(matrix.shape))
    return value.tolist() if value.size > 1 else value.reshape(-1)[0].item()
