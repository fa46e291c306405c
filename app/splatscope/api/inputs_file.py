"""Read a kernel's inputs from a file."""

import json
import tomllib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np


def read_inputs(file: Path, read: Callable[[Path], bytes] = Path.read_bytes) -> dict[str, Any]:
    """Return inputs by name, as `splatscope.record` takes them.

    A .npz file has one array per name (`CB.n`, `points`). A .json or .toml file has numbers, lists, and objects for blocks and
    structs. In it, `{"file": "picture.png"}` or `{"file": "points.npy"}` stands for the contents of that file, which is looked up
    relative to this one.

    Args:
        file: The file.
        read: Returns the contents of a file, or raises OSError.

    Raises:
        ValueError: The file, or a file that it names, cannot be read.
    """
    try:
        data = read(file)
        if file.suffix == ".npz":
            with np.load(BytesIO(data), allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}
        text = data.decode("utf-8")
        inputs = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror}.") from None
    except RecursionError:
        raise ValueError(f"{file} cannot be read: its lists or objects are nested too deeply.") from None
    except ValueError as error:  # from the JSON, TOML or NumPy reader
        raise ValueError(f"{file} cannot be read as {file.suffix or 'JSON'}: {str(error).splitlines()[0]}.") from None
    if not isinstance(inputs, dict):
        raise ValueError(f"{file} must hold an object: the inputs by name.")
    return {name: loaded(value, file.parent, read) for name, value in inputs.items()}


def loaded(value: Any, folder: Path, read: Callable[[Path], bytes] = Path.read_bytes) -> Any:
    """Return a value with each `{"file": NAME}` in it replaced by the contents of that file in `folder`.

    Raises:
        ValueError: A file cannot be read.
    """
    if isinstance(value, list):
        return [loaded(part, folder, read) for part in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"file"}:
        return _array(folder / str(value["file"]), read)
    return {name: loaded(part, folder, read) for name, part in value.items()}


def _array(file: Path, read: Callable[[Path], bytes]) -> np.ndarray:
    """Return the array in a file, or a picture as (height, width, 4) uint8."""
    from PIL import Image

    try:
        data = BytesIO(read(file))
        if file.suffix == ".npy":
            return np.load(data, allow_pickle=False)
        with Image.open(data) as picture:
            return np.asarray(picture.convert("RGBA"))
    except Image.DecompressionBombError:
        raise ValueError(f"{file} has far too many pixels for a picture: give an array in a .npy file.") from None
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror or 'it is not a picture'}.") from None
    except ValueError:
        raise ValueError(f"{file} cannot be read as a NumPy array.") from None
