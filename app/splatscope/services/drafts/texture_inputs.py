"""Fill textures and set samplers as the page's widgets specify."""

import base64
import math
from types import MappingProxyType
from typing import Any

import numpy as np

from splatscope.gpu.reflection import Texture
from splatscope.gpu.slang_types import SCALARS
from splatscope.recordings.archive import ArchiveError
from splatscope.services.drafts.array_files import MOST_EDGE, ArrayFiles
from splatscope.services.drafts.inputs import Budget, InputError, whole
from splatscope.splat.files.images import encode

TEXTURE_FILLS = ("zeros", "gradient", "random", "picture", "file")
FILTERS = ("linear", "point")
ADDRESSES = ("wrap", "mirror", "clamp", "border")
EDGE = 64  # texels along an edge of a texture without a specification
MOST_BYTES = 16 << 20
_PREVIEW = 96  # pixels
_AXES = {"1d": 1, "2d": 2, "3d": 3, "cube": 2}


def texture_inputs(
    name: str, texture: Texture, spec: dict[str, Any], files: ArrayFiles = MappingProxyType({}), budget: Budget | None = None
) -> dict[str, np.ndarray]:
    """Return a texture's texels, and its mips and format if requested, by the names they have in a job.

    Args:
        name: The texture's name.
        texture: The texture's description.
        spec: `fill` (one of TEXTURE_FILLS), `size` in x, y and z, or `array`, a key of `files`; `seed`, `mips` and `srgb`.
        files: The pictures and array files.
        budget: The memory that is left for inputs.

    Raises:
        InputError: The specification does not fit the texture.
    """
    texels = _texels(name, texture, spec, files, budget or Budget())
    inputs = {name: texels}
    is_picture = texels.dtype == np.uint8 and not texture.writable
    if spec.get("srgb") is True and is_picture and texture.components >= 3:
        inputs[f"{name}.format"] = np.array("rgba8_unorm_srgb")
    if spec.get("mips") is True and texture.shape == "2d" and not texture.writable:
        level = texels
        while max(level.shape[:2]) > 1:
            level = _halved(level)
            inputs[f"{name}.mip{len(inputs) - (f'{name}.format' in inputs)}"] = level
    return inputs


