"""Create the textures and samplers for a kernel's parameters from its inputs; missing texels are zeros."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import slangpy as spy

from splatscope.gpu.slang_types import SlangType, short_name

_EDGES = {"1d": (1024,), "2d": (32, 32), "3d": (8, 8, 8), "cube": (32, 32)}  # in texels, outermost first
SHAPES = tuple(shape + array for shape in _EDGES for array in ("", "_array"))
_LAYERS = 2  # of an array of textures that is not given
_USAGE = (
    spy.TextureUsage.shader_resource
    | spy.TextureUsage.unordered_access
    | spy.TextureUsage.copy_source
    | spy.TextureUsage.copy_destination
)


def default_edges(shape: str) -> list[int]:
    """Return the size of a texture that is not given, as numbers in the order of `axes_of`."""
    return [*reversed(_EDGES[shape.removesuffix("_array")]), *[_LAYERS] * shape.endswith("_array")]


def default_size(shape: str) -> str:
    """Return the size of a texture that is not given, in words, such as “32 × 32”."""
    size = " × ".join(map(str, reversed(_EDGES[shape.removesuffix("_array")])))
    return f"{_LAYERS} layers of {size}" if shape.endswith("_array") else size


def axes_of(shape: str) -> list[str]:
    """Return what the numbers of a texture's size are, in their order: ["width", "height"], perhaps with "depth" or "layers"."""
    return ["width", "height", "depth"][: len(_EDGES[shape.removesuffix("_array")])] + ["layers"] * shape.endswith("_array")


def texel_of(layout) -> SlangType | None:
    """Return the type of a texel in a texture or texel buffer; None if it is not numeric."""
    return SlangType.parse(short_name(layout.type.resource_result_type.full_name))


def make_texture(device: spy.Device, name: str, layout: Any, inputs: Mapping[str, np.ndarray]) -> spy.Texture:
    """Create the texture for a parameter, with the texels that are given.

    An array with as many axes as the texture, plus one for the components if there are several, also gives the size: (height,
    width, 4) for a Texture2D<float4>. Arrays and cubes have their layers or six faces as the first axis. Texels of dtype uint8 for
    a texture of floats are a picture: 255 is read as 1, and three components get an alpha of 1. A flat array fills the first layer
    of a texture of the default size in row-major order, and the rest is zeros.

    Args:
        device: The device.
        name: The parameter's name.
        layout: The parameter's layout, from SlangPy's reflection.
        inputs: All inputs. Those for this texture are `name`, `name.mip1` and so on, each half the size of the one before, and
            `name.format`, the name of one of SlangPy's formats.

    Raises:
        ValueError: The texture's shape or texel type is not supported, or the array does not fit.
    """
    shape = layout.type.resource_shape.name.removeprefix("texture_")
    base = shape.removesuffix("_array")
    edges, texel, array = _EDGES.get(base), texel_of(layout), inputs.get(name)
    if edges is None or texel is None or not texel.texel_format:
        raise ValueError(f"{name} is a {layout.type.full_name}: such textures cannot be given.")
    layered = (base == "cube") + shape.endswith("_array")
    if array is None or array.ndim < len(edges) + layered or array.ndim == 1:
        return _default(device, name, shape, texel, edges, array)
    levels = [array]
    while (mip := inputs.get(f"{name}.mip{len(levels)}")) is not None:
        levels.append(mip)
    for i, level in enumerate(levels[1:], 1):
        halved = tuple(max(1, n >> i) for n in array.shape[layered > 0 :][: len(edges)])
        if level.shape[layered > 0 :][: len(edges)] != halved:
            raise ValueError(f"{name}.mip{i} takes {' × '.join(map(str, halved))} texels, the array has shape {level.shape}.")
    stored = [_texels(name, level, texel, len(edges) + bool(layered)) for level in levels]
    picture = array.dtype == np.uint8 and texel.scalar.is_floating
    lanes = stored[0].shape[-1]
    format_ = str(inputs[f"{name}.format"]) if f"{name}.format" in inputs else ""
    if format_ and not hasattr(spy.Format, format_):
        raise ValueError(f"{name}.format: there is no format {format_}; for example, rgba8_unorm_srgb is one.")
    format_ = format_ or (f"{'rgba'[:lanes]}8_unorm" if picture else texel.texel_format)
    size = stored[0].shape[layered > 0 : -1]
    layers = stored[0].shape[0] if layered else 1
    texture = device.create_texture(
        type=getattr(spy.TextureType, f"texture_{shape}"),
        format=getattr(spy.Format, format_),
        usage=_USAGE,
        mip_count=len(levels),
        array_length=layers // (6 if base == "cube" else 1),
        **dict(zip(("width", "height", "depth"), reversed(size), strict=False)),
    )
    for level, texels in enumerate(stored):
        for layer in range(layers):
            layer_texels = np.ascontiguousarray(texels[layer] if layered else texels)
            texture.copy_from_numpy(layer_texels[..., 0] if lanes == 1 else layer_texels, layer=layer, mip=level)
    return texture


