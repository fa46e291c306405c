"""Fill buffers and uniforms as the page's widgets specify."""

import math
import re
from types import MappingProxyType
from typing import Any

import numpy as np

from splatscope.gpu.reflection import Interface, Layout
from splatscope.gpu.slang_types import SCALARS, SlangType
from splatscope.recordings.archive import ArchiveError
from splatscope.services.drafts.array_files import ArrayFiles

FILLS = ("zeros", "ramp", "shuffle", "random", "values", "file")
ELEMENTS = 64  # in a buffer without a specification
MOST_ELEMENTS = 1 << 20
MOST_BYTES = 16 << 20
MOST_GROUPS = 65_535
MOST_NUMBERS = 1024  # in a uniform
MOST_INPUTS = 256  # buffers, numbers, textures and samplers of a kernel
MOST_TOGETHER = 64 << 20  # bytes of all inputs of a job


class InputError(ValueError):
    """An input is not valid. The message says what would be."""


class Budget:
    """The memory that the inputs of a job may take together. Each takes its part of it before it is allocated."""

    def __init__(self, most: int = MOST_TOGETHER) -> None:
        self._most = self._left = most

    def take(self, name: str, size: int) -> None:
        """Take `size` bytes for an input. Raises InputError if there are not as many left."""
        self._left -= size
        if self._left < 0:
            raise InputError(f"With {name}, the inputs have more than {self._most:,} bytes together: make it or others smaller.")


