"""Export Gaussians as a .ply file, with the fields that viewers of 3D Gaussian splats read.

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

import numpy as np

DEPTH = 2.0**-5  # units from the nearest to the farthest: too little for perspective to move anything
FLAT = 1e-4  # units
SH_C0 = 0.5 / np.sqrt(np.pi)
_FAINT = 1e-6  # opacities stay this far from 0 and 1, where the logit is infinite

FIELDS = (
    *("x", "y", "z", "nx", "ny", "nz", "f_dc_0", "f_dc_1", "f_dc_2", "opacity"),
    *("scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"),
)
VERTEX = np.dtype([(name, "<f4") for name in FIELDS])


def to_ply(ellipses: np.ndarray, width: int, height: int) -> bytes:
    """Return the bytes of the file.

    Args:
        ellipses: (N, 10) float32, as in `Look.ellipses`.
        width: The picture's width in pixels.
        height: The picture's height in pixels.
    """
    count, side = len(ellipses), max(width, height)
    centre, axis, radii, opacity, colour = np.split(ellipses.astype(np.float64), [2, 4, 6, 7], axis=1)
    vertices: np.ndarray = np.zeros(count, VERTEX)
    vertices["x"], vertices["y"] = ((2 * centre + 1 - [width, height]) / side).T
    vertices["z"] = np.arange(count) * (DEPTH / 2 ** int(np.ceil(np.log2(max(count, 1)))))
    for channel in range(3):
        vertices[f"f_dc_{channel}"] = (colour[:, channel] - 0.5) / SH_C0
    clipped = np.clip(opacity[:, 0], _FAINT, 1 - _FAINT)
    vertices["opacity"] = np.log(clipped / (1 - clipped))
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
