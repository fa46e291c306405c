"""Layers blended until a pixel is opaque."""

import numpy as np

from splatscope.exercises.task import Case, Mistake

OPAQUE = 1 / 16


def blend(layers: np.ndarray, count: int, stops: str) -> dict[str, np.ndarray]:
    """Return the brightness and the number of blended layers of pixels with `count` layers each.

    Args:
        layers: Brightness and alpha of each layer, (pixels · count, 2) float32.
        count: How many layers a pixel has.
        stops: "before" a layer that finds too little light, as is right; "at" one that also if it finds the limit; "behind", before
            a layer that would leave too little; "late", after the layer that "before" would not take; or "never".
    """
    stacks = layers.reshape(-1, count, 2)
    light, blended = np.zeros(len(stacks), np.float32), np.zeros(len(stacks), np.uint32)
    for pixel, stack in enumerate(stacks):
        through = 1.0
        for brightness, alpha in stack.astype(float):
            left = through * (1 - alpha)
            if (
                (stops == "before" and through < OPAQUE)
                or (stops == "at" and through <= OPAQUE)
                or (stops == "behind" and left < OPAQUE)
            ):
                break
            light[pixel] += through * alpha * brightness
            blended[pixel] += 1
            if stops == "late" and through < OPAQUE:
                break
            through = left
    return {"light": light, "blended": blended}


def reference(layers: np.ndarray, depth: np.ndarray) -> dict[str, np.ndarray]:
    """Return what the rule of the task gives."""
    return blend(layers, int(depth), "before")


def mistake(name: str, words: str, stops: str) -> Mistake:
    """Return the mistake of stopping there."""
    return Mistake(name, words, lambda layers, depth: blend(layers, int(depth), stops))


def case(name: str, pixels: int, count: int, hidden: bool = False) -> Case:
    """Return a case with pixels of so many layers: alphas of 1/2, 3/4, and some 1, and a brightness in eighths.

    The layers of the first and the last pixel all have an alpha of 1/2; the first layer of the second pixel has an alpha of 1.
    """
    random = np.random.default_rng(count)
    brightness = random.integers(1, 9, (pixels, count)) / 8
    alphas = random.choice([0.5, 0.75, 1], (pixels, count), p=[0.7, 0.2, 0.1])
    alphas[[0, -1]] = 0.5
    alphas[1, 0] = 1
    layers = np.stack([brightness, alphas], -1).reshape(-1, 2).astype(np.float32)
    inputs = {"layers": layers, "depth": np.uint32(count), "pixels": np.uint32(pixels)}
    return Case(name, inputs, groups=((pixels + 31) // 32, 1, 1), hidden=hidden, tolerance=1e-6)


CASES = (
    case("20 pixels of eight layers", 20, 8),
    case("three layers, too few for most pixels to become opaque", 40, 3, hidden=True),
    case("40 pixels of twelve layers", 40, 12, hidden=True),
)
MISTAKES = (
    mistake("too early", "The loop stops one layer too early: the layer that makes the pixel opaque is left out.", "behind"),
    mistake("too late", "The loop stops one layer too late: it also blends the layer that finds too little light.", "late"),
    mistake("at the limit", "A transmittance of exactly 1/16 is still enough to blend one more layer.", "at"),
    mistake("never", "The loop never stops: all layers are blended and counted.", "never"),
)
