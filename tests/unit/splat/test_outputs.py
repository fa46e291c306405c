"""Files for other programs, read back: Gaussians as .ply, and the animation of a training."""

import io

import numpy as np
import pytest
from PIL import Image

from helpers.ply import read_ply
from splatscope.splat.files.animation import LAST_MS, LONGEST_SIDE, Animation
from splatscope.splat.files.ply import DEPTH, FLAT, to_ply

WIDTH, HEIGHT = 48, 32


@pytest.mark.parametrize("count", [1, 3, 4096, 100_000])
def test_ids_sort_near_to_far_without_ties(count):
    lines, v = read_ply(to_ply(np.zeros((9, count), np.float32), (WIDTH, HEIGHT)))
    assert v["z"][0] == 0
    assert np.all(np.diff(v["z"]) > 0)
    assert v["z"].max() < DEPTH
    assert np.allclose(v["scale_2"], np.log(FLAT))
    assert any(f"picture {WIDTH} x {HEIGHT} pixels" in line for line in lines)


def grey(level: float, width: int = WIDTH, height: int = HEIGHT) -> np.ndarray:
    return np.full((height, width, 3), level, np.float32)


@pytest.mark.parametrize("kind", ["gif", "webp"])
def test_a_film_shows_its_frames_in_order(kind):
    film = Animation()
    for iteration in range(9):
        film.take(iteration, grey(iteration / 10))
    image = Image.open(io.BytesIO(film.save(kind)))
    assert (image.format, image.size, image.n_frames) == (kind.upper(), (WIDTH, HEIGHT), 9)
    for number in range(9):
        image.seek(number)
        shown = np.asarray(image.convert("RGB"))
        assert shown.mean() == pytest.approx(25.5 * number, abs=3)
    assert image.info["duration"] == LAST_MS


def test_a_film_has_few_and_small_frames_however_long_the_run():
    film = Animation()
    for iteration in range(0, 20_000, 3):
        film.take(iteration, grey(iteration / 20_000, 800, 20) if iteration >= film.due else grey(0, 8, 8))
    film.take(20_000, grey(1.0, 800, 20), is_last=True)
    assert 60 < len(film) < 110
    image = Image.open(io.BytesIO(film.save("webp")))
    assert max(image.size) == LONGEST_SIDE
    assert film.due > 20_000


def test_a_film_drops_what_a_run_takes_back():
    film = Animation()
    with pytest.raises(ValueError, match="no frame"):
        film.save("gif")
    for iteration in range(5):
        film.take(iteration, grey(0.2))
    film.take(2, grey(0.8))
    assert len(film) == 3
    film.take(0, grey(0.8))
    assert len(film) == 1
