"""Textures for a kernel that wants some: small ones, holding what was given, else zeros."""

import re

import numpy as np
import slangpy as spy

_EDGES = {"1d": (1024,), "2d": (32, 32), "3d": (8, 8, 8), "cube": (32, 32)}  # in texels, outermost first
_BITS = {"float": ("float", 32), "half": ("float", 16), "int": ("sint", 32), "uint": ("uint", 32), "bool": ("uint", 32)}
_DTYPES = {"float": np.float32, "half": np.float16, "int": np.int32, "uint": np.uint32, "bool": np.uint32}
_USAGE = (
    spy.TextureUsage.shader_resource
    | spy.TextureUsage.unordered_access
    | spy.TextureUsage.copy_source
    | spy.TextureUsage.copy_destination
)


def texel_of(layout) -> tuple[str, int]:
    """(scalar, lanes) of what a texture or a texel buffer holds."""
    match = re.match(r"vector<(\w+),(\d)>|(\w+?)([234]?)$", layout.type.resource_result_type.full_name)
    return (match.group(1) or match.group(3), int(match.group(2) or match.group(4) or 1)) if match else ("", 1)


def make_texture(device: spy.Device, name: str, layout, given: np.ndarray | None) -> spy.Texture:
    """A texture of the shape and the texels that a parameter declares; `given` are its texels, row by row, in its first layer.

    Raises:
        ValueError: there are none of its kind here.
    """
    shape = re.sub("^texture_", "", layout.type.resource_shape.name)
    edges = _EDGES.get(shape.removesuffix("_array"))
    scalar, lanes = texel_of(layout)
    if edges is None or scalar not in _BITS:
        raise ValueError(f"{name} is a {layout.type.full_name}: such textures cannot be given.")
    kind, bits = _BITS[scalar]
    stored = 4 if lanes == 3 else lanes
    texture = device.create_texture(
        type=getattr(spy.TextureType, f"texture_{shape}"),
        format=getattr(spy.Format, f"{'rgba'[:stored]}{bits}_{kind}"),
        usage=_USAGE,
        array_length=2 if shape.endswith("_array") else 1,
        **dict(zip(("width", "height", "depth"), reversed(edges), strict=False)),
    )
    texels = np.zeros((*edges, stored), _DTYPES[scalar])
    for layer in range(texture.layer_count):
        texture.copy_from_numpy(texels if stored > 1 else texels[..., 0], layer=layer)
    if given is not None:
        flat = np.ascontiguousarray(given).view(texels.dtype).reshape(-1)
        whole = flat[: len(flat) // lanes * lanes].reshape(-1, lanes)[: texels.size // stored]
        texels.reshape(-1, stored)[: len(whole), :lanes] = whole
        texture.copy_from_numpy(texels if stored > 1 else texels[..., 0])
    return texture
