"""Parse the option `--buffer`."""

import re
from pathlib import Path

import numpy as np

from splatscope.cli.errors import CallError
from splatscope.gpu.slang_types import scalar_named

_SPEC = re.compile(
    r"(?P<name>[A-Za-z_][\w.\[\]]*)=((?P<type>\w+?)(?P<lanes>[234])?(\[(?P<count>\d+)\])?(=(?P<values>[^@]*))?)?(@(?P<file>.+))?$"
)
FORMS = "NAME=TYPE[COUNT], NAME=TYPE[COUNT]=v,v,… or NAME=@FILE.npy"
MOST_BYTES = 2**30


def parse_buffer(text: str) -> tuple[str, np.ndarray]:
    """Return a buffer's name and its values, (values,) of the type's dtype, from an option in one of FORMS.

    A file's array keeps its shape if there is no COUNT, since a texture takes its size from it.

    If there are fewer values than COUNT, zeros follow; without COUNT there are as many elements as values. TYPE may be a vector
    (`float3[8]`). 64-bit numbers in a file, NumPy's default, become 32-bit numbers unless TYPE says otherwise
    (`NAME=double@FILE.npy`).

    Raises:
        CallError: The option has none of these forms, or a value does not fit its type.
    """
    match = _SPEC.match(text)
    scalar = scalar_named(match["type"]) if match and match["type"] else None
    if match is None or not (match["type"] or match["file"]):
        raise CallError(f"--buffer takes {FORMS}: “{text}” has none of these forms.")
    name = match["name"]
    if match["type"] and scalar is None:
        raise CallError(f"--buffer {name}: {match['type']} is no type of numbers. --set {name}.count=N gives N structs of zeros.")
    dtype = scalar.dtype if scalar else None
    try:
        if match["file"]:
            array = _from_file(Path(match["file"]), dtype)
        else:
            array = np.array([_number(v.strip(), dtype) for v in (match["values"] or "").split(",") if v.strip()], dtype)
    except (ValueError, OverflowError) as error:
        raise CallError(f"--buffer {name}: {error}.") from None
    if match["file"] and not match["count"]:
        return name, array
    array, value_count = array.reshape(-1), array.size
    count = int(match["count"]) * int(match["lanes"] or 1) if match["count"] else value_count or int(match["lanes"] or 1)
    if count < value_count or count * array.itemsize > MOST_BYTES:
        raise CallError(
            f"--buffer {name}: {value_count:,} values do not fit into {count:,} elements of at most {MOST_BYTES:,} bytes together."
        )
    return name, np.r_[array, np.zeros(count - value_count, array.dtype)]


def _from_file(file: Path, dtype: np.dtype | None) -> np.ndarray:
    try:
        array = np.load(file, allow_pickle=False)
    except FileNotFoundError:
        raise ValueError(f"there is no file {file}") from None
    except (OSError, ValueError, EOFError, AttributeError):
        raise ValueError(f"{file} cannot be read as a NumPy array") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{file} does not contain numbers")
    if dtype is None:
        if array.dtype.kind == "b" or array.dtype.itemsize < 8:
            return array.astype(np.uint32) if array.dtype.kind == "b" else array
        dtype = np.dtype(f"{array.dtype.kind}4")
    narrow = array.astype(dtype)
    if np.issubdtype(dtype, np.integer) and not np.array_equal(narrow, array):
        raise ValueError(f"{file} contains numbers that do not fit {np.dtype(dtype)}")
    return narrow


def _number(text: str, dtype: np.dtype | None) -> float | int:
    if text.lower() in ("true", "false"):
        return int(text.lower() == "true")
    try:
        return float(text) if np.issubdtype(dtype, np.floating) else int(text, 0)
    except ValueError:
        raise ValueError(f"“{text}” is not a number of this type") from None
