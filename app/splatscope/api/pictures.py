"""A picture of any kind as the bytes of a file, which a worker decodes."""

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from splatscope.api.arrays import as_input
from splatscope.api.splats import read_file
from splatscope.splat.files.images import MAX_BYTES, ImageError

CHANNELS = (1, 3, 4)


def as_file(image: Any) -> tuple[bytes, str]:
    """Return a picture as the bytes of a file, and its name; "" if it has none.

    Args:
        image: A path, a picture of PIL, or an array, as docs/api.md describes it.

    Raises:
        ValueError: The file cannot be read, or the array is not a picture.
        TypeError: It is something else.
    """
    if isinstance(image, str | os.PathLike):
        return read_file(Path(image), MAX_BYTES), Path(image).name
    name = ""
    if isinstance(image, Image.Image):
        name = Path(getattr(image, "filename", "") or "").name
        picture = ImageOps.exif_transpose(image)
        if picture.mode not in ("L", "LA", "P", "RGB", "RGBA"):
            picture = picture.convert("RGB")
    else:
        picture = Image.fromarray(_as_bytes(as_input("image", image)))
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=1)
    return file.getvalue(), name


def _as_bytes(value: Any) -> np.ndarray:
    """Return an array as (H, W), (H, W, 3) or (H, W, 4) uint8. Raises ValueError."""
    array = np.asarray(value)
    if array.ndim == 3 and array.shape[2] not in CHANNELS and array.shape[0] in CHANNELS:
        array = np.moveaxis(array, 0, -1)  # as torch has it
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in CHANNELS) or not array.size:
        raise ImageError(
            f"An array of shape {array.shape} is not a picture: give (H, W), (H, W, 3), (H, W, 4), or the channels first."
        )
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if np.issubdtype(array.dtype, np.floating):
        low, high = float(array.min()), float(array.max())
        if not -1e-3 <= low <= high <= 1 + 1e-3:
            raise ImageError(f"A picture in floats has values from 0 to 1, and this one from {low:g} to {high:g}.")
        array = np.rint(255 * np.clip(array, 0, 1)).astype(np.uint8)
    if array.dtype != np.uint8:
        raise ImageError(f"A picture is an array of uint8, or of floats from 0 to 1, and this one is of {array.dtype}.")
    return np.ascontiguousarray(array)
