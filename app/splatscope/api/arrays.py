"""Convert arrays of other libraries to NumPy: buffers, tensors and textures of SlangPy, tensors of torch, any DLPack exporter."""

from collections.abc import Mapping
from typing import Any

import numpy as np


def as_input(name: str, value: Any) -> Any:
    """Convert a parameter's value to plain data: numbers, NumPy arrays, and dicts and lists of these.

    Raises:
        TypeError: The value has an unsupported type.
    """
    if isinstance(value, Mapping):
        return {key: as_input(f"{name}.{key}", part) for key, part in value.items()}
    if isinstance(value, list | tuple) and not all(isinstance(part, int | float | bool | list | tuple) for part in value):
        return [as_input(f"{name}[{i}]", part) for i, part in enumerate(value)]
    if isinstance(value, np.ndarray | np.generic | int | float | bool | str | list | tuple):
        return value
    if hasattr(value, "to_numpy"):  # a SlangPy object
        return np.ascontiguousarray(value.to_numpy())
    if hasattr(value, "detach"):  # a torch tensor
        value = value.detach().cpu().contiguous()
    for convert in (np.from_dlpack, np.asarray):
        try:
            array = convert(value)
        except (TypeError, ValueError, AttributeError, RuntimeError, BufferError):
            continue
        if array.dtype != object:
            return array
    kind = type(value).__name__
    if hasattr(value, "dtype"):
        raise TypeError(f"{name} is a {kind} of {value.dtype}, which NumPy does not have: convert it, to float32 for example.")
    raise TypeError(f"{name} is a {kind}: give numbers, a NumPy array, or a buffer, texture or tensor of SlangPy or torch.")
