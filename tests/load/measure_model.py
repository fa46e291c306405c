"""Measure what each part of the direct model contributes: `measure_model.py [SIDE GAUSSIANS ITERATIONS [PICTURE]]`.

Each row leaves one part out; all rows begin from the same seeds.
"""

import statistics
import sys
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import numpy as np

from splatscope.gpu.device import adapter_of, open_device
from splatscope.paths import ASSETS
from splatscope.splat import densify, initialise, kernels
from splatscope.splat.files.images import crop_picture
from splatscope.splat.parameters import COLOUR, X, Y
from splatscope.splat.settings import Settings
from splatscope.splat.trainer import Trainer

SEEDS = (0, 1, 2)
start = initialise._start_direct


def anywhere(count, target, generator):
    """Return random positions, with the picture's colours."""
    raw = start(count, target, generator)
    height, width, _ = target.shape
    raw[X], raw[Y] = generator.uniform(-0.5, width - 0.5, count), generator.uniform(-0.5, height - 0.5, count)
    raw[COLOUR] = (target / 255.0)[np.rint(raw[Y]).astype(int), np.rint(raw[X]).astype(int)].T
    return raw


def grey(count, target, generator):
    raw = start(count, target, generator)
    raw[COLOUR] = 0.5
    return raw


def one_rate(settings):
    return (0.05,) * 4


PARTS = {
    "all of it": [],
    "positions anywhere, not where the picture changes": [patch.object(initialise, "_start_direct", anywhere)],
    "grey at the start, not the picture's colours": [patch.object(initialise, "_start_direct", grey)],
    "one rate of 0.05 for all values": [patch.object(Settings, "start_rates", property(one_rate))],
    "all Gaussians from the start": [patch.object(Settings.param.growth, "default", False)],
    "no Gaussian moves to where the picture is wrong": [patch.object(densify, "MOST_MOVED", 0.0)],
    "rates that do not fall": [patch.object(Settings, "fall", property(lambda settings: 1.0))],
    "β₂ of 0.999": [patch.object(kernels, "DIRECT_BETA2", kernels.BETA2)],
    "the sample's model, not the direct one": None,
}


def fit(parts, side: int, count: int, iterations: int, seed: int, name: str, data: bytes) -> float:
    with ExitStack() as stack:
        for part in parts or []:
            stack.enter_context(part)
        model = "direct" if parts is not None else "shipped"
        settings = Settings(size=side, blobs=count, iterations=iterations, seed=seed, model=model)
        picture = crop_picture(data, name, side, side)
        trainer = Trainer(open_device(), initialise.start_state(settings, picture.pixels, name))
        trainer.advance(iterations)
        return trainer.look().psnr


def main() -> None:
    side, count, iterations = map(int, sys.argv[1:4]) if len(sys.argv) > 3 else (256, 2048, 2000)
    file = Path(sys.argv[4]) if len(sys.argv) > 4 else ASSETS / "astronaut.jpg"
    size = f"{side} × {side}, {count:,} Gaussians, {iterations:,} iterations"
    print(f"{adapter_of(open_device()).name}: {file.name}, {size}; dB, median of 3 seeds")
    whole = 0.0
    for words, parts in PARTS.items():
        found = [fit(parts, side, count, iterations, seed, file.name, file.read_bytes()) for seed in SEEDS]
        median = statistics.median(found)
        whole = whole or median
        print(f"{words:52} {median:6.2f}  {median - whole:+6.2f}  ({min(found):.2f} – {max(found):.2f})", flush=True)


if __name__ == "__main__":
    main()
