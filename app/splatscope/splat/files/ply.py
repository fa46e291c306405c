"""Gaussians as a .ply file, with the fields that viewers of 3D Gaussian splats read.

The file is binary little endian and has one vertex per Gaussian, in order of id, all float32. One unit is half of S, the picture's
longer side in pixels. x points right, y down, z away from the viewer; the origin is the centre of the picture. Pixel centres lie
at integers.

| fields | contents | value |
| --- | --- | --- |
| x, y | centre | (2 · pixel + 1 − W) / S, (2 · pixel + 1 − H) / S |
| z | depth order: lower ids are nearer | id / 2ᵏ · DEPTH with 2ᵏ ≥ N, which is exact, so no two are equal |
| nx, ny, nz | unused, but some readers require them | 0 |
| f_dc_0 … f_dc_2 | red, green, blue | (colour − 0.5) / SH_C0, a spherical harmonic of degree 0 |
| opacity | logit | ln(o / (1 − o)) |
| scale_0, scale_1 | ln of the standard deviations along the ellipse's axes | ln(2 · σ / S) |
| scale_2 | the same along z | ln(FLAT) |
| rot_0 … rot_3 | quaternion w, x, y, z: a rotation about z | (cos ½θ, 0, 0, sin ½θ) |

The file does not contain the white background, which has to be set in the viewer, nor the limit of 0.99 on each layer's alpha,
which viewers apply themselves.
"""

import re

import numpy as np

from splatscope.splat.parameters import ANGLE, COLOUR, OPACITY, POSITION
from splatscope.splat.scenes import gaussians, sizes_of

DEPTH = 2.0**-5  # units from the nearest to the farthest: too little for perspective to move anything
FLAT = 1e-4  # units
SH_C0 = 0.5 / np.sqrt(np.pi)

FIELDS = (
    *("x", "y", "z", "nx", "ny", "nz", "f_dc_0", "f_dc_1", "f_dc_2", "opacity"),
    *("scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"),
)
VERTEX = np.dtype([(name, "<f4") for name in FIELDS])
_HEADER_BYTES = 2**16
_KINDS = {"float": "<f4", "float32": "<f4", "double": "<f8", "uchar": "u1", "uint8": "u1", "int": "<i4", "uint": "<u4"}
_TILT = 1e-3  # of a quaternion: more turns the Gaussian out of the picture's plane
_SIZE = re.compile(r"picture (\d{1,6}) x (\d{1,6}) pixels")


class PlyError(ValueError):
    """The file cannot be used; the message says why in one line."""


def to_ply(raw: np.ndarray, size: tuple[int, int]) -> bytes:
    """Return the bytes of the file.

    Args:
        raw: Raw values of the direct model, (9, N) float32.
        size: Width and height of the picture in pixels.
    """
    count, side = raw.shape[1], max(size)
    values = raw.astype(np.float64)
    vertices: np.ndarray = np.zeros(count, VERTEX)
    vertices["x"], vertices["y"] = to_units(values[POSITION], size)
    vertices["z"] = depths(count)
    for channel, colour in enumerate(values[COLOUR]):
        vertices[f"f_dc_{channel}"] = (colour - 0.5) / SH_C0
    vertices["opacity"] = values[OPACITY]
    vertices["scale_0"], vertices["scale_1"] = np.log(2 * sizes_of(raw) / side)
    vertices["scale_2"] = np.log(FLAT)
    vertices["rot_0"], vertices["rot_3"] = np.cos(values[ANGLE] / 2), np.sin(values[ANGLE] / 2)
    return _header(count, size).encode("ascii") + vertices.tobytes()


def from_ply(data: bytes, size: tuple[int, int] | None = None) -> tuple[np.ndarray, tuple[int, int]]:
    """Return the raw values of the direct model, (9, N) float32, nearest first, and the size of the picture.

    Args:
        data: The file.
        size: Width and height of the picture in pixels, for a file of another program, which does not have them.

    Raises:
        PlyError: The file is of another kind, incomplete, or not flat, or the size is not known.
    """
    head, mark, body = data[:_HEADER_BYTES].partition(b"end_header\n")
    lines = head.decode("latin-1").splitlines()
    if not mark or lines[:2] != ["ply", "format binary_little_endian 1.0"]:
        raise PlyError("This is not a .ply file in binary little endian.")
    body = data[len(head) + len(mark) :]
    try:
        dtype, count = _vertices(lines)
        vertices = np.frombuffer(body, dtype, count)
        values = {name: vertices[name].astype(np.float64) for name in FIELDS if not name.startswith("n")}
    except (ValueError, KeyError, OverflowError):
        raise PlyError("This .ply file is cut short, or its vertices are not Gaussians.") from None
    if not all(np.isfinite(column).all() for column in values.values()):
        raise PlyError("This .ply file has numbers that are not finite.")
    size = next(((int(match[1]), int(match[2])) for line in lines if (match := _SIZE.search(line))), size)
    if size is None or not min(size):
        raise PlyError("This .ply file does not say how large its picture is in pixels: give its size.")
    tilt = np.hypot(values["rot_1"], values["rot_2"])
    if (tilt > _TILT * np.hypot(values["rot_0"], values["rot_3"])).any():
        raise PlyError("This .ply file has Gaussians in space, which are no picture.")
    raw = gaussians(
        to_pixels(np.stack([values["x"], values["y"]]), size).T,
        np.exp(np.stack([values["scale_0"], values["scale_1"]], -1)) * max(size) / 2,
        2 * np.arctan2(values["rot_3"], values["rot_0"]),
        0.5 + SH_C0 * np.stack([values[f"f_dc_{channel}"] for channel in range(3)], -1),
        1 / (1 + np.exp(-values["opacity"])),
    )
    return raw[:, np.argsort(values["z"], kind="stable")], size


def to_units(pixels: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Return places in units of the file, (2, N), from their pixels."""
    return (2 * pixels + 1 - np.array(size)[:, None]) / max(size)


def to_pixels(units: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Return the inverse of `to_units`."""
    return (units * max(size) - 1 + np.array(size)[:, None]) / 2


def depths(count: int) -> np.ndarray:
    """Return the z of each Gaussian in units, (count,), by id."""
    return np.arange(count) * (DEPTH / 2 ** int(np.ceil(np.log2(max(count, 1)))))


def _vertices(lines: list[str]) -> tuple[np.dtype, int]:
    """Return the dtype and the number of the vertices, the first element of a file. Raises ValueError, KeyError."""
    words = [line.split() for line in lines if line.startswith(("element ", "property "))]
    if not words or words[0][:2] != ["element", "vertex"] or len(words[0]) != 3 or int(words[0][2]) < 1:
        raise ValueError("no vertices")
    properties = words[1 : next((place for place, line in enumerate(words[1:], 1) if line[0] == "element"), None)]
    return np.dtype([(name, _KINDS[kind]) for _, kind, name in properties]), int(words[0][2])


def _header(count: int, size: tuple[int, int]) -> str:
    width, height = size
    lines = [
        "ply",
        "format binary_little_endian 1.0",
        f"comment Splatscope: 2D Gaussians over white, picture {width} x {height} pixels, one unit is half its longer side",
        "comment z is their order, near to far; y goes down",
        f"element vertex {count}",
        *(f"property float {name}" for name in FIELDS),
        "end_header",
    ]
    return "\n".join(lines) + "\n"
