"""Draw assets/shapes.png from formulas: smooth coloured discs and a bar over a gradient."""

import numpy as np
from PIL import Image

from splatscope.paths import ASSETS

WIDTH, HEIGHT = 256, 192

# Centre, radius and softness in pixels, colour in [0, 1].
DISCS = [
    ((70, 66), 44, 3.0, (0.95, 0.55, 0.15)),
    ((186, 58), 30, 12.0, (0.20, 0.45, 0.95)),
    ((128, 128), 38, 1.0, (0.10, 0.65, 0.45)),
    ((208, 140), 22, 6.0, (0.90, 0.20, 0.40)),
    ((44, 148), 18, 1.0, (0.98, 0.90, 0.55)),
]


def draw() -> Image.Image:
    """Return the discs composed over the gradient, in the order of the list."""
    y, x = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    picture = np.stack([0.08 + 0.25 * y / HEIGHT, 0.10 + 0.15 * x / WIDTH, 0.22 + 0.35 * (1 - y / HEIGHT)], axis=-1)
    for (cx, cy), radius, softness, colour in DISCS:
        coverage = 1 / (1 + np.exp((np.hypot(x - cx, y - cy) - radius) / softness))
        picture += coverage[..., None] * (np.array(colour) - picture)
    bar = 1 / (1 + np.exp((np.abs(x + 2 * y - 330) / np.sqrt(5) - 5) / 0.8))
    picture += bar[..., None] * (np.array((0.96, 0.96, 0.94)) - picture)
    return Image.fromarray((picture * 255 + 0.5).astype(np.uint8))


if __name__ == "__main__":
    draw().save(ASSETS / "shapes.png", optimize=True)
