"""The ladder's counts are those of the work: they agree with the lists that the plain kernels made."""

from itertools import pairwise

import numpy as np
import pytest

from splatscope.gpu.device import open_device
from splatscope.services import operation_counts as counted
from splatscope.services.kernel_comparison import SIZE, WAYS, Ladder, _count, _same_work, _time, rungs_of
from splatscope.splat.settings import Settings
from splatscope.splat.state import start_state
from splatscope.web.training.kernel_comparison import COUNTED, _large, drawn

BLOBS = 16  # few: a driver compiles the simple kernels' loop long


@pytest.fixture(scope="module")
def ladder():
    states = _same_work(SIZE, BLOBS, WAYS)
    adapter, timings = _time(states)
    rungs = rungs_of(states, timings, [_count(state) for state in states])
    _, large = _time(_same_work(64, 40, WAYS[1:]))
    return Ladder(adapter, SIZE, BLOBS, rungs, 64, 40, large)


@pytest.fixture(scope="module")
def rungs(ladder):
    return {rung.kernels: rung for rung in ladder.rungs}


def test_the_simple_kernels_evaluate_every_pair(rungs):
    simple = rungs["simple"]
    assert simple.counts.forward == simple.counts.backward == SIZE * SIZE * BLOBS
    assert simple.counts.tests == simple.listed == 0
    # Nine values a Gaussian, and no more than an addition for each wave.
    assert 0 < simple.counts.atomics <= 9 * SIZE * SIZE * BLOBS


def test_every_pixel_of_a_tile_walks_its_list(rungs):
    for kernels in ("tiled", "binned"):
        rung = rungs[kernels]
        width, height = rung.tile
        assert rung.counts.forward == rung.counts.backward
        # The binned kernels take layers two at a time, so each tile may evaluate one that is not there.
        spare = (SIZE // width) * (SIZE // height) if kernels == "binned" else 0
        assert 0 <= rung.counts.forward / (width * height) - rung.listed <= spare
    tiled, binned = rungs["tiled"].counts, rungs["binned"].counts
    width, height = rungs["tiled"].tile
    assert tiled.tests == (SIZE // width) * (SIZE // height) * BLOBS
    assert tiled.reads >= tiled.tests + tiled.forward + tiled.backward
    # Each Gaussian tests a tile before it counts itself in, and once more before it writes itself down; those it touches are fewer.
    assert 2 * rungs["binned"].listed <= binned.tests < tiled.tests
    assert binned.reads == BLOBS


def test_additions_are_counted_where_they_are_made(rungs):
    for kernels in ("simple", "tiled"):
        assert rungs[kernels].counts.tries >= rungs[kernels].counts.atomics
    assert rungs["binned"].counts.tries == rungs["binned"].counts.atomics == 0
    assert 0 < rungs["tiled"].counts.atomics < rungs["simple"].counts.atomics


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


def test_a_rung_says_its_gain_in_its_own_numbers(ladder, rungs):
    panels = drawn(ladder)
    assert [rung["name"] for rung in panels] == list(WAYS)
    assert panels[0]["gain"] == 0
    for before, after in pairwise(panels):
        assert after["gain"] == pytest.approx(before["ms"] / after["ms"])
    assert f"{rungs['tiled'].counts.tests:,} tests" in panels[1]["why"]
    for rung in panels:
        assert rung["ms"] == pytest.approx(sum(ms for _, ms in rung["kernels"]))
        assert [words for words, _, _ in rung["counts"]] == [words for _, words, _ in COUNTED]
    tiled, binned = ladder.large
    assert f"{tiled.total / binned.total:.1f} times faster" in _large(ladder)
    assert 40 <= binned.listed < tiled.listed
