"""The file of a picture that comes apart."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from splatscope.splat.apart import pack, unpack
from splatscope.splat.thumbnail import Thumbnail


@given(count=st.integers(1, 50), seed=st.integers(0, 2**32 - 1), scale=st.floats(1e-3, 1e3))
def test_packing_keeps_each_value_within_half_a_level(count, seed, scale):
    raw = (scale * np.random.default_rng(seed).normal(size=(9, count))).astype(np.float32)
    kept = unpack(pack(Thumbnail(raw, 40, 30)))
    assert (kept.count, kept.width, kept.height) == (count, 40, 30)
    span = raw.max(1) - raw.min(1)
    largest = np.abs(raw).max()
    assert (np.abs(kept.raw - raw).max(1) <= 0.51 * span / 65_535 + 1e-6 * largest).all()
