"""Convert a user's inputs to a kernel's parameters: complete names, convert numbers, lay out structs.

A parameter has one full name, with dots before members of blocks and structs and with array indices in brackets
(`scene.lights[2].colour`). The result of `fitted` has these names only, and contains the bytes that the kernel sees.
"""

import difflib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from splatscope.gpu.reflection import Parameter, stride_of, texture_of
from splatscope.gpu.slang_types import SCALARS, SlangType, short_name
from splatscope.gpu.struct_layout import dtype_of, filled, scalars_of
from splatscope.tracing.textures import axes_of

_TEXTURE_PARTS = ("format", "mip")
_SAMPLER_PARTS = ("filter", "address")
MOST_BYTES = 2**30  # in a buffer or texture that is given by its size alone
MOST_EDGE = 16_384  # texels along an edge of such a texture
MOST_NAMES = 12  # names that a message lists


def flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, np.ndarray]:
    """Flatten nested inputs to arrays by dotted name: `{"CB": {"n": 8}}` becomes `{"CB.n": array(8)}`.

    A list of dicts stays a single array of objects: it may be an array of structs, or the contents of a buffer of structs.
    """
    arrays: dict[str, np.ndarray] = {}
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            arrays |= flat(value, f"{name}.")
        elif isinstance(value, list | tuple) and any(isinstance(part, Mapping) for part in value):
            arrays[name] = np.fromiter(value, object, len(value))
        else:
            arrays[name] = np.asarray(value)
    return arrays


