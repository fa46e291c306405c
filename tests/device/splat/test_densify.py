"""Densification: how many Gaussians are visible at which iteration, where new ones go, and resuming a run at any point."""

import numpy as np
import pytest

from splatscope.paths import ASSETS
from splatscope.splat import densify
from splatscope.splat.files.images import crop_picture
from splatscope.splat.files.state_file import load_state, save_state
from splatscope.splat.initialise import start_state
from splatscope.splat.settings import Settings
from splatscope.splat.trainer import Trainer


def state_of(side=48, **chosen):
    picture = crop_picture((ASSETS / "astronaut.jpg").read_bytes(), "astronaut.jpg", side, side)
    return start_state(Settings(**{"blobs": 201, "iterations": 80} | chosen), picture.pixels, picture.name)


def seen(splats) -> int:
    return int((splats.raw[8] > -4.5).sum())


def test_a_run_begins_with_a_part_and_has_all_after_the_last_stage(device):
    trainer = Trainer(device, state_of())
    counts = [seen(trainer.state.splats)]
    for _ in range(densify.STAGES):
        stage = densify.next_stage(trainer.state.settings, trainer.state.step)
        trainer.advance(stage - trainer.state.step)
        counts.append(seen(trainer.save().splats))
    assert counts[0] == 51
    assert counts[-1] == 201
    assert (np.diff(counts) >= 12).all()
    assert trainer.state.step == 40
    assert densify.next_stage(trainer.state.settings, 40) is None


@pytest.mark.parametrize("blobs", [1, 2, 3])
@pytest.mark.parametrize("iterations", [1, 3, 25])
def test_the_smallest_runs_grow_too(device, blobs, iterations):
    trainer = Trainer(device, state_of(16, blobs=blobs, iterations=iterations))
    assert seen(trainer.state.splats) >= 1
    assert trainer.advance(100) == iterations
    assert np.isfinite(trainer.save().splats.raw).all()


def test_a_run_interrupted_anywhere_grows_to_the_same_bits(device):
    whole = Trainer(device, state_of(reproducible=True))
    whole.advance(80)
    pieces = Trainer(device, state_of(reproducible=True))
    for steps in (3, 1, 4, 17):  # to a stage, past it, and over several
        pieces.advance(steps)
        pieces.look()
        pieces = Trainer(device, load_state(save_state(pieces.save())))
    pieces.advance(80)
    assert pieces.state.step == 80
    assert pieces.save().splats.raw.tobytes() == whole.save().splats.raw.tobytes()


def test_growth_pays(device):
    def quality(**chosen) -> float:
        trainer = Trainer(device, state_of(96, blobs=300, iterations=400, **chosen))
        trainer.advance(400)
        return trainer.look().psnr

    gains = [quality(growth=True, seed=seed) - quality(growth=False, seed=seed) for seed in range(3)]
    assert np.median(gains) > 0.3, gains
