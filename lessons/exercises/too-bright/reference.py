"""Layers blended from front to back."""

from collections.abc import Callable

import numpy as np

from splatscope.exercises.task import Case, Mistake

Weights = Callable[[np.ndarray, np.ndarray], np.ndarray]


def blended(layers: np.ndarray, count: int, weight: Weights, order: int = 1) -> dict[str, np.ndarray]:
    """Return the pictures of pixels with `count` layers each, (pixels, 4) float32.

    `weight` returns by what the colour of a layer is multiplied, from its alpha and the transmittance in front of it. If `order` is
    -1, the layers are taken from back to front.
    """
    stacks = layers.reshape(-1, count, 4)
    colour, through = np.zeros((len(stacks), 3), np.float32), np.ones((len(stacks), 1), np.float32)
    for i in range(count)[::order]:
        alpha = stacks[:, i, 3:]
        colour += weight(alpha, through) * stacks[:, i, :3]
        through *= 1 - alpha
    return {"picture": np.hstack([colour, 1 - through])}


def reference(layers: np.ndarray, depth: np.ndarray) -> dict[str, np.ndarray]:
    """Return the blended pixels."""
    return blended(layers, int(depth), lambda alpha, through: alpha * through)


def mistake(name: str, words: str, weight: Weights, order: int = 1) -> Mistake:
    """Return the mistake of weighing colours so, or of taking the layers in this order."""
    return Mistake(name, words, lambda layers, depth: blended(layers, int(depth), weight, order))


def case(name: str, pixels: int, count: int, hidden: bool = False) -> Case:
    """Return a case with pixels of so many layers: alphas of 0, 1/4, 1/2, 3/4 and 1, and colours in eighths."""
    random = np.random.default_rng(count)
    colours = random.integers(0, 9, (pixels * count, 3)) / 8
    alphas = random.integers(0, 5, (pixels * count, 1)) / 4
    layers = np.hstack([colours, alphas]).astype(np.float32)
    if count == 2:
        layers[:2] = (1, 0, 0, 0.5), (0, 1, 0, 0.5)
    inputs = {"layers": layers, "depth": np.uint32(count), "pixels": np.uint32(pixels)}
    return Case(name, inputs, groups=((pixels + 31) // 32, 1, 1), hidden=hidden, tolerance=1e-6)


CASES = (
    case("40 pixels of two layers", 40, 2),
    case("10 pixels of five layers", 10, 5, hidden=True),
    case("40 pixels of one layer", 40, 1, hidden=True),
)
MISTAKES = (
    mistake(
        "straight",
        "The colours are blended straight: each layer adds all of its colour, though it covers only a part.",
        lambda alpha, through: through,
    ),
    mistake("twice", "The colours are multiplied by their alpha twice.", lambda alpha, through: alpha * alpha * through),
    mistake(
        "own alpha",
        "Each layer is dimmed by what it lets through itself: only the layers in front of it may do that.",
        lambda alpha, through: alpha * through * (1 - alpha),
    ),
    mistake("all in front", "No layer is dimmed by those in front of it.", lambda alpha, through: alpha),
    mistake(
        "back to front", "The layers are blended as if the last one were in front.", lambda alpha, through: alpha * through, -1
    ),
)