def fitted(parameters: list[Parameter], given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the inputs by full parameter name, as the kernel stores them.

    A name may omit its leading parts if the rest is unique: `n` for `CB.n`. The default 64-bit numbers of Python and NumPy are
    converted to the parameter's type, those of a byte-address buffer to its words. An array of dtype V4 contains 32-bit patterns.
    A buffer takes the bytes of any other array. A buffer of structs also takes a structured array or an array of dicts, whose
    missing members are zeros. `buffer.count` is the number of elements of a buffer of zeros, `texture.size` the size of a texture
    of zeros: width, height and depth or layers.

    Raises:
        ValueError: There is no such parameter, or the value does not fit it. The message lists the parameters.
    """
    by_name = {parameter.name: parameter for parameter in parameters}
    inputs: dict[str, np.ndarray] = {}
    for name, value in given.items():
        for full, part in _parts_of(name, value, by_name):
            if full in inputs:
                raise ValueError(f"{full} is given twice.")
            inputs[full] = part
    return inputs


def _parts_of(name: str, value: np.ndarray, by_name: dict[str, Parameter]) -> list[tuple[str, np.ndarray]]:
    """Return (parameter's name, value) for each parameter that an input sets. An array of structs sets several."""
    full = _full_name(name, by_name)
    parameter = by_name.get(full)
    if parameter is None and (owner := _sized(full, by_name)) is not None:
        return [(owner.name, _zeros(owner, value))]
    if parameter is None and (texture := _texture_sized(full, by_name)) is not None:
        return [(texture.name, _zero_texels(texture, value))]
    if parameter is None:  # an option of a texture or a sampler
        return [(full, value)]
    if parameter.kind == "array":
        elements = list(value)
        if len(elements) > parameter.layout.type.element_count:
            raise ValueError(f"{full} has {parameter.layout.type.element_count} elements, not {len(elements)}.")
        parts = flat({f"{full}[{i}]": element for i, element in enumerate(elements)})
        return [pair for part, part_value in parts.items() for pair in _parts_of(part, part_value, by_name)]
    return [(full, _converted(full, value, parameter))]


def _full_name(name: str, by_name: dict[str, Parameter]) -> str:
    if name in by_name:
        return name
    owner, _, option = name.rpartition(".")
    candidates = [full for full in by_name if full.endswith(f".{name}")]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise ValueError(f"{name} may be {_listed(candidates)}: give the whole name.")
    if owner and option.rstrip("0123456789") in (*_TEXTURE_PARTS, *_SAMPLER_PARTS):
        full = _full_name(owner, by_name)
        if by_name[full].kind in ("texture", "sampler"):
            return f"{full}.{option}"
    if owner and option == "count" and _sized(sized := f"{_full_name(owner, by_name)}.count", by_name):
        return sized
    if owner and option == "size" and _texture_sized(sized := f"{_full_name(owner, by_name)}.size", by_name):
        return sized
    if owner in by_name and option == "counter" and by_name[owner].without_counter:
        raise ValueError(by_name[owner].without_counter)
    same_letters = [full for full in by_name if full.lower() == name.lower()]
    similar = same_letters or difflib.get_close_matches(name, by_name, 1)
    hint = f" Did you mean {similar[0]}?" if similar else ""
    available = [full for full, parameter in by_name.items() if parameter.kind not in ("block", "array")]
    raise ValueError(f"The kernel has no parameter {name}.{hint} It has {_listed(available) or 'none'}.")


def _sized(name: str, by_name: dict[str, Parameter]) -> Parameter | None:
    """Return the buffer whose number of elements an input gives; None for any other input."""
    owner, _, option = name.rpartition(".")
    parameter = by_name.get(owner) if option == "count" else None
    return parameter if parameter is not None and stride_of(parameter) else None


def _zeros(buffer: Parameter, count: np.ndarray) -> np.ndarray:
    """Return the bytes of a buffer of `count` zero elements, which are words if it has no element type.

    Raises:
        ValueError: The count is not a whole number above 0, or too large.
    """
    stride = stride_of(buffer) or 4
    if count.size != 1 or count.dtype.kind not in "iu" or not 1 <= count.item() <= MOST_BYTES // stride:
        raise ValueError(f"{buffer.name}.count is a number of elements from 1 to {MOST_BYTES // stride:,}.")
    return np.zeros(count.item() * stride, np.uint8)


def _texture_sized(name: str, by_name: dict[str, Parameter]) -> Parameter | None:
    """Return the texture whose size an input gives; None for any other input."""
    owner, _, option = name.rpartition(".")
    parameter = by_name.get(owner) if option == "size" else None
    return parameter if parameter is not None and parameter.kind == "texture" and texture_of(parameter) else None


def _zero_texels(parameter: Parameter, size: np.ndarray) -> np.ndarray:
    """Return the texels of a texture of zeros, in the order that an array of them has.

    Raises:
        ValueError: The size does not have as many whole numbers as the texture has axes, or is too large.
    """
    texture = texture_of(parameter)
    assert texture is not None
    axes = axes_of(texture.shape)
    numbers = size.reshape(-1).tolist()
    if size.dtype.kind not in "iu" or len(numbers) != len(axes) or not all(1 <= n <= MOST_EDGE for n in numbers):
        raise ValueError(f"{parameter.name}.size is [{', '.join(axes)}], whole numbers from 1 to {MOST_EDGE:,}.")
    faces, layers = ([6] if texture.shape == "cube" else []), 6 if texture.shape == "cube_array" else 1
    shape = (*faces, numbers[-1] * layers, *reversed(numbers[:-1]), texture.components)
    dtype = SCALARS[texture.scalar].dtype
    if math.prod(shape) * dtype.itemsize > MOST_BYTES:
        raise ValueError(f"{parameter.name}.size: the texture would have more than {MOST_BYTES:,} bytes.")
    return np.zeros(shape, dtype)


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _converted(name: str, value: np.ndarray, parameter: Parameter) -> np.ndarray:
    if parameter.kind == "uniform":
        return _numbers(name, value, short_name(parameter.layout.type.full_name), parameter.layout)
    if parameter.kind == "block":
        return _whole(name, value, parameter.layout)
    if parameter.kind == "buffer" and parameter.layout.element_type_layout is not None:
        element = parameter.layout.element_type_layout
        return _elements(name, value, element, f"buffer of {short_name(element.type.full_name)}")
    if value.dtype == object:
        raise ValueError(f"{name} is a {short_name(parameter.layout.type.full_name)}: it takes an array of numbers.")
    if parameter.kind == "buffer" and value.dtype in (np.int64, np.float64):
        whole = np.int32 if value.min(initial=0) < 0 else np.uint32
        words = np.dtype(whole if value.dtype == np.int64 else np.float32)
        return _cast(name, value, words, short_name(parameter.layout.type.full_name))
    return value


def _numbers(name: str, value: np.ndarray, type_name: str, layout: Any) -> np.ndarray:
    """Return a uniform's numbers in its own type."""
    count, innermost = 1, layout
    while innermost.kind.name == "array":
        count, innermost = count * innermost.type.element_count, innermost.element_type_layout
    type_ = SlangType.parse(short_name(innermost.type.full_name))
    if type_ is None:  # an enum, say
        return value
    dtype = type_.scalar.dtype
    if value.dtype.kind == "V" and value.dtype.names is None:
        value = np.frombuffer(value.tobytes(), np.uint32 if type_.scalar.name == "bool" else dtype)
    if value.dtype.kind not in "fiub":
        raise ValueError(f"{name} is a {type_name}: it takes numbers.")
    if value.size != count * type_.count:
        raise ValueError(f"{name} is a {type_name}: it takes {_quantity(count * type_.count)}, not {value.size:,}.")
    return _cast(name, value, dtype, type_name)


def _quantity(count: int) -> str:
    return "one number" if count == 1 else f"{count:,} numbers"


def _cast(name: str, value: np.ndarray, dtype: np.dtype, type_name: str) -> np.ndarray:
    """Convert numbers to another dtype.

    Raises:
        ValueError: A number does not fit.
    """
    if value.dtype == dtype:
        return value
    with np.errstate(all="ignore"):
        cast = value.astype(dtype)
        if dtype.kind in "iu" and not np.array_equal(cast.astype(np.float64), value.astype(np.float64)):
            wrong = value.reshape(-1)[cast.reshape(-1).astype(np.float64) != value.reshape(-1).astype(np.float64)][0]
            raise ValueError(f"{name} is a {type_name}: {wrong} does not fit.")
    return cast


def _whole(name: str, value: np.ndarray, struct: Any) -> np.ndarray:
    """Return the bytes of a struct or a constant buffer that is given whole, without those that fill it up to 16 bytes."""
    type_name, size = short_name(struct.type.full_name), struct.size
    data = np.frombuffer(_elements(name, value, struct, type_name).tobytes(), np.uint8)
    if len(data) > -(-size // 16) * 16:
        raise ValueError(f"{name} is a {type_name}: it has {size:,} bytes, not {len(data):,}.")
    return data[:size]


def _elements(name: str, value: np.ndarray, element: Any, what: str) -> np.ndarray:
    """Return the contents of a buffer, or of a struct (`what`), in the layout of its elements."""
    type_name = short_name(element.type.full_name)
    if value.dtype == object or value.dtype.names is not None:
        dtype = dtype_of(element)
        if dtype is None or dtype.names is None:
            raise ValueError(f"{name} is a {what}: it takes an array of numbers.")
        try:
            return filled(dtype, value)
        except (KeyError, ValueError, TypeError) as error:
            raise ValueError(f"{name}: {error.args[0] if error.args else error}") from None
    if value.dtype.kind not in "fiubV":
        raise ValueError(f"{name} is a {what}: it takes numbers, not {value.dtype}.")
    type_ = SlangType.parse(type_name)
    if type_ is None and value.dtype.kind in "fi" and value.dtype.itemsize == 8:
        type_ = _only_type(element)
        if type_ is None or value.size * type_.scalar.dtype.itemsize % element.stride:
            raise ValueError(f"{name} is a {what}: it takes dicts, a structured array, or its words as uint32.")
    if type_ is not None and value.dtype.kind in "fi" and value.dtype.itemsize == 8 and type_.scalar.dtype.itemsize < 8:
        return _cast(name, value, type_.scalar.dtype, what)
    return value


def _only_type(struct: Any) -> SlangType | None:
    """Return the scalar type of all members of a struct; None if they differ, or if the struct has gaps."""
    dtype = dtype_of(struct)
    if dtype is None:
        return None
    bases = {base for base, _ in scalars_of(dtype)}
    if len(bases) != 1 or sum(count * base.itemsize for base, count in scalars_of(dtype)) != dtype.itemsize:
        return None
    base = bases.pop()
    return next((SlangType(scalar) for scalar in SCALARS.values() if scalar.dtype == base and scalar.name != "bool"), None)