def sampler_inputs(name: str, spec: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return a sampler's options that differ from its defaults, by the names they have in a job."""
    options = (("filter", FILTERS), ("address", ADDRESSES))
    return {f"{name}.{key}": np.array(spec[key]) for key, choices in options if spec.get(key) in choices}


def preview(texture: Texture, texels: np.ndarray) -> str:
    """Return a small picture of a two-dimensional texture as the address of a PNG; "" for other shapes."""
    if texture.shape != "2d" or texels.ndim != 3:
        return ""
    step = max(1, -(-max(texels.shape[:2]) // _PREVIEW))
    small = texels[::step, ::step].astype(np.float64)
    if not SCALARS[texture.scalar].is_floating and texels.dtype != np.uint8:
        small = small / max(1, small.max())
    elif texels.dtype == np.uint8:
        small = small / 255
    colours = np.repeat(small[..., :1], 3, -1) if small.shape[-1] == 1 else np.zeros((*small.shape[:2], 3))
    if small.shape[-1] > 1:
        colours[..., : min(3, small.shape[-1])] = small[..., :3]
    pixels = (np.clip(np.nan_to_num(colours), 0, 1) * 255).astype(np.uint8)
    return "data:image/png;base64," + base64.b64encode(encode(np.ascontiguousarray(pixels), "PNG")).decode()


def _texels(name: str, texture: Texture, spec: dict[str, Any], files: ArrayFiles, budget: Budget) -> np.ndarray:
    fill = spec.get("fill", "zeros")
    if fill in ("picture", "file"):
        return _from_file(name, texture, spec, files, budget)
    edges, layers = _sizes(name, texture, spec)
    dtype = SCALARS[texture.scalar].dtype
    budget.take(name, _with_mips(math.prod((*layers, *edges, texture.components)) * dtype.itemsize, spec))
    shape = (*layers, *edges, texture.components)
    if fill == "random":
        rng = np.random.default_rng(whole(spec.get("seed", 1), f"The seed of {name}", 0, 2**32))
        return rng.random(shape).astype(dtype) if dtype.kind == "f" else rng.integers(0, 256, shape).astype(dtype)
    texels = np.zeros(shape, dtype)
    if fill == "gradient":
        for axis, edge in enumerate(reversed(edges)):
            if axis < texture.components:
                ramp = np.arange(edge) if dtype.kind != "f" else (np.arange(edge) + 0.5) / edge
                texels[..., axis] = ramp.reshape([-1] + [1] * axis)
        if texture.components == 4:
            texels[..., 3] = 1
    return texels


def _sizes(name: str, texture: Texture, spec: dict[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return (edges, layers), each outermost first."""
    base, is_array = texture.shape.removesuffix("_array"), texture.shape.endswith("_array")
    axes = _AXES[base]
    value = spec.get("size")
    size = value if isinstance(value, list) else []
    numbers = [whole(n, f"The size of {name}", 1, MOST_EDGE) for n in [*size[:3], *[EDGE, EDGE, 4][len(size) :]]]
    edges = tuple(reversed(numbers[:axes])) if base != "cube" else (numbers[0], numbers[0])
    layers = (6,) if base == "cube" else (numbers[2],) if is_array else ()
    if np.prod([*edges, *layers, texture.components], dtype=np.int64) * SCALARS[texture.scalar].dtype.itemsize > MOST_BYTES:
        raise InputError(f"{name} would have more than {MOST_BYTES:,} bytes: make it smaller.")
    return edges, layers


def _with_mips(size: int, spec: dict[str, Any]) -> int:
    """Return the bytes of a texture of `size` bytes with the mips that are requested for it."""
    return size * 4 // 3 if spec.get("mips") is True else size


def _from_file(name: str, texture: Texture, spec: dict[str, Any], files: ArrayFiles, budget: Budget) -> np.ndarray:
    file = str(spec.get("file") or "")[:80]
    stored = files.get(str(spec.get("array", "")))
    if stored is None:
        kind = "a picture" if spec.get("fill") == "picture" else "an array file"
        raise InputError(f"{name}: choose {f'{file} again' if spec.get('array') else kind}.")
    try:
        array = stored.array(name)
    except ArchiveError as error:
        raise InputError(str(error)) from None
    if array.nbytes > MOST_BYTES or max(array.shape, default=0) > MOST_EDGE * MOST_EDGE:
        raise InputError(f"{file} has {array.nbytes:,} bytes; a texture may have {MOST_BYTES:,}.")
    axes = _AXES[texture.shape.removesuffix("_array")] + (texture.shape.endswith("_array") or texture.shape.startswith("cube"))
    if array.ndim not in (axes, axes + 1) or 0 in array.shape:
        raise InputError(f"{file} has {array.ndim} axes; {name} takes {axes}, and one more for the components of a texel.")
    if array.ndim == axes:
        array = array[..., None]
    size = array.size // array.shape[-1] * texture.components * SCALARS[texture.scalar].dtype.itemsize
    budget.take(name, _with_mips(size, spec))
    return _picture(texture, array) if array.dtype == np.uint8 else _fitting(name, file, texture, array)


def _picture(texture: Texture, pixels: np.ndarray) -> np.ndarray:
    """Return a picture's pixels, as bytes if the texture can hold these, else as numbers of the texture's type."""
    count, dtype = pixels.shape[-1], SCALARS[texture.scalar].dtype
    if texture.components == 1 and count >= 3:
        pixels = (pixels[..., :3] @ np.array([0.299, 0.587, 0.114]) + 0.5).astype(np.uint8)[..., None]
    elif count < texture.components:
        full = np.full((*pixels.shape[:-1], texture.components), 255, np.uint8)
        full[..., :count] = pixels
        pixels = full
    if dtype.kind == "f" and not texture.writable and texture.components in (1, 3, 4):
        return pixels
    numbers = pixels[..., : texture.components]
    return (numbers / 255).astype(dtype) if dtype.kind == "f" else numbers.astype(dtype)


def _fitting(name: str, file: str, texture: Texture, array: np.ndarray) -> np.ndarray:
    if array.shape[-1] != texture.components:
        raise InputError(f"{file} has {array.shape[-1]} components per texel; {name} takes {texture.components}.")
    return array.astype(SCALARS[texture.scalar].dtype)


def _halved(level: np.ndarray) -> np.ndarray:
    """Return the next mip: each texel is the mean of four, or of fewer along an edge of odd length."""
    height, width = (max(1, n // 2) for n in level.shape[:2])
    rows = level[: 2 * height].reshape(height, -1, *level.shape[1:]).mean(1)
    return rows[:, : 2 * width].reshape(height, width, -1, level.shape[2]).mean(2).astype(level.dtype)
