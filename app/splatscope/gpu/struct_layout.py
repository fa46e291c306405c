"""The layout of a type in a buffer, as a NumPy dtype."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from splatscope.gpu.slang_types import SlangType, short_name


def dtype_of(layout: Any) -> np.dtype | None:
    """Return the dtype of one element as the device stores it; None for types without numbers.

    A vector is a subarray (components,), a matrix (rows, columns), an array (elements, …). A struct has the members' names and
    offsets, and the size of the whole stride.
    """
    kind = layout.kind.name
    if kind in ("scalar", "vector", "matrix"):
        type_ = SlangType.parse(short_name(layout.type.full_name))
        return np.dtype((type_.scalar.dtype, type_.shape)) if type_ else None
    if kind == "array" and layout.element_type_layout is not None:
        element = dtype_of(layout.element_type_layout)
        return element and np.dtype((element, (layout.type.element_count,)))
    if kind != "struct":
        return None
    fields = list(layout.fields)
    members = [(field.name, dtype, field.offset) for field in fields if (dtype := dtype_of(field.type_layout)) is not None]
    if not members or len(members) < len(fields):
        return None
    names, formats, offsets = map(list, zip(*members, strict=True))
    size = max(layout.stride, *(offset + dtype.itemsize for _, dtype, offset in members))
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


def scalars_of(dtype: np.dtype) -> Iterator[tuple[np.dtype, int]]:
    """Yield (dtype, count) for each run of equal scalars in an element."""
    if dtype.subdtype is not None:
        for base, count in scalars_of(dtype.subdtype[0]):
            yield base, count * math.prod(dtype.subdtype[1])
    elif dtype.names is not None:
        for name in dtype.names:
            yield from scalars_of(dtype[name])
    else:
        yield dtype, 1


def filled(dtype: np.dtype, given: np.ndarray) -> np.ndarray:
    """Return structs of a dtype, (n,), from a structured array or an array of dicts. Missing members are zeros.

    Raises:
        ValueError: A given member does not exist or has another shape.
    """
    structs = np.zeros(given.size, dtype)
    if given.dtype.names is not None:
        _copy(structs, given.reshape(-1))
    else:
        for i, element in enumerate(given.reshape(-1)):
            _set(structs[i : i + 1], element)
    return structs


def _copy(target: np.ndarray, source: np.ndarray) -> None:
    """Copy structs to structs; both arrays are structured."""
    for name in source.dtype.names or ():
        part = _member(target, name)
        if part.dtype.names is not None and source[name].dtype.names is not None:
            _copy(part, source[name])
        else:
            part[...] = source[name]


def _set(target: np.ndarray, members: Any) -> None:
    """Set the single struct in `target`, (1,)."""
    if not isinstance(members, Mapping):
        raise ValueError("all elements must be dicts, with the members' names.")
    for name, value in members.items():
        part = _member(target, name)
        if isinstance(value, Mapping):
            _set(part, value)
        else:
            part[...] = value


def _member(target: np.ndarray, name: str) -> np.ndarray:
    if target.dtype.names is None or name not in target.dtype.names:
        raise ValueError(f"there is no member {name}; there are {', '.join(target.dtype.names or ('none',))}.")
    return target[name]
