"""Examples without a fault: the textbook's kernels, which import the modules that the trainer runs, and a few others."""

import numpy as np

from splatscope.web.examples.example import Example, Fill, ramp, random, shuffle, values, zeros


def _gaussians(count: int, width: float = 8, height: float = 4, seed: int = 5) -> str:
    """Return raw values of the direct model: centre and sizes in pixels, angle, colour, logit of the opacity."""
    rng = np.random.default_rng(seed)
    low = [0, 0, -0.3, -0.3, 0, 0.1, 0.1, 0.1, -1]
    high = [width, height, 0.7, 0.7, np.pi, 0.9, 0.9, 0.9, 2]
    raw = rng.uniform(np.array(low)[:, None], np.array(high)[:, None], (9, count))
    return " ".join(f"{number:.3g}" for number in raw.ravel())


def _scene(count: int, width: int = 8, height: int = 4, spread: float = 1) -> dict[str, Fill]:
    raw = values(_gaussians(count, width * spread, height * spread), 9 * count)
    return {
        "scene.size": values(f"{width} {height}"),
        "scene.blobCount": values(str(count)),
        "scene.maxWeight": values("0.99"),
        "blobsBuffer": raw,
        "derivBuffer": zeros(9 * count),
    }


def _bits(count: int) -> str:
    """Return gradients as the bits of floats, since their buffer holds atomic uints."""
    return " ".join(map(str, np.random.default_rng(2).normal(0, 1, count).astype(np.float32).view(np.uint32)))


_LIST = shuffle(21)
_LAYERS = random(32, 4)

TEXTBOOK = (
    Example(
        "premultiply", "Premultiplied colour", "preMult and one alphaBlend",
        {"straight": random(8), "premultiplied": zeros(8), "overBlack": zeros(8)},
    ),
    Example(
        "blend-and-undo", "Blend, then undo", "Eight layers on, and off again",
        {"layers": _LAYERS, "blended": zeros(4), "undone": zeros(4), "counts": zeros(4)},
    ),
    Example(
        "coarse-raster", "Coarse raster", "32 threads gather one tile's list",
        _scene(96, spread=6) | {"found": zeros(64), "listLength": zeros(1)},
    ),
    Example("pad-list", "Pad the list", "padBuffer: 21 ids become 32 places", {"list": _LIST, "padded": zeros(32)}),
    Example("sort-list", "Sort the list", "padBuffer and bitonicSort on 21 ids", {"list": _LIST, "sorted": zeros(21)}),
    Example(
        "fine-raster", "Fine raster", "32 pixels walk one sorted list",
        _scene(6) | {"sorted": ramp(6), "pixels": zeros(32)},
    ),
    Example(
        "one-tile", "One tile, start to end", "Gather, pad, sort, blend",
        _scene(12) | {"pixels": zeros(32)},
    ),
    Example(
        "tile-backward", "One tile, backward", "Gradients of 12 Gaussians; takes seconds to compile, once",
        _scene(12) | {"targetBuffer": random(32)},
    ),
    Example(
        "add-over-workgroup", "Reduction", "32 gradients become one in five rounds",
        _scene(1) | {"gradient": random(32)},
    ),
    Example(
        "atomic-accumulate", "Add by compare and swap", "32 threads add floats to one place",
        _scene(1) | {"gradient": random(32, 2)},
    ),
    Example(
        "adam-step", "A step of Adam", "36 raw values, their moments and rates",
        {
            "scene.blobCount": values("4"),
            "adam.rates": values("0.1 0.02 0.01 0.05"),
            "adam.beta1": values("0.9"),
            "adam.beta2": values("0.999"),
            "adam.epsilon": values("1e-8"),
            "adam.step": values("1"),
            "blobsBuffer": values(_gaussians(4), 36),
            "derivBuffer": values(_bits(36), 36),
            "firstMoment": zeros(36),
            "secondMoment": zeros(36),
        },
    ),
)  # fmt: skip

ALONE = (
    Example("bitonic-sort", "Bitonic sort of 64 keys", "32 threads, 21 rounds", {"data": shuffle(64)}),
    Example("tree-reduction", "Tree reduction", "64 numbers become one in six steps", {"values": random(64), "total": zeros(1)}),
    Example("compare-and-swap", "Compare and swap", "A float sum that loses no addition", {"values": ramp(16), "total": zeros(1)}),
    Example("playground", "From the Slang Playground", "Its attributes fill buffers and set the number of threads"),
)
