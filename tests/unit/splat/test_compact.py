"""Gaussians stored at 16 bits a parameter."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from splatscope.splat.files.compact import LEVELS, CompactError, load_compact, save_compact

SIZE = 48, 32
finite = st.floats(-1e6, 1e6, width=32)


def archive(**members) -> bytes:
    file = io.BytesIO()
    np.savez(file, **members)
    return file.getvalue()


@given(st.integers(1, 40).flatmap(lambda count: arrays(np.float32, (9, count), elements=finite)))
def test_a_value_comes_back_within_half_a_level(raw):
    back, size = load_compact(save_compact(raw, SIZE))
    assert size == SIZE
    span = raw.max(axis=1).astype(float) - raw.min(axis=1)
    assert back.shape == raw.shape
    assert back.dtype == np.float32
    half = span / LEVELS / 2 + np.abs(raw).max(axis=1) * 2**-23 + 2.0**-149  # and what float32 rounds, or cannot hold
    assert (np.abs(back.astype(float) - raw) <= 1.01 * half[:, None]).all()


def test_a_row_of_equal_values_and_a_single_gaussian_come_back_exactly():
    raw = np.linspace(-3, 9, 9, dtype=np.float32)[:, None]
    for rows in (raw, np.repeat(raw, 7, axis=1)):
        assert (load_compact(save_compact(rows, SIZE))[0] == rows).all()


def test_a_gaussian_takes_18_bytes():
    few, many = (
        len(save_compact(np.random.default_rng(0).normal(size=(9, count)).astype(np.float32), SIZE)) for count in (100, 5100)
    )
    assert (many - few) / 5000 == pytest.approx(18, abs=0.01)
    assert few - 1800 < 1400


GOOD = {"codes": np.zeros((9, 4), np.uint16), "low": np.zeros(9, np.float32), "high": np.ones(9, np.float32)}


@pytest.mark.parametrize(
    "changed",
    [
        {"codes": np.zeros((8, 4), np.uint16)},
        {"codes": np.zeros((9, 0), np.uint16)},
        {"codes": np.zeros((9, 4), np.int16)},
        {"codes": np.zeros(36, np.uint16)},
        {"low": np.full(9, 2, np.float32)},
        {"high": np.full(9, np.inf, np.float32)},
        {"low": np.full(9, np.nan, np.float32)},
        {"low": np.zeros(4, np.float32)},
        {"high": np.ones(9)},
        {"size": np.ones(3, np.uint32)},
        {"size": np.ones(2)},
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(changed):
    with pytest.raises(CompactError, match="do not fit together"):
        load_compact(archive(**(GOOD | changed)))


@pytest.mark.parametrize(
    "data", [b"", b"PK\x03\x04", archive(**GOOD)[:-30], archive(codes=GOOD["codes"]), archive(codes=np.array([{}]))]
)
def test_another_file_is_refused(data):
    with pytest.raises(CompactError, match=r"compact\.npz"):
        load_compact(data)


def test_a_file_that_claims_to_be_huge_is_refused_before_it_is_unpacked(monkeypatch):
    monkeypatch.setattr("splatscope.splat.files.compact.MAX_FILE_BYTES", 100)
    with pytest.raises(CompactError, match="unpacks to more than"):
        load_compact(archive(**GOOD))


def test_a_file_of_before_sizes_were_kept_is_read():
    assert load_compact(archive(**GOOD))[1] is None
