"""The recording of a tile does what the run's own kernels do there, and tiles of real size fit."""

import asyncio
import functools

import numpy as np
import pytest

from splatscope.gpu.buffers import download
from splatscope.gpu.device import open_device
from splatscope.gpu.kernel import submit
from splatscope.services import tile_inspector
from splatscope.services.tile_inspector import BY_NAME, STAGES, Spot, _record, record_tile, tile_job
from splatscope.splat.initialise import start_state
from splatscope.splat.parameters import FIELDS
from splatscope.splat.settings import Settings
from splatscope.splat.state import TrainingState
from splatscope.splat.trainer import Trainer
from splatscope.tracing.dispatch import prepare
from splatscope.tracing.job import MOST_RECORDS, KernelJob
from splatscope.web.training.tile_view import _notes
from splatscope.workers.pool import Pool


def begun(width: int = 30, height: int = 22, **settings) -> TrainingState:
    """Return a run before its first iteration, on a picture whose size is no multiple of a tile's."""
    y, x = np.mgrid[:height, :width]
    target = np.stack([255 * x / width, 255 * y / height, 40 + 0 * x], axis=-1).astype(np.uint8)
    chosen = Settings(**{"size": max(width, height, 16), "blobs": 40, "kernels": "tiled"} | settings)
    return start_state(chosen, target, "ramp.png")


def recorded(state: TrainingState, x: int, y: int, stage: str):
    return _record(state.settings, state.splats.raw, state.target, Spot.of(state.settings, x, y), stage)


@pytest.mark.parametrize("settings", [{}, {"model": "shipped"}, {"background": "shipped"}, {"tile": "16 × 16, lists of 256"}])
def test_a_tile_is_drawn_as_in_the_run(settings):
    state = begun(**settings)
    picture = Trainer(open_device(), state).look().picture
    spot = Spot.of(state.settings, 19, 13)
    job = tile_job(state.settings, state.splats.raw, state.target, spot.tile, BY_NAME["blend"])
    colours = prepare(open_device(), job).dispatch().outputs()["tileColors"].view(np.float32).reshape(-1, 4)
    assert np.array_equal(colours[spot.thread, :3], picture[13, 19])


@pytest.mark.parametrize("summed", ["wave", "tree"])
def test_the_gradients_of_all_tiles_are_the_runs_gradient(summed):
    state = begun(gradient_sum=summed)
    trainer = Trainer(open_device(), state)
    submit(open_device(), trainer.kernels.iteration[:2])
    whole = download(trainer.kernels.gradient, np.float32, (FIELDS, state.splats.count))
    shares = np.zeros_like(whole)
    for row in range(6):
        for column in range(4):
            job = tile_job(state.settings, state.splats.raw, state.target, (column, row), BY_NAME["gradient"])
            shares += prepare(open_device(), job).dispatch().outputs()["derivBuffer"].view(np.float32).reshape(whole.shape)
    assert np.abs(whole).max() > 0
    assert np.allclose(shares, whole, rtol=1e-4, atol=1e-6 * np.abs(whole).max())


def test_every_stage_tells_of_the_same_gaussians():
    state = begun()
    look = Trainer(open_device(), state).look()
    spot = Spot.of(state.settings, 19, 13)
    found = {stage.name: recorded(state, 19, 13, stage.name) for stage in STAGES}
    listed = found["list"].listed
    assert len(listed) == found["list"].found == look.list_lengths[spot.tile[1], spot.tile[0]] > 2
    for name, shown in found.items():
        assert shown.listed == listed, name
        assert shown.packed.meta["same_as_plain"] is True
        assert not shown.packed.meta["truncated"]
        assert not shown.packed.meta["findings"]
        assert 0 < min(shown.steps) <= max(shown.steps) <= shown.packed.meta["events"]
        assert shown.stops == sorted(shown.stops)
        assert np.allclose(shown.colours, np.clip(state.splats.raw[5:8, listed].T, 0, 1))
    assert found["blend"].steps == sorted(found["blend"].steps)  # nearest first
    assert found["backward"].steps == sorted(found["backward"].steps, reverse=True)
    assert len(found["backward"].stops) == len(listed)
    light = found["blend"].light
    assert np.allclose(np.cumprod(1 - found["blend"].alphas)[light >= 1 / 255], light[light >= 1 / 255], rtol=1e-4)
    assert all(shown.opening in range(1, shown.packed.meta["events"] + 1) for shown in found.values())
    assert (np.diff(np.r_[1, light]) <= 0).all()
    assert found["blend"].blended == np.count_nonzero(np.r_[1, light[:-1]] >= 1 / 255)
    assert len(found["gradient"].stops) == FIELDS * len(listed)


def test_the_gradients_shown_are_those_of_the_tile():
    state = begun()
    shown = recorded(state, 19, 13, "gradient")
    job = tile_job(state.settings, state.splats.raw, state.target, (2, 3), BY_NAME["gradient"])
    out = prepare(open_device(), job).dispatch().outputs()["derivBuffer"].view(np.float32).reshape(FIELDS, -1)
    assert np.allclose(shown.gradients, out[:, shown.listed].T, rtol=1e-4, atol=1e-7)
    assert np.count_nonzero(shown.gradients) > len(shown.listed)


@pytest.mark.parametrize(("size", "blobs"), [(256, 2048), (512, 40_960)])
def test_real_sizes_fit(size, blobs):
    state = begun(size, size, blobs=blobs)
    for stage in STAGES:
        shown = recorded(state, size // 2, size // 3, stage.name)
        assert not shown.packed.meta["truncated"], stage.name
        assert shown.packed.meta["same_as_plain"] is True, stage.name
        assert len(shown.packed.data) < 4 * 2**20
        assert len(shown.listed) > 10


def test_what_is_left_out_is_said(monkeypatch):
    state = begun(64, 64, blobs=2048, tile="16 × 16, lists of 256", gradient_sum="tree", kernels="binned")
    state.splats.raw[2:4] = np.log(8)
    for name, records, words in (("list", MOST_RECORDS, "its list holds 256"), ("gradient", 400_000, "The recording was full")):
        monkeypatch.setattr(tile_inspector, "KernelJob", functools.partial(KernelJob, records=records))
        shown = recorded(state, 30, 30, name)
        notes = " ".join(_notes(BY_NAME[name], shown, state.settings))
        assert words in notes
        assert "binned kernels" in notes


def test_a_worker_records():
    async def ask():
        pool = Pool()
        try:
            state = begun()
            return await record_tile(pool, state, Spot.of(state.settings, 3, 5), BY_NAME["sort"])
        finally:
            await pool.close()

    shown = asyncio.run(ask())
    assert shown.packed.data
    assert shown.listed == recorded(begun(), 3, 5, "sort").listed
