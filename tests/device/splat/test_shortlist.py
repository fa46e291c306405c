"""The workgroup's list: gathered, padded, sorted; and what happens when it is full."""

import numpy as np
import pytest

import reference
from helpers.scenes import constants_of, scattered, scene_of
from splatscope.splat.settings import TILES

WIDTH, HEIGHT = 50, 37  # no multiple of any tile

GATHER = """
import shortlist;
import splat;
import workgroup;

RWStructuredBuffer<uint> lists;
RWStructuredBuffer<uint> found;
RWStructuredBuffer<uint> kept;

[shader("compute")]
[numthreads(WG_X, WG_Y, 1)]
void test(uint2 tile: SV_GroupID, uint localIdx: SV_GroupIndex)
{
    InitializedShortList initialized = initShortList(localIdx);
    FilledShortList filled = coarseRasterize(initialized, tileBox(tile), localIdx);
    PaddedShortList padded = padBuffer(filled, localIdx);
    SortedShortList sorted = bitonicSort(padded, localIdx);
    uint index = tile.y * tileCount().x + tile.x;
    for (uint i = localIdx; i < paddedCount(); i += WG_SIZE)
        lists[index * GAUSSIANS_PER_BLOCK + i] = blobs[i];
    if (localIdx == 0)
    {
        found[index] = blobCountAT.load();
        kept[index] = blobCount;
    }
}
"""


def gather(launch, tile, raw):
    tile_width, tile_height, capacity = TILES[tile]
    columns, rows = -(-WIDTH // tile_width), -(-HEIGHT // tile_height)
    tiles = columns * rows
    outputs = dict(lists=(tiles * capacity, np.uint32), found=(tiles, np.uint32), kept=(tiles, np.uint32))
    scene = scene_of(WIDTH, HEIGHT, raw.shape[1])
    lists, found, kept = launch(
        GATHER, (WIDTH, HEIGHT), outputs, constants_of(tile), scene=scene, blobsBuffer=raw.astype(np.float32).reshape(-1)
    )
    return lists.reshape(tiles, capacity), found, kept, columns, rows


def touching(raw, tile, columns, rows):
    """(tiles, N): whether Gaussian and tile touch, by the twin; and by how much the answer would need to move, in pixels."""
    tile_width, tile_height, _ = TILES[tile]
    boxes = reference.bounds(reference.load_direct(raw.astype(np.float32).astype(float)))
    size = np.array([tile_width, tile_height])
    centers = np.array([(x, y) for y in range(rows) for x in range(columns)]) * size + size / 2 - 0.5

    def with_margin(margin):
        half = size / 2 + margin
        tiles = reference.Boxes(
            centers[:, None], np.broadcast_to([1.0, 0.0], (len(centers), 1, 2)), np.broadcast_to(half, (len(centers), 1, 2))
        )
        return reference.intersects(tiles, reference.Boxes(boxes.center[None], boxes.axis[None], boxes.half_size[None]))

    return with_margin(-1e-3), with_margin(1e-3)


@pytest.mark.parametrize("tile", list(TILES))
def test_a_list_holds_what_touches_the_tile_in_order(launch, tile):
    raw = scattered(100, np.random.default_rng(1))
    lists, found, kept, columns, rows = gather(launch, tile, raw)
    surely, perhaps = touching(raw, tile, columns, rows)
    np.testing.assert_array_equal(found, kept)
    assert found.max() > 20
    for row, count, sure, maybe in zip(lists, kept, surely, perhaps, strict=True):
        ids = row[:count]
        assert (np.diff(ids.astype(int)) > 0).all()
        assert set(np.flatnonzero(sure)) <= set(ids.tolist()) <= set(np.flatnonzero(maybe))


@pytest.mark.parametrize("tile", list(TILES))
def test_a_full_list_counts_on_and_keeps_valid_ids(launch, tile):
    capacity = TILES[tile][2]
    raw = scattered(capacity + 300, np.random.default_rng(2), log_size=(3.0, 3.5))  # everything touches every tile
    lists, found, kept, _, _ = gather(launch, tile, raw)
    np.testing.assert_array_equal(found, raw.shape[1])
    np.testing.assert_array_equal(kept, capacity)
    for row in lists:
        assert (np.diff(row.astype(int)) > 0).all()
        assert row.max() < raw.shape[1]


SORT = """
import shortlist;
import workgroup;

StructuredBuffer<uint> keys;
RWStructuredBuffer<uint> sorted;
uniform uint count;

[shader("compute")]
[numthreads(WG_X, WG_Y, 1)]
void test(uint localIdx: SV_GroupIndex)
{
    for (uint i = localIdx; i < count; i += WG_SIZE)
        blobs[i] = keys[i];
    blobCount = count;
    FilledShortList filled = {};
    SortedShortList result = bitonicSort(padBuffer(filled, localIdx), localIdx);
    for (uint i = localIdx; i < count; i += WG_SIZE)
        sorted[i] = blobs[i];
}
"""


@pytest.mark.parametrize("tile", list(TILES))
@pytest.mark.parametrize("fill", [0, 1, 2, 3, 31, 32, 33, 100, 0.5, 1.0])
def test_bitonic_sort_orders_a_list_of_any_length(launch, tile, fill):
    width, height, capacity = TILES[tile]
    count = int(fill * capacity) if isinstance(fill, float) else fill
    keys = np.random.default_rng(count).integers(0, 2**32 - 1, capacity, dtype=np.uint32)
    got = launch(SORT, (width, height), dict(sorted=(capacity, np.uint32)), constants_of(tile), keys=keys, count=count)
    np.testing.assert_array_equal(got[:count], np.sort(keys[:count]))


@pytest.mark.parametrize("order", ["ascending", "descending", "equal"])
def test_bitonic_sort_of_special_orders(launch, order):
    tile = next(iter(TILES))
    width, height, capacity = TILES[tile]
    keys = np.arange(capacity, dtype=np.uint32)
    keys = {"ascending": keys, "descending": keys[::-1].copy(), "equal": np.full_like(keys, 7)}[order]
    got = launch(SORT, (width, height), dict(sorted=(capacity, np.uint32)), constants_of(tile), keys=keys, count=capacity)
    np.testing.assert_array_equal(got, np.sort(keys))
