"""Read a kernel's inputs from a file."""

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np


def read_inputs(file: Path) -> dict[str, Any]:
    """Return inputs by name, as `splatscope.record` takes them.

    A .npz file has one array per name (`CB.n`, `points`). A .json or .toml file has numbers, lists, and objects for blocks and
    structs. In it, `{"file": "picture.png"}` or `{"file": "points.npy"}` stands for the contents of that file, which is looked up
    relative to this one.

    Raises:
        ValueError: The file, or a file that it names, cannot be read.
    """
    try:
        if file.suffix == ".npz":
            with np.load(file, allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}
        text = file.read_text(encoding="utf-8")
        found = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror}.") from None
    except ValueError as error:  # from the JSON, TOML or NumPy reader
        raise ValueError(f"{file} cannot be read as {file.suffix or 'JSON'}: {str(error).splitlines()[0]}.") from None
    if not isinstance(found, dict):
        raise ValueError(f"{file} must hold an object: the inputs by name.")
    return {name: loaded(value, file.parent) for name, value in found.items()}


def loaded(value: Any, folder: Path) -> Any:
    """Return a value with each `{"file": NAME}` in it replaced by the contents of that file in `folder`.

    Raises:
        ValueError: A file cannot be read.
    """
    if isinstance(value, list):
        return [loaded(part, folder) for part in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"file"}:
        return _array(folder / str(value["file"]))
    return {name: loaded(part, folder) for name, part in value.items()}


def _array(file: Path) -> np.ndarray:
    """Return the array in a file, or a picture as (height, width, 4) uint8."""
    from PIL import Image

    try:
        if file.suffix == ".npy":
            return np.load(file, allow_pickle=False)
        with Image.open(file) as picture:
            return np.asarray(picture.convert("RGBA"))
    except Image.DecompressionBombError:
        raise ValueError(f"{file} has far too many pixels for a picture: give an array in a .npy file.") from None
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror or 'it is not a picture'}.") from None
    except ValueError:
        raise ValueError(f"{file} cannot be read as a NumPy array.") from None
