"""Read a .ply file of Gaussians as another tool would read it."""

import numpy as np


def read_ply(data: bytes) -> tuple[list[str], np.ndarray]:
    """Return the lines of the header, and the vertices with the properties that it declares."""
    head, _, body = data.partition(b"end_header\n")
    lines = head.decode("ascii").splitlines()
    assert lines[:2] == ["ply", "format binary_little_endian 1.0"]
    names = [line.split()[2] for line in lines if line.startswith("property float ")]
    count = next(int(line.split()[2]) for line in lines if line.startswith("element vertex "))
    vertices = np.frombuffer(body, [(name, "<f4") for name in names])
    assert len(vertices) == count
    return lines, vertices
