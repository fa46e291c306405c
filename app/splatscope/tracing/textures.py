"""Textures for a kernel's parameters: small ones, which hold what was given, else zeros."""

import re

import numpy as np
import slangpy as spy

from splatscope.gpu.slang_types import SlangType, short_name

_EDGES = {"1d": (1024,), "2d": (32, 32), "3d": (8, 8, 8), "cube": (32, 32)}  # in texels, outermost first
_USAGE = (
    spy.TextureUsage.shader_resource
    | spy.TextureUsage.unordered_access
    | spy.TextureUsage.copy_source
    | spy.TextureUsage.copy_destination
)


def texel_of(layout) -> SlangType | None:
    """Return the type of what a texture or a texel buffer holds; None where it is not numeric."""
    return SlangType.parse(short_name(layout.type.resource_result_type.full_name))


def make_texture(device: spy.Device, name: str, layout, given: np.ndarray | None) -> spy.Texture:
    """Make a texture of the shape and the texels that a parameter declares.

    Args:
        device: where it is made.
        name: the parameter's.
        layout: the parameter's, from SlangPy's reflection.
        given: the texels of its first layer, row by row; None for zeros, which is what follows where they are too few.

    Raises:
        ValueError: the shape or the type of its texels is not supported.
    """
    shape = re.sub("^texture_", "", layout.type.resource_shape.name)
    edges = _EDGES.get(shape.removesuffix("_array"))
    texel = texel_of(layout)
    if edges is None or texel is None or not texel.texel_format:
        raise ValueError(f"{name} is a {layout.type.full_name}: such textures cannot be given.")
    lanes = texel.count
    stored = 4 if lanes == 3 else lanes
    texture = device.create_texture(
        type=getattr(spy.TextureType, f"texture_{shape}"),
        format=getattr(spy.Format, texel.texel_format),
        usage=_USAGE,
        array_length=2 if shape.endswith("_array") else 1,
        **dict(zip(("width", "height", "depth"), reversed(edges), strict=False)),
    )
    texels = np.zeros((*edges, stored), texel.scalar.dtype)
    for layer in range(texture.layer_count):
        texture.copy_from_numpy(texels if stored > 1 else texels[..., 0], layer=layer)
    if given is not None:
        flat = np.ascontiguousarray(given).view(texels.dtype).reshape(-1)
        whole = flat[: len(flat) // lanes * lanes].reshape(-1, lanes)[: texels.size // stored]
        texels.reshape(-1, stored)[: len(whole), :lanes] = whole
        texture.copy_from_numpy(texels if stored > 1 else texels[..., 0])
    return texture
