"""A picture that comes apart: whole it is the picture, and a hand moves only what is near it."""

import numpy as np
import pytest

from splatscope.splat.apart import ApartRenderer
from splatscope.splat.scenes import some_gaussians
from splatscope.splat.thumbnail import Thumbnail, ThumbnailRenderer

SIZE = (64, 48)


@pytest.fixture(scope="module")
def renderer(device):
    return ApartRenderer(device, Thumbnail(some_gaussians(60, SIZE, seed=3), *SIZE), SIZE[0])


def test_a_whole_picture_is_drawn_as_ever(renderer, device, tmp_path):
    import io

    from PIL import Image

    plain = np.asarray(Image.open(io.BytesIO(ThumbnailRenderer(device, renderer.thumbnail).draw(60))))
    assert np.abs(renderer.draw(0).astype(int) - plain).mean() < 4  # that one is a JPEG


def test_all_of_it_changes_as_it_comes_apart(renderer):
    whole = renderer.draw(0).astype(int)
    changes = [np.abs(renderer.draw(share) - whole).mean() for share in (0.2, 0.5, 1.0)]
    assert changes == sorted(changes)
    assert changes[0] > 0


def test_a_hand_moves_only_what_is_near(renderer):
    whole = renderer.draw(0).astype(int)
    change = np.abs(renderer.draw(0, hand=(8, 8), reach=3) - whole).max(-1)
    assert change[:20, :20].max() > 8
    assert change[36:, 48:].max() == 0
