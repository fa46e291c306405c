"""Pictures that a browser has trained and sends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splatscope.services import pictures
from splatscope.splat.parameters import FIELDS


def sent(width: int, height: int, raw: np.ndarray) -> bytes:
    pixels = np.arange(3 * width * height, dtype=np.uint8)
    return np.array([width, height, raw.shape[1]], "<u4").tobytes() + raw.astype("<f4").tobytes() + pixels.tobytes()


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9))
def test_what_is_sent_is_read(width, height, count):
    raw = np.random.default_rng(count).normal(size=(FIELDS, count)).astype(np.float32)
    picture = pictures.read(sent(width, height, raw))
    assert picture.size == (width, height)
    np.testing.assert_array_equal(picture.raw, raw)
    np.testing.assert_array_equal(picture.target.ravel(), np.arange(3 * width * height, dtype=np.uint8))
    assert pictures.find(pictures.hold(picture)) is picture


@given(st.binary(max_size=200))
def test_other_bytes_are_refused(data):
    with pytest.raises(ValueError, match="no trained picture"):
        pictures.read(data)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_gaussians_without_a_place_are_refused(wrong):
    raw = np.zeros((FIELDS, 2), np.float32)
    raw[0, 1] = wrong
    with pytest.raises(ValueError, match="train it again"):
        pictures.read(sent(2, 2, raw))


def test_a_length_that_does_not_fit_is_refused():
    data = sent(2, 2, np.zeros((FIELDS, 2), np.float32))
    for wrong in (data[:-1], data + b"\0", data[:4] + bytes(8) + data[12:]):
        with pytest.raises(ValueError, match="no trained picture"):
            pictures.read(wrong)