def _texels(name: str, array: np.ndarray, texel: SlangType, axes: int) -> np.ndarray:
    """Return an array with an axis of 1, 2 or 4 components, in the dtype to store."""
    if array.ndim not in (axes, axes + 1) or 0 in array.shape:
        raise ValueError(f"{name} takes an array of {axes} or {axes + 1} axes, not one of shape {array.shape}.")
    texels = array if array.ndim == axes + 1 else array[..., None]
    picture = texels.dtype == np.uint8 and texel.scalar.is_floating
    count = texels.shape[-1]
    stored_count = 4 if texel.count == 3 else texel.count
    if count not in (texel.count, stored_count) and not (picture and count in (1, 3, 4)):
        raise ValueError(f"{name} holds {texel.count} numbers a texel, the array {count}.")
    if picture:
        stored_count = {1: 1, 2: 2, 3: 4, 4: 4}[count]
    padded = np.full((*texels.shape[:-1], stored_count), 255 if picture else 1 if count == 3 else 0, texels.dtype)
    padded[..., :count] = texels
    return padded if picture else padded.astype(texel.scalar.dtype)


def _default(
    device: spy.Device, name: str, shape: str, texel: SlangType, edges: tuple[int, ...], array: np.ndarray | None
) -> spy.Texture:
    """Create a texture of the default size: zeros, except for given texels in its first layer."""
    lanes = texel.count
    stored = 4 if lanes == 3 else lanes
    width, height, depth = (*reversed(edges), 1, 1)[:3]
    texture = device.create_texture(
        type=getattr(spy.TextureType, f"texture_{shape}"),
        format=getattr(spy.Format, texel.texel_format),
        width=width,
        height=height,
        depth=depth,
        usage=_USAGE,
        array_length=_LAYERS if shape.endswith("_array") else 1,
    )
    texels = np.zeros((*edges, stored), texel.scalar.dtype)
    for layer in range(texture.layer_count):
        texture.copy_from_numpy(texels if stored > 1 else texels[..., 0], layer=layer)
    if array is not None:
        flat = np.frombuffer(np.ascontiguousarray(array).tobytes(), texels.dtype)
        if len(flat) // lanes > texels.size // stored:
            axes = ", ".join(reversed(axes_of(shape)))
            raise ValueError(f"{name} is a texture: it takes an array of shape ({axes}, components), which gives its size.")
        whole_texels = flat[: len(flat) // lanes * lanes].reshape(-1, lanes)[: texels.size // stored]
        texels.reshape(-1, stored)[: len(whole_texels), :lanes] = whole_texels
        texture.copy_from_numpy(texels if stored > 1 else texels[..., 0])
    return texture


_FILTERS = ("point", "linear")
_ADDRESSES = {"wrap": "wrap", "mirror": "mirror_repeat", "clamp": "clamp_to_edge", "border": "clamp_to_border"}


def make_sampler(device: spy.Device, name: str, inputs: Mapping[str, np.ndarray], compares: bool = False) -> spy.Sampler:
    """Create a sampler: SlangPy's default, except for `name.filter` (point, linear), `name.address` (wrap, mirror, clamp, border).

    One that compares (SamplerComparisonState) asks whether the given number is less than or equal to the texel.

    Raises:
        ValueError: An option has an invalid value.
    """
    filter_, address = (str(inputs.get(f"{name}.{option}", "")) for option in ("filter", "address"))
    if (filter_ and filter_ not in _FILTERS) or (address and address not in _ADDRESSES):
        raise ValueError(f"{name}: filter is one of {', '.join(_FILTERS)}, address one of {', '.join(_ADDRESSES)}.")
    settings: dict[str, Any] = {}
    if compares:
        settings |= {"reduction_op": spy.TextureReductionOp.comparison, "comparison_func": spy.ComparisonFunc.less_equal}
    if filter_:
        mode = getattr(spy.TextureFilteringMode, filter_)
        settings |= {"min_filter": mode, "mag_filter": mode, "mip_filter": mode}
    if address:
        mode = getattr(spy.TextureAddressingMode, _ADDRESSES[address])
        settings |= {"address_u": mode, "address_v": mode, "address_w": mode}
    return device.create_sampler(**settings)
