"""Densification: which runs start with some of their Gaussians."""

import pytest

from splatscope.paths import ASSETS
from splatscope.splat import densify
from splatscope.splat.files.images import crop_picture
from splatscope.splat.initialise import start_state
from splatscope.splat.settings import Settings


def state_of(side=48, **chosen):
    picture = crop_picture((ASSETS / "astronaut.jpg").read_bytes(), "astronaut.jpg", side, side)
    return start_state(Settings(**{"blobs": 201, "iterations": 80} | chosen), picture.pixels, picture.name)


def seen(splats) -> int:
    return int((splats.raw[8] > -4.5).sum())


@pytest.mark.parametrize(
    ("iterations", "stages"),
    [
        (80, [4, 8, 12, 16, 20, 24, 28, 32, 36, 40]),
        (2000, list(range(100, 1001, 100))),
        (4000, [*range(100, 1001, 100), 1500, 2000]),
    ],
)
def test_stages_add_first_and_then_move_until_half_of_the_run(iterations, stages):
    settings, step, named = Settings(iterations=iterations), 0, []
    while (step := densify.next_stage(settings, step)) is not None:
        named.append(step)
    assert named == stages


@pytest.mark.parametrize("chosen", [{"growth": False}, {"kernels": "tiled"}, {"model": "shipped"}])
def test_other_runs_have_all_from_the_start(chosen):
    state = state_of(**chosen)
    assert seen(state.splats) == 201
    assert densify.next_stage(state.settings, 0) is None
