"""Densification: how many Gaussians are visible at which iteration, where new ones go, which move, and resuming at any point."""

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


def grown(device, state, error, step=40):
    """Return the trainer of a state to which Gaussians were added where this error is, and how many."""
    trainer = Trainer(device, state)
    trainer.look()
    trainer.run.error_map.copy_from_numpy(error.reshape(-1))
    return trainer, trainer.densifier.add(step, state.generator)


def unseen_in(device, state) -> int:
    """Return how many Gaussians of a state no pixel shows: those that are hidden, and those behind others."""
    trainer = Trainer(device, state)
    trainer.look()
    return int((trainer.kernels.worth() == 0).sum())


@pytest.mark.parametrize("side", [48, 50])  # a whole number of blocks of 256 pixels, and not
def test_new_ones_go_where_the_error_is_in_the_targets_colour(device, side):
    state = state_of(side)
    error = np.zeros((side, side), np.float32)
    error[10:14, 30:40] = 0.5
    before = state.splats.raw.copy()
    trainer, added = grown(device, state, error)
    raw, new = trainer.save().splats.raw, np.arange(201) < 180
    assert added == 180
    assert np.array_equal(raw[:, ~new], before[:, ~new])
    x, y = np.rint(raw[:2, new]).astype(int)
    assert ((x >= 29) & (x <= 40) & (y >= 9) & (y <= 14)).all()
    assert np.ptp(x) > 5
    near = state.target[9:15, 29:41].reshape(-1, 3) / 255
    assert np.abs(raw[5:8, new].T[:, None] - near).max(axis=2).min(axis=1).max() < 1e-6
    assert np.ptp(raw[4, new]) > 2  # at all angles
    assert (raw[8, new] == 0).all()


def test_those_that_nobody_sees_are_moved_and_begin_anew(device):
    error = np.full((48, 48), 0.1, np.float32)
    trainer, _ = grown(device, state_of(), error)
    splats = trainer.save().splats
    splats.first_moment[:] = splats.second_moment[:] = 1
    splats.raw[8, 7] = -8
    splats.raw[0, 190] = 48 + 4 * np.exp(splats.raw[2:4, 190].max())
    before = splats.raw.copy()
    again, moved = grown(device, trainer.state, error)
    splats = again.save().splats
    assert moved == 2
    assert np.flatnonzero((splats.raw != before).any(axis=0)).tolist() == [7, 190]
    assert np.flatnonzero((splats.second_moment == 0).all(axis=0)).tolist() == [7, 190]


def test_the_worth_of_a_gaussian_is_the_change_of_the_picture_without_it(device):
    trainer = Trainer(device, state_of(40, blobs=60, growth=True))
    trainer.advance(60)
    picture = trainer.look().picture.copy()
    worth = trainer.kernels.worth()
    splats = trainer.save().splats
    chosen = np.argsort(worth)[[0, 20, 40, 59]]
    changes = []
    for gaussian in chosen:
        opacity = splats.raw[8, gaussian]
        splats.raw[8, gaussian] = densify.HIDDEN
        changes.append(np.square(Trainer(device, trainer.state).look().picture - picture).sum())
        splats.raw[8, gaussian] = opacity
    assert worth[chosen] == pytest.approx(changes, rel=1e-3)


def test_once_all_are_there_the_cheapest_move(device):
    trainer = Trainer(device, state_of(iterations=4000))
    trainer.advance(1000)
    trainer.look()
    worth, before = trainer.kernels.worth(), trainer.save().splats.raw.copy()
    moved = trainer.densifier.add(1500, trainer.state.generator)
    after = trainer.save().splats.raw
    places = np.flatnonzero((after[:2] != before[:2]).any(axis=0))
    assert 0 < moved <= densify.MOST_MOVED * 201
    assert set(places) == set(np.argsort(worth, kind="stable")[:moved])


def test_pixels_are_drawn_by_their_error_cubed(device):
    error = np.repeat(np.array([0.1, 0.2, 0.4], np.float32), 16)[:, None].repeat(48, axis=1)  # three bands of 16 rows
    state = state_of(blobs=8000)
    unseen = unseen_in(device, state)
    trainer, added = grown(device, state, error)
    y = np.rint(trainer.save().splats.raw[1, :added])
    parts = np.histogram(y, [-1, 15.5, 31.5, 48])[0] / added
    expected = np.array([0.1, 0.2, 0.4]) ** 3
    assert added == unseen >= 7200
    assert parts == pytest.approx(expected / expected.sum(), abs=0.03)  # four standard deviations, and half a pixel of shift


def test_a_run_begins_with_a_part_and_has_all_after_the_last_stage(device):
    trainer = Trainer(device, state_of())
    counts = [seen(trainer.state.splats)]
    for _ in range(densify.STAGES):
        stage = densify.next_stage(trainer.state.settings, trainer.state.step)
        trainer.advance(stage - trainer.state.step)
        counts.append(seen(trainer.save().splats))
    assert counts[0] == 21
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
