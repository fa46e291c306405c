"""A run's state: how it starts, and its round trip through a file."""

import io
import json
import zipfile

import numpy as np
import pytest

from splatscope.splat.files.state_file import StateError, load_state, save_state
from splatscope.splat.initialise import start_state
from splatscope.splat.settings import Settings, allowed_blobs, refuse

TARGET = np.random.default_rng(0).integers(0, 256, (24, 40, 3), dtype=np.uint8)


def small_state(**chosen):
    return start_state(Settings(blobs=30, iterations=50, **chosen), TARGET, "noise")


def bits(state):
    splats = state.splats
    return b"".join(
        array.tobytes() for array in (splats.raw, splats.first_moment, splats.second_moment, state.history, state.target)
    )


def test_the_same_seed_starts_the_same_run():
    assert bits(small_state(seed=5)) == bits(small_state(seed=5))
    assert bits(small_state(seed=5)) != bits(small_state(seed=6))


@pytest.mark.parametrize("model", ["direct", "shipped"])
@pytest.mark.parametrize("blobs", [1, 2, 777])
def test_any_number_of_gaussians_starts(model, blobs):
    raw = start_state(Settings(blobs=blobs, model=model), TARGET, "").splats.raw
    assert raw.shape == (9, blobs)
    assert raw.dtype == np.float32
    assert np.isfinite(raw).all()


def test_a_direct_start_takes_places_and_colours_from_the_picture():
    raw = small_state().splats.raw
    x, y = np.rint(raw[0]).astype(int).clip(0, 39), np.rint(raw[1]).astype(int).clip(0, 23)
    np.testing.assert_allclose(raw[5:8].T, TARGET[y, x] / 255, atol=1e-6)


def changed(**about) -> bytes:
    with np.load(io.BytesIO(save_state(small_state()))) as file:
        arrays = dict(file)
    words = json.loads(arrays["about"].tobytes()) | about
    file = io.BytesIO()
    np.savez(file, **arrays | {"about": np.frombuffer(json.dumps(words).encode(), np.uint8)})
    return file.getvalue()


def with_array(name, array) -> bytes:
    with np.load(io.BytesIO(save_state(small_state()))) as file:
        arrays = dict(file) | {name: array}
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def with_plain_member(name) -> bytes:
    """A state file in which one member is no array."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(save_state(small_state()))) as whole, zipfile.ZipFile(file, "w") as archive:
        for member in whole.namelist():
            archive.writestr(*((name, b"text") if member == f"{name}.npy" else (member, whole.read(member))))
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not a Splatscope state"),
        (b"\x89PNG", "not a Splatscope state"),
        (save_state(small_state())[:-300], "cut short"),
        (save_state(small_state())[:300], "cut short"),
        (changed(version=2), "version 2"),
        (changed(format="else"), "not a Splatscope state"),
        (changed(settings={"blobs": -1}), "not a Splatscope state"),
        (changed(settings={"nonsense": 1}), "not a Splatscope state"),
        (changed(step="soon"), "not a Splatscope state"),
        (changed(step=-1), "do not fit"),
        (changed(seconds=float("nan")), "do not fit"),
        (changed(seconds=float("inf")), "do not fit"),
        (changed(version="2\n3"), "not a Splatscope state"),
        (changed(generator={"bit_generator": "PCG64", "state": {"state": 0.5, "inc": 1}}), "not a Splatscope state"),
        (with_plain_member("history"), "not a Splatscope state"),
        (with_plain_member("target"), "not a Splatscope state"),
        (with_array("raw", np.zeros((9, 29), np.float32)), "do not fit"),
        (with_array("raw", np.zeros((9, 30))), "do not fit"),
        (with_array("target", np.zeros((24, 40), np.uint8)), "do not fit"),
        (with_array("raw", np.array([{}], object)), "damaged"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_in_one_line(data, words):
    with pytest.raises(StateError) as refusal:
        load_state(data)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_what_a_device_cannot_take_is_refused_in_one_line():
    software = True
    assert refuse(Settings(), software) is None
    for settings in (Settings(blobs=1_000_000), Settings(size=4096), Settings(kernels="simple", blobs=513)):
        words = refuse(settings, software)
        assert words
        assert "allowed" in words
        assert "\n" not in words
    for settings in (Settings(kernels="tiled", loss="l1"), Settings(kernels="simple", blobs=9, size=64, reproducible=True)):
        assert "choose" in refuse(settings, software)
    assert allowed_blobs(Settings(size=512), software) >= 40_960  # the sample's own case runs everywhere
    with pytest.raises(ValueError, match="blobs"):
        Settings(blobs=0)
