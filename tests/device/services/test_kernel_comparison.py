"""The comparison's counts agree with the lists of the plain kernels."""

from itertools import pairwise

import numpy as np
import pytest

from splatscope.gpu.device import open_device
from splatscope.services import operation_counts as counted
from splatscope.services.kernel_comparison import (
    KERNELS,
    SIZE,
    TimingComparison,
    _count,
    _same_work,
    _time,
    counted_timings,
    from_json,
    shipped_comparison,
    to_json,
)
from splatscope.splat.binned import BY_GROUPS
from splatscope.splat.initialise import start_state
from splatscope.splat.settings import Settings
from splatscope.web.training.kernel_comparison import COUNTED, _large, drawn

BLOBS = 16  # few: a driver compiles the simple kernels' loop long


@pytest.fixture(scope="module")
def comparison():
    states = _same_work(SIZE, BLOBS, KERNELS)
    adapter, timings = _time(states)
    found = counted_timings(states, timings, [_count(state) for state in states])
    _, large = _time(_same_work(64, 40, KERNELS[1:]))
    return TimingComparison(adapter, SIZE, BLOBS, found, 64, 40, large)


@pytest.fixture(scope="module")
def timings(comparison):
    return {timing.kernels: timing for timing in comparison.timings}


def test_the_simple_kernels_evaluate_every_pair(timings):
    simple = timings["simple"]
    assert simple.counts.forward == simple.counts.backward == SIZE * SIZE * BLOBS
    assert simple.counts.tests == simple.listed == 0
    # Nine values a Gaussian, and no more than an addition for each wave.
    assert 0 < simple.counts.atomics <= 9 * SIZE * SIZE * BLOBS


def test_every_pixel_of_a_tile_walks_its_list(timings):
    for kernels in ("tiled", "binned"):
        timing = timings[kernels]
        width, height = timing.tile
        assert timing.counts.forward == timing.counts.backward
        # The binned kernels take layers two at a time, so each tile may evaluate one that is not there.
        spare = (SIZE // width) * (SIZE // height) if kernels == "binned" else 0
        assert 0 <= timing.counts.forward / (width * height) - timing.listed <= spare
    tiled, binned = timings["tiled"].counts, timings["binned"].counts
    width, height = timings["tiled"].tile
    assert tiled.tests == (SIZE // width) * (SIZE // height) * BLOBS
    assert tiled.reads >= tiled.tests + tiled.forward + tiled.backward
    # Each Gaussian tests a tile before it counts itself in, and once more before it writes itself down; those it touches are fewer.
    assert 2 * timings["binned"].listed <= binned.tests < tiled.tests
    assert binned.reads == BLOBS


def test_additions_are_counted_where_they_are_made(timings):
    for kernels in ("simple", "tiled"):
        assert timings[kernels].counts.tries >= timings[kernels].counts.atomics
    assert timings["binned"].counts.tries == timings["binned"].counts.atomics == 0
    assert 0 < timings["tiled"].counts.atomics < timings["simple"].counts.atomics


def test_counting_leaves_the_state_alone():
    pixels = np.full((32, 32, 3), 90, np.uint8)
    state = start_state(Settings(size=32, blobs=8, kernels="binned"), pixels, "grey")
    before = state.splats.raw.copy()
    first, second = (counted.count_iteration(open_device(), state) for _ in range(2))
    assert first == second
    assert np.array_equal(state.splats.raw, before)
    assert state.step == 0


def test_a_place_that_is_not_there_any_more_is_an_error(monkeypatch):
    monkeypatch.setattr(counted, "_PROBES", tuple(probe for probe in counted._PROBES if probe.function != "unblendLayer"))
    with pytest.raises(LookupError, match=r"binned_raster\.slang has no function unblendLayer"):
        counted.with_counters("binned_raster")


def test_a_panel_says_its_gain_in_its_own_numbers(comparison, timings):
    panels = drawn(comparison)
    assert [timing["name"] for timing in panels] == list(KERNELS)
    assert panels[0]["gain"] == 0
    for before, after in pairwise(panels):
        assert after["gain"] == pytest.approx(before["ms"] / after["ms"])
    assert f"{timings['tiled'].counts.tests:,} tests" in panels[1]["why"]
    for timing in panels:
        assert timing["ms"] == pytest.approx(sum(ms for _, ms in timing["kernels"]))
        assert [words for words, _, _ in timing["counts"]] == [words for _, words, _ in COUNTED]
    tiled, binned = comparison.large
    assert f"{tiled.total / binned.total:.1f} times faster" in _large(comparison)
    assert 40 <= binned.listed < tiled.listed


def test_a_comparison_survives_its_file(comparison):
    assert from_json(to_json(comparison)) == comparison


def test_the_comparison_that_ships_is_of_the_kernels_of_today(comparison):
    """Names of kernels and what does not depend on the device: the tests of every tile against every Gaussian."""
    shipped = shipped_comparison()
    assert not shipped.adapter.is_software
    for then, now in zip(shipped.timings, comparison.timings, strict=True):
        assert (then.kernels, then.tile) == (now.kernels, now.tile)
        plain = {twin: name for name, twin in BY_GROUPS.items()}
        assert [plain.get(name, name) for name in then.ms] == [plain.get(name, name) for name in now.ms]
    simple, tiled, binned = (timing.counts for timing in shipped.timings)
    assert simple.forward == shipped.size**2 * shipped.blobs
    width, height = shipped.timings[1].tile
    assert tiled.tests == (shipped.size // width) * (shipped.size // height) * shipped.blobs
    assert binned.reads == shipped.blobs