def buffer_bytes(
    name: str, layout: Layout, spec: dict[str, Any], files: ArrayFiles = MappingProxyType({}), budget: Budget | None = None
) -> np.ndarray:
    """Return the bytes of a buffer, uint8.

    Fills count scalars, not elements: a ramp over float2 is 0, 1, 2, 3, …

    Args:
        name: The buffer's name.
        layout: The layout of its elements.
        spec: `fill` (one of FILLS) and `count`, by default as many as `values` needs. Some fills also need `seed`, `values`, or
            `array`, a key of `files`, with the name of its `file`; an array file also determines the count.
        files: The array files.
        budget: The memory that is left for inputs.

    Raises:
        InputError: The specification does not fit the buffer.
    """
    budget = budget or Budget()
    if spec.get("fill") == "file":
        return _from_file(name, layout, spec, files, budget)
    fill, parts = spec.get("fill", "zeros"), max(1, len(layout.parts))
    values = numbers(name, str(spec.get("values", ""))) if fill == "values" else []
    default = max(1, -(-len(values) // parts)) if values else ELEMENTS
    count = whole(spec.get("count", default), f"The number of elements of {name}", 1, MOST_ELEMENTS)
    if count * layout.stride > MOST_BYTES:
        raise InputError(f"{name} would have {count * layout.stride:,} bytes; up to {MOST_BYTES:,} are allowed.")
    budget.take(name, count * layout.stride)
    total = count * len(layout.parts)
    real = all(SCALARS[scalar].is_floating for _, scalar, _ in layout.parts)
    rng = np.random.default_rng(whole(spec.get("seed", 1), f"The seed of {name}", 0, 2**32))
    if fill == "ramp":
        flat: np.ndarray = np.arange(total)
    elif fill == "shuffle":
        flat = rng.permutation(total)
    elif fill == "random":
        flat = rng.random(total) if real else rng.integers(0, 256, total)
    elif fill == "values":
        if len(values) > total:
            raise InputError(f"{name} has room for {total:,} numbers, but {len(values):,} were typed.")
        flat = np.array(values + [0] * (total - len(values)), object)
    else:
        flat = np.zeros(total, int)
    return _laid_out(name, layout, flat.reshape(count, len(layout.parts)) if layout.parts else np.zeros((count, 0)))


def _from_file(name: str, layout: Layout, spec: dict[str, Any], files: ArrayFiles, budget: Budget) -> np.ndarray:
    file = str(spec.get("file") or spec.get("wanted") or "")[:80]
    stored = files.get(str(spec.get("array", "")))
    if stored is None:
        raise InputError(f"{name}: choose {f'{file} again' if spec.get('array') else file or 'an array file'}, a .npy or .npz.")
    try:
        array = stored.array(name)
    except ArchiveError as error:
        raise InputError(str(error)) from None
    if stored.is_recording:
        budget.take(name, array.nbytes)
        return array
    parts = max(1, len(layout.parts))
    if array.size == 0 or array.size % parts:
        raise InputError(
            f"{stored.name} holds {array.size:,} numbers, which is not a multiple of the {parts} in each element of {name}."
        )
    count = array.size // parts
    if count > MOST_ELEMENTS or count * layout.stride > MOST_BYTES:
        raise InputError(f"{stored.name} would fill {name} with {count:,} elements; up to {MOST_BYTES:,} bytes are allowed.")
    budget.take(name, count * layout.stride)
    return _laid_out(name, layout, array.reshape(count, parts))


def _laid_out(name: str, layout: Layout, columns: np.ndarray) -> np.ndarray:
    """Return numbers, (elements, scalars), as the bytes of a buffer."""
    data = np.zeros((len(columns), layout.stride), np.uint8)
    for number, (_, scalar, offset) in enumerate(layout.parts):
        data[:, offset:][:, : SCALARS[scalar].dtype.itemsize] = _column(name, columns[:, number], scalar).view(np.uint8)
    return data.reshape(-1)


def _column(name: str, values: np.ndarray, scalar: str) -> np.ndarray:
    dtype = SCALARS[scalar].dtype
    try:
        if dtype.kind == "f":
            with np.errstate(over="ignore"):
                typed = values.astype(np.float64).astype(dtype)
        elif values.dtype.kind in "iub":
            typed = values.astype(np.uint64).astype(dtype.str.replace("i", "u"))
        else:
            mask = 2 ** (8 * dtype.itemsize) - 1
            if _first_unfit(values):
                raise ValueError
            typed = np.array([int(v) & mask for v in values], np.uint64).astype(dtype.str.replace("i", "u"))
    except (ValueError, OverflowError):
        raise InputError(f"{name} holds {scalar}: {_first_unfit(values)} does not fit.") from None
    return np.ascontiguousarray(typed).reshape(-1, 1)


def _first_unfit(values: np.ndarray) -> str:
    """Return the first value that is not a whole number; "" if all are."""
    return next((str(v) for v in values.tolist() if isinstance(v, float) and not v.is_integer()), "")


def numbers(name: str, text: str) -> list[int | float]:
    """Parse numbers such as `1, 2 0x1f nan -inf 1e3`. Raises InputError."""
    values: list[int | float] = []
    for word in re.split(r"[\s,;]+", text.strip()):
        if not word:
            continue
        try:
            values.append(int(word, 0) if re.fullmatch(r"[-+]?(0[xX][\da-fA-F]+|\d+)", word) else float(word.rstrip("fF")))
        except ValueError:
            try:
                values.append(float(word))
            except ValueError:
                raise InputError(f"“{word[:20]}” in {name} is not a number. Numbers are separated by spaces or commas.") from None
    return values


def refuse_interface(interface: Interface) -> str:
    """Return one line that says that a kernel takes too many inputs; "" if it does not."""
    count = sum(map(len, (interface.buffers, interface.uniforms, interface.textures, interface.samplers, interface.unfit)))
    return f"The kernel has {count:,} parameters; up to {MOST_INPUTS} can be set here." if count > MOST_INPUTS else ""


def inputs_of(
    interface: Interface,
    specs: dict[str, dict[str, Any]],
    files: ArrayFiles = MappingProxyType({}),
    budget: Budget | None = None,
) -> dict[str, np.ndarray]:
    """Return arrays for all buffers and uniforms of a kernel, by name. Raises InputError."""
    budget = budget or Budget()
    if wrong := refuse_interface(interface):
        raise InputError(wrong)
    inputs = {name: buffer_bytes(name, layout, specs.get(name) or {}, files, budget) for name, layout in interface.buffers.items()}
    for name, type_text in interface.uniforms.items():
        parsed_type, spec = uniform_type(type_text), specs.get(name) or {}
        values = numbers(name, str(spec.get("values", "")))
        if parsed_type is None:
            if any(values):
                raise InputError(f"{name} is a {type_text}: only numbers, vectors, matrices and arrays of them can be set.")
            continue
        scalar, count = parsed_type
        file = files.get(str(spec.get("array", "")))
        if spec.get("fill") == "file" and file is not None and file.is_recording:
            inputs[name] = _recorded(name, file.array(name), SCALARS[scalar].dtype, count)
            continue
        if len(values) > count:
            raise InputError(
                f"{name} is a {type_text}: it takes {count} number{'s' if count > 1 else ''}, but {len(values)} were typed."
            )
        column = _column(name, np.array(values + [0] * (count - len(values)), object), scalar)
        inputs[name] = column.reshape(-1).view(SCALARS[scalar].dtype)
    return inputs


def _recorded(name: str, array: np.ndarray, dtype: np.dtype, count: int) -> np.ndarray:
    """Return a uniform from a recording."""
    if array.nbytes != count * dtype.itemsize:
        raise InputError(f"The recording's {name} has {array.nbytes:,} bytes, not {count * dtype.itemsize:,}: type its numbers.")
    return np.frombuffer(array.tobytes(), dtype)


def uniform_type(text: str) -> tuple[str, int] | None:
    """Return (scalar, count) for a uniform's type, `float3x3` or `uint2[4]`; None for a type that cannot be typed in."""
    match = re.fullmatch(r"(\w+)((?:\[\d{1,5}\])*)", text)
    type_ = SlangType.parse(match[1]) if match else None
    if match is None or type_ is None:
        return None
    count = type_.count * math.prod(int(n) for n in re.findall(r"\d+", match[2]))
    return (type_.scalar.name, count) if count <= MOST_NUMBERS else None


def three(words: str, value: Any, low: int, most: int) -> tuple[int, int, int]:
    """Return three whole numbers from `low` to `most`; if `low` is not 0, their product is at most `most`. Raises InputError."""
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise InputError(f"{words} are three whole numbers.")
    x, y, z = (whole(n, words, low, most) for n in value)
    if low and math.prod((x, y, z)) > most:
        raise InputError(f"{words}: {math.prod((x, y, z)):,} are too many; up to {most:,} are allowed.")
    return x, y, z


def whole(value: Any, words: str, low: int, high: int) -> int:
    """Return a whole number from `low` to `high`. Raises InputError."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{words} is a whole number from {low:,} to {high:,}.") from None
    if not low <= number <= high:
        raise InputError(f"{words} is a whole number from {low:,} to {high:,}; {number:,} is not.")
    return number
