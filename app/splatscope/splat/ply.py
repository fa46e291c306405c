"""Gaussians as a .ply file, with the fields that viewers of 3D Gaussian splats read.

Binary little endian, a vertex a Gaussian in order of its id, all float32. A unit is half of S, the picture's longer side in pixels:
x goes right, y down, z away from the viewer, and the picture's middle is at the origin. Pixel centres are at whole numbers.

| fields | what they hold | in terms of the run |
| --- | --- | --- |
| x, y | centre | (2 · pixel + 1 − W) / S, (2 · pixel + 1 − H) / S |
| z | order: nearer ids are nearer | id / 2ᵏ · DEPTH, with 2ᵏ ≥ N: exact, so that no two are equal |
| nx, ny, nz | 0; some readers want them | |
| f_dc_0 … f_dc_2 | red, green, blue | (colour − 0.5) / SH_C0, as for a spherical harmonic of degree 0 |
| opacity | logit | ln(o / (1 − o)) |
| scale_0, scale_1 | ln of the standard deviations along the ellipse's axes | ln(2 · σ / S) |
| scale_2 | the same along z | ln(FLAT) |
| rot_0 … rot_3 | quaternion w, x, y, z: a turn about z | (cos ½θ, 0, 0, sin ½θ) |

What does not travel: the white behind the picture (choose a white background), and that no layer's alpha exceeds 0.99, which
viewers do by themselves.
"""

import numpy as np

DEPTH = 2.0**-5  # units from the nearest to the farthest: little against the picture, so that perspective moves nothing
FLAT = 1e-4  # units
SH_C0 = 0.5 / np.sqrt(np.pi)
_FAINT = 1e-6  # opacities are kept this far from 0 and 1, where a logit has no end

FIELDS = (
    *("x", "y", "z", "nx", "ny", "nz", "f_dc_0", "f_dc_1", "f_dc_2", "opacity"),
    *("scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"),
)
VERTEX = np.dtype([(name, "<f4") for name in FIELDS])


def to_ply(ellipses: np.ndarray, width: int, height: int) -> bytes:
    """The file, of (N, 10) float32 as describe.slang lays them out (`Look.ellipses`) and the picture's size in pixels."""
    count, side = len(ellipses), max(width, height)
    centre, axis, radii, opacity, colour = np.split(ellipses.astype(np.float64), [2, 4, 6, 7], axis=1)
    vertices = np.zeros(count, VERTEX)
    vertices["x"], vertices["y"] = ((2 * centre + 1 - [width, height]) / side).T
    vertices["z"] = np.arange(count) * (DEPTH / 2 ** int(np.ceil(np.log2(max(count, 1)))))
    for channel in range(3):
        vertices[f"f_dc_{channel}"] = (colour[:, channel] - 0.5) / SH_C0
    shown = np.clip(opacity[:, 0], _FAINT, 1 - _FAINT)
    vertices["opacity"] = np.log(shown / (1 - shown))
    sigmas = radii / 2  # an ellipse is drawn at two standard deviations
    vertices["scale_0"], vertices["scale_1"] = np.log(np.maximum(2 * sigmas / side, np.finfo(np.float32).tiny)).T
    vertices["scale_2"] = np.log(FLAT)
    half_turn = np.arctan2(axis[:, 1], axis[:, 0]) / 2
    vertices["rot_0"], vertices["rot_3"] = np.cos(half_turn), np.sin(half_turn)
    return _header(count, width, height).encode("ascii") + vertices.tobytes()


def _header(count: int, width: int, height: int) -> str:
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
