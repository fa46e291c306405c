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


@pytest.mark.parametrize("chosen", [{"growth": False}, {"kernels": "tiled"}, {"model": "shipped"}])
def test_other_runs_have_all_from_the_start(chosen):
    state = state_of(**chosen)
    assert seen(state.splats) == 201
    assert densify.next_stage(state.settings, 0) is None
