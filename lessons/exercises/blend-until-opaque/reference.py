"""Layers blended front to back, until a pixel is opaque."""

from collections.abc import Callable

import numpy as np

from splatscope.exercises.task import Case, Limit, Mistake

OPAQUE = 0.125
Values = dict[str, np.ndarray]


def reference(layers: np.ndarray, pixels: np.ndarray, depth: np.ndarray) -> Values:
    """Return the pictures' colours and transmittances, and how many layers each pixel took."""
    return _blend(layers, pixels, depth)


def _blend(
    layers: np.ndarray,
    pixels: np.ndarray,
    depth: np.ndarray,
    premultiplied: bool = True,
    back_to_front: bool = False,
    lowered_first: bool = False,
    done: Callable[[np.float32, np.float32], tuple[bool | np.bool, bool]] = lambda before, after: (before < OPAQUE, False),
) -> Values:
    """Blend each pixel. `done` gets the transmittance before and after a layer: leave it out? Stop after it?"""
    picture = np.zeros((int(pixels), 4), np.float32)
    blended = np.zeros(int(pixels), np.uint32)
    for pixel in range(int(pixels)):
        mine = layers.reshape(int(depth), int(pixels), 4)[:, pixel]
        color, transmittance, count = np.zeros(3, np.float32), np.float32(1), 0
        for layer in mine[::-1] if back_to_front else mine:
            after = transmittance * (1 - layer[3])
            leave_out, stop = done(transmittance, after)
            if leave_out:
                break
            weight = layer[3] if premultiplied else np.float32(1)
            color += (after if lowered_first else transmittance) * weight * layer[:3]
            transmittance = after
            count += 1
            if stop:
                break
        picture[pixel] = *color, transmittance
        blended[pixel] = count
    return {"picture": picture, "blended": blended}


def _nothing(layers: np.ndarray, pixels: np.ndarray) -> Values:
    clear = np.tile(np.array([0, 0, 0, 1], np.float32), (int(pixels), 1))
    return {"picture": clear, "blended": np.zeros(int(pixels), np.uint32)}


def _layers(seed: int, pixels: int, depth: int) -> dict[str, np.ndarray | np.uint32]:
    """Return layers whose colours and alphas are quarters, so that all results are exact."""
    random = np.random.default_rng(seed)
    colors = random.integers(0, 5, (depth * pixels, 3)) / 4
    alphas = random.choice([0, 0.25, 0.5, 0.75], (depth * pixels, 1))
    layers = np.concatenate([colors, alphas], axis=1).astype(np.float32)
    return {"layers": layers, "pixels": np.uint32(pixels), "depth": np.uint32(depth)}


CASES = (
    Case("32 pixels, 7 layers each", _layers(1, 32, 7)),
    Case("40 pixels, 6 layers each", _layers(2, 40, 6), groups=(2, 1, 1), hidden=True),
)
MISTAKES = (
    Mistake("nothing", "No layer has been blended.", _nothing),
    Mistake(
        "straight",
        "The colours are not premultiplied: a faint layer adds as much light as a dense one.",
        lambda layers, pixels, depth: _blend(layers, pixels, depth, premultiplied=False),
    ),
    Mistake(
        "back to front",
        "The layers are taken from the farthest to the nearest.",
        lambda layers, pixels, depth: _blend(layers, pixels, depth, back_to_front=True),
    ),
    Mistake(
        "lowered first",
        "The transmittance is lowered before the layer's own colour is added: the layer hides itself.",
        lambda layers, pixels, depth: _blend(layers, pixels, depth, lowered_first=True),
    ),
    Mistake(
        "never done",
        "All layers are blended, also those that nobody can see.",
        lambda layers, pixels, depth: _blend(layers, pixels, depth, done=lambda before, after: (False, False)),
    ),
    Mistake(
        "one too few",
        "The layer that makes the pixel opaque is left out.",
        lambda layers, pixels, depth: _blend(layers, pixels, depth, done=lambda before, after: (after < OPAQUE, False)),
    ),
    Mistake(
        "at the threshold",
        "Pixels end at a transmittance of exactly OPAQUE: it is to be below that.",
        lambda layers, pixels, depth: _blend(layers, pixels, depth, done=lambda before, after: (before <= OPAQUE, False)),
    ),
)
LIMITS = (
    Limit("reads", most=147, name="layers", why="A layer that is not blended need not be read."),
    Limit("accesses", most=24, why="The work is for all threads: one alone leaves the others idle."),
)
