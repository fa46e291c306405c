"""What `splatscope.fit` takes as a picture."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from splatscope.api.pictures import as_file
from splatscope.splat.files.images import read_picture

PIXELS = np.random.default_rng(0).integers(0, 256, (12, 16, 3), dtype=np.uint8)


def decoded(image) -> np.ndarray:
    """Return the picture that is fitted, (H, W, 3) uint8, as the worker decodes it."""
    return read_picture(*as_file(image), 256).pixels


class Tensor:
    """A tensor as torch has it: on the CPU, with DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class ArrayLike:
    def __array__(self, dtype=None, copy=None):
        return PIXELS


@pytest.mark.parametrize(
    "image",
    [
        PIXELS,
        PIXELS / 255,
        (PIXELS / 255).astype(np.float32),
        np.moveaxis(PIXELS, -1, 0),
        np.asfortranarray(PIXELS),
        np.concatenate([PIXELS, np.full((12, 16, 1), 255, np.uint8)], -1),
        Tensor(PIXELS),
        Tensor(np.ascontiguousarray(np.moveaxis(PIXELS / 255, -1, 0))),
        ArrayLike(),
        Image.fromarray(PIXELS),
    ],
)
def test_a_picture_of_any_kind_is_the_same_picture(image):
    np.testing.assert_array_equal(decoded(image), PIXELS)


@pytest.mark.parametrize("shape", [(12, 16), (12, 16, 1), (1, 12, 16)])
def test_grey_is_grey_in_all_channels(shape):
    grey = PIXELS[..., 0]
    np.testing.assert_array_equal(decoded(grey.reshape(shape)), np.repeat(grey[..., None], 3, axis=2))


@given(arrays(np.float32, (8, 9, 3), elements=st.floats(0, 1, width=32)))
def test_floats_are_rounded_to_the_nearest_of_255_steps(image):
    assert np.abs(decoded(image) / 255 - image).max() <= 0.5 / 255 + 1e-6


def test_transparency_lies_over_white():
    clear = np.zeros((12, 16, 4), np.uint8)
    assert (decoded(clear) == 255).all()


def test_a_file_keeps_its_name_and_its_orientation(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90°
    path = tmp_path / "a.png"
    Image.fromarray(PIXELS).save(path, exif=exif)
    assert as_file(path)[1] == as_file(str(path))[1] == as_file(Image.open(path))[1] == "a.png"
    turned = np.rot90(PIXELS, -1)
    for image in (path, Image.open(path)):
        np.testing.assert_array_equal(decoded(image), turned)


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (np.zeros((2, 12, 16, 3)), "shape"),
        (np.zeros((12, 16, 2)), "shape"),
        (np.zeros((0, 16, 3)), "shape"),
        (PIXELS.astype(float), "from 0 to 1"),
        (np.full((12, 16), np.nan), "from 0 to 1"),
        (PIXELS.astype(np.int64), "int64"),
        (np.zeros((12, 16), bool), "bool"),
        ("nowhere.png", "nowhere.png cannot be read: No such file"),
        (".", "cannot be read"),
    ],
)
def test_what_is_no_picture_is_refused_in_one_line(image, words):
    with pytest.raises(ValueError, match=words) as refused:
        as_file(image)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("image", [None, object()])
def test_other_things_are_refused(image):
    with pytest.raises(TypeError, match="image is a"):
        as_file(image)


def test_a_tensor_of_a_type_that_numpy_lacks_is_told():
    class Half:
        dtype = "torch.bfloat16"

        def __dlpack__(self, **options):
            raise BufferError

        def __array__(self, dtype=None, copy=None):
            raise TypeError

    with pytest.raises(TypeError, match=r"of torch\.bfloat16"):
        as_file(Half())
