"""Time the kernels of one iteration, the sample's and the fast ones: which is how every page measures how much faster they are."""

import slangpy as spy

from splatscope.paths import ASSETS
from splatscope.splat.files.images import read_picture
from splatscope.splat.initialise import start_state
from splatscope.splat.settings import Settings
from splatscope.splat.trainer import Trainer

PICTURE = "chelsea.jpg"
KINDS = ("tiled", "binned")
WARM_UP_ITERATIONS = 10  # so that the Gaussians have left their initial positions before measuring
REPEATS = 7  # the minimum is used, since other load can only add time


def warm_trainers(device: spy.Device) -> tuple[Trainer, Trainer]:
    """Return a run with the tiled kernels and one with the binned ones, each past its first iterations."""
    picture = read_picture((ASSETS / PICTURE).read_bytes(), PICTURE, Settings().size)
    tiled, binned = (Trainer(device, start_state(Settings(kernels=kind, growth=False), picture.pixels, PICTURE)) for kind in KINDS)
    for trainer in (tiled, binned):
        trainer.advance(WARM_UP_ITERATIONS)
    return tiled, binned


def next_iteration(trainer: Trainer) -> dict[str, float]:
    """Train one iteration and draw its picture. Return the milliseconds of each kernel."""
    trainer.advance(1)
    trainer.look()
    return trainer.kernel_ms


def least(*times: dict[str, float]) -> dict[str, float]:
    """Return the smallest time by name."""
    return {name: min(some[name] for some in times if name in some) for some in times for name in some}
