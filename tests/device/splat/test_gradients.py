"""Every gradient of every raw value of a Gaussian, against float64 central differences of the twin's loss.

The bar, for each of the nine kinds of raw value: |g − g64| ≤ 1e-5·max|g|, and ≤ 1e-3 of its own value wherever |g| > 1e-3·max|g|.
The lists are taken from the very dispatch that computed the gradients: which Gaussians a full one kept is the device's choice.
"""

import numpy as np
import pytest

import reference
from helpers.gradients import CASES, FIELD_NAMES, assert_gradients_agree, differences, start, trainer_of
from helpers.scenes import constants_of, scene_of
from splatscope.gpu.buffers import download
from splatscope.gpu.kernel import submit
from splatscope.splat.settings import TILES

DERIVE_AND_TELL = """
import shortlist;
import splat;
import workgroup;

RWStructuredBuffer<uint> lists;
RWStructuredBuffer<uint> kept;

[shader("compute")]
[numthreads(WG_X, WG_Y, 1)]
void test(uint2 pixel: SV_DispatchThreadID, uint2 tile: SV_GroupID, uint localIdx: SV_GroupIndex)
{
    bwd_diff(loss)(pixel, tile, localIdx, all(pixel < scene.size) ? 1.f / (scene.size.x * scene.size.y) : 0.f);
    uint index = tile.y * tileCount().x + tile.x;
    GroupMemoryBarrierWithGroupSync();
    for (uint i = localIdx; i < blobCount; i += WG_SIZE)
        lists[index * GAUSSIANS_PER_BLOCK + i] = blobs[i];
    if (localIdx == 0)
        kept[index] = blobCount;
}
""".replace("import splat;", "import scene;\nimport splat;")


# On pictures this small the shipped scale of 1e-4 would make Gaussians a fifth of a pixel wide, where float32 has no 1e-5 to give.
SCALE = 5e-3


def load(raw, model, width, height):
    return reference.load_direct(raw) if model == "direct" else reference.load_sample(raw, width, height, SCALE)


def tile_pixels(index, tile, width, height):
    tile_width, tile_height, _ = TILES[tile]
    columns = -(-width // tile_width)
    x, y = index % columns * tile_width, index // columns * tile_height
    grid = np.stack(np.meshgrid(np.arange(x, min(x + tile_width, width)), np.arange(y, min(y + tile_height, height))), -1)
    return grid.reshape(-1, 2)


def tiled_loss(raws, target, tile, model, lists, kept, sample_background):
    height, width, _ = target.shape
    g = load(raws, model, width, height)
    total = np.zeros(len(raws))
    for index, (row, count) in enumerate(zip(lists, kept, strict=True)):
        pixels = tile_pixels(index, tile, width, height)
        color = reference.render_list(g, row[:count], pixels.astype(float), sample_background)
        total += ((color - target[pixels[:, 1], pixels[:, 0]]) ** 2).sum(axis=(1, 2))
    return total / (width * height)


@pytest.mark.parametrize("tile", list(TILES))
@pytest.mark.parametrize("model", ["direct", "shipped"])
@pytest.mark.parametrize("case", list(CASES))
def test_tiled(launch, tile, model, case):
    check_tiled(launch, tile, model, **CASES[case])


@pytest.mark.parametrize("tile", list(TILES))
def test_tiled_with_tree_reduction(launch, tile):
    check_tiled(launch, tile, "direct", 27, 19, 40, sum_by="tree")


def test_tiled_over_the_background_of_the_sample(launch):
    check_tiled(launch, next(iter(TILES)), "direct", 27, 19, 40, sample_background=True)


@pytest.mark.parametrize("tile", list(TILES))
def test_tiled_with_full_lists(launch, tile):
    capacity = TILES[tile][2]
    kept = check_tiled(launch, tile, "direct", 17, 9, capacity + 40, size=(2.0, 3.0), faint=True, sample=60)
    assert kept.max() == capacity


def check_tiled(
    launch,
    tile,
    model,
    width,
    height,
    count,
    *,
    sum_by="wave",
    opaque=False,
    faint=False,
    sample_background=False,
    size=(0.3, 2.2),
    sample=None,
):
    rng = np.random.default_rng(width * count)
    raw, target = start(model, count, width, height, rng, size), rng.random((height, width, 4)).astype(np.float32)
    if opaque and model == "direct":
        raw[8] = 2.5
    elif opaque:
        raw[8], raw[2:4], raw[0:2] = 0.85, 0.99, rng.uniform(0.45, 0.55, (2, count))  # wide, and one over the other
    if faint:
        raw[8] = -4
    tile_width, tile_height, capacity = TILES[tile]
    tiles = -(-width // tile_width) * -(-height // tile_height)
    model_constants = {"WAVE_SUM": int(sum_by == "wave"), "SAMPLE_MODEL": int(model == "shipped"), "SAMPLE_SCALE": SCALE}
    bits, lists, kept = launch(
        DERIVE_AND_TELL,
        (width, height),
        dict(derivBuffer=(9 * count, np.uint32), lists=(tiles * capacity, np.uint32), kept=(tiles, np.uint32)),
        constants_of(tile) | model_constants,
        scene=scene_of(width, height, count, sample_background=sample_background),
        blobsBuffer=raw.reshape(-1),
        targetBuffer=target.reshape(-1, 4),
    )
    blobs = np.arange(count) if sample is None else rng.choice(count, sample, replace=False)
    args = (target[..., :3].astype(float), tile, model, lists.reshape(tiles, capacity), kept, sample_background)
    expected = differences(raw.astype(float), lambda raws: tiled_loss(raws, *args), blobs)
    assert_gradients_agree(bits.view(np.float32).reshape(9, count)[:, blobs], expected)
    return kept


def trainer_gradients(device, trainer):
    submit(device, trainer.kernels.iteration[:-1])
    return download(trainer.kernels.gradient, np.float32, (9, trainer.state.settings.blobs))


@pytest.mark.parametrize("model", ["direct", "shipped"])
def test_simple(device, model):
    width, height, count = 27, 19, 24
    rng = np.random.default_rng(8)
    raw, target = start(model, count, width, height, rng), rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    got = trainer_gradients(device, trainer_of(device, raw, target, kernels="simple", model=model))
    pixels = np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1).reshape(-1, 2)

    def loss_of(raws):
        color = reference.render_list(load(raws, model, width, height), np.arange(count), pixels.astype(float), guard=False)
        return ((color - target.reshape(-1, 3) / 255) ** 2).sum(axis=(1, 2)) / len(pixels)

    assert_gradients_agree(got, differences(raw.astype(float), loss_of))


def test_the_trainer_dispatches_the_gradients_that_were_checked(device):
    """computeDerivativesMain, cleared before, equals simpleDerivativesMain where boxes cut nothing off and no pixel saturates."""
    width, height, count = 27, 19, 24
    rng = np.random.default_rng(9)
    raw, target = start("direct", count, width, height, rng, (2.2, 3.0)), rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    raw[8] = -2
    tiled, simple = (trainer_gradients(device, trainer_of(device, raw, target, kernels=k)) for k in ("tiled", "simple"))
    for name, a, b in zip(FIELD_NAMES, tiled, simple, strict=True):
        assert np.abs(a - b).max() < 2e-3 * np.abs(b).max(), name
