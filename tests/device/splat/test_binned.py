"""The binned kernels: lists of any length, the picture, and every gradient, for several shapes of tile and wave."""

import functools

import numpy as np
import pytest

import reference
from helpers.gradients import CASES, assert_gradients_agree, differences, start, trainer_of
from splatscope.gpu.buffers import download, upload, zeros
from splatscope.gpu.device import adapter_of
from splatscope.gpu.kernel import compile_kernel, submit
from splatscope.splat import binned
from splatscope.splat.files.state_file import load_state, save_state
from splatscope.splat.trainer import Trainer

GRADIENT = """
import binned_update;
import gaussian;
import parameters;
import scene;

StructuredBuffer<float> summed;
RWStructuredBuffer<float> rawGradient;

[shader("compute")]
[numthreads(64, 1, 1)]
void test(uint gaussian: SV_DispatchThreadID)
{
    if (gaussian >= scene.blobCount)
        return;
    MomentSums sums;
    for (uint i = 0; i < 9; i++)
        sums.v[i] = summed[9 * gaussian + i];
    var raw = diffPair(loadRaw(gaussian, 0));
    bwd_diff(decode)(raw, gradientOf(sums, decode(raw.p)));
    float rows[FIELDS] = rowsOf(raw.d);
    for (uint field = 0; field < FIELDS; field++)
        rawGradient[fieldIndex(field, gaussian)] = rows[field];
}
"""

# (side of a tile, threads a tile): one wave and several, several pixels a lane and one.
SHAPES = [(8, 8), (8, 16), (8, 64), (16, 16), (16, 64)]


def gradients(device, trainer):
    """∂loss/∂raw (9, N) as the next update would take it."""
    count = trainer.state.settings.blobs
    submit(device, trainer.kernels.deriving)
    out = zeros(device, 9 * count)
    model = {"SAMPLE_MODEL": trainer.kernels.constants["SAMPLE_MODEL"]}
    kernel = compile_kernel(device, "test", "test", model, GRADIENT)
    buffers = {"blobsBuffer": trainer.run.raw, "summed": upload(device, trainer.kernels.moments()), "rawGradient": out}
    submit(device, [kernel.bind((count, 1, 1), scene=trainer.run.scene, **buffers)])
    return download(out, np.float32, (9, count))


def load(raw, model, width, height):
    return reference.load_direct(raw) if model == "direct" else reference.load_sample(raw, width, height, 1e-4)


def grid(width, height):
    return np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1).reshape(-1, 2).astype(float)


def l2(color, target):
    return ((color - target) ** 2).sum(axis=-1).mean(axis=(-2, -1))


def l1(color, target):
    return np.abs(color - target).sum(axis=-1).mean(axis=(-2, -1))


def l1_ssim(color, target):
    return 0.8 * l1(color, target) + 0.2 * (1 - reference.ssim(color, target)).sum(axis=-1).mean(axis=(-2, -1))


LOSSES = {"l2": l2, "l1": l1, "l1+ssim": l1_ssim}


def case_of(model, width, height, count, opaque):
    """Raw values (9, N) and a target for a case; the same each time."""
    rng = np.random.default_rng(width * count)
    raw, target = start(model, count, width, height, rng), rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    if opaque:
        raw[8] = 2.5
    return raw, target


@functools.cache
def expected_gradients(model, width, height, count, opaque, background, loss):
    """Central differences (9, N) of a loss, which no shape of a tile changes: every shape is compared with the same ones."""
    raw, target = case_of(model, width, height, count, opaque)
    pixels = grid(width, height)
    seen = reference.bright_enough(load(raw.astype(float), model, width, height), pixels)

    def loss_of(raws):
        g = load(raws, model, width, height)
        color = reference.render_list(g, np.arange(count), pixels, background == "shipped", seen=seen)
        return LOSSES[loss](color.reshape(-1, height, width, 3), target / 255)

    step = 1e-5 if loss == "l2" else 1e-7  # an absolute value has a kink, which a short step rarely meets
    return differences(raw.astype(float), loss_of, step=step)


def check_gradients(device, model, width, height, count, *, opaque=False, background="correct", loss="l2"):
    raw, target = case_of(model, width, height, count, opaque)
    got = gradients(device, trainer_of(device, raw, target, kernels="binned", model=model, background=background, loss=loss))
    assert_gradients_agree(got, expected_gradients(model, width, height, count, opaque, background, loss))


@pytest.mark.parametrize("case", list(CASES))
def test_gradients(device, case):
    check_gradients(device, "direct", **CASES[case])


@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_of_every_shape(device, monkeypatch, shape):
    monkeypatch.setattr(binned, "_sizes", lambda *_: shape)
    check_gradients(device, "direct", 27, 19, 40)


def test_gradients_over_the_shipped_background(device):
    check_gradients(device, "direct", 27, 19, 40, background="shipped")


@pytest.mark.parametrize("loss", ["l1", "l1+ssim"])
@pytest.mark.parametrize("case", list(CASES))
def test_gradients_of_other_losses(device, loss, case):
    check_gradients(device, "direct", **CASES[case], loss=loss)


@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_of_other_losses_for_every_shape(device, monkeypatch, shape):
    monkeypatch.setattr(binned, "_sizes", lambda *_: shape)
    check_gradients(device, "direct", 27, 19, 40, loss="l1+ssim", background="shipped")


@pytest.fixture
def groups(device, monkeypatch):
    """Let workgroups share their Gaussians on any device, as they do on a GPU."""
    if adapter_of(device).wave_size < 8:
        pytest.skip("they need waves of eight lanes")
    monkeypatch.setattr(binned, "_has_groups", lambda run: True)


@pytest.mark.parametrize("case", list(CASES))
def test_gradients_where_workgroups_share_their_gaussians(device, groups, case):
    check_gradients(device, "direct", **CASES[case])


def test_gradients_of_many_sums_that_a_workgroup_adds_up(device, groups, monkeypatch):
    check_gradients_of_large_ones(device, monkeypatch)


def test_gradients_of_sums_that_are_kept_for_several_waves(device, monkeypatch):
    check_gradients_of_large_ones(device, monkeypatch)


def check_gradients_of_large_ones(device, monkeypatch):
    """Several waves share a tile, and every Gaussian lies on so many tiles that one thread does not add up alone what they kept."""
    monkeypatch.setattr(binned, "_sizes", lambda *_: (8, 64))
    rng = np.random.default_rng(12)
    raw, target = start("direct", 12, 70, 51, rng, (2.5, 3.0)), rng.integers(0, 256, (51, 70, 3), dtype=np.uint8)
    trainer = trainer_of(device, raw, target, kernels="binned")
    assert trainer.look().list_lengths.sum() > 16 * 12
    got = gradients(device, trainer)
    g, pixels = reference.load_direct(raw.astype(float)), grid(70, 51)
    seen = reference.bright_enough(g, pixels)

    def loss_of(raws):
        color = reference.render_list(reference.load_direct(raws), np.arange(12), pixels, seen=seen)
        return l2(color.reshape(-1, 51, 70, 3), target / 255)

    assert_gradients_agree(got, differences(raw.astype(float), loss_of))


def trained(device, interrupted=False, **chosen):
    """Raw values after 40 iterations; every Gaussian reaches many tiles, and some lists are longer than a chunk."""
    rng = np.random.default_rng(9)
    target = rng.integers(0, 256, (64, 96, 3), dtype=np.uint8)
    raw = start("direct", 500, 96, 64, rng, (2.5, 3.0))
    raw[8] = -3
    trainer = trainer_of(device, raw, target, kernels="binned", iterations=40, **chosen)
    if interrupted:
        trainer.advance(7)
        trainer.look()
        trainer = Trainer(device, load_state(save_state(trainer.save())))
    trainer.advance(40)
    trainer.look()
    return trainer.save().splats.raw, trainer.state.history[-1]["psnr"]


@pytest.mark.parametrize("loss", LOSSES)
def test_reproducible_runs_are_equal_bit_by_bit(device, loss):
    first, again = trained(device, reproducible=True, loss=loss), trained(device, True, reproducible=True, loss=loss)
    assert first[0].tobytes() == again[0].tobytes()
    assert first[1] == again[1]


def test_runs_with_the_same_looks_are_equal_bit_by_bit(device):
    assert trained(device)[0].tobytes() == trained(device)[0].tobytes()


def test_runs_whose_workgroups_share_their_gaussians_are_equal_bit_by_bit(device, groups):
    assert trained(device)[0].tobytes() == trained(device)[0].tobytes()
    first, again = trained(device, reproducible=True), trained(device, True, reproducible=True)
    assert first[0].tobytes() == again[0].tobytes()


def test_workgroups_make_the_lists_that_threads_make(device, monkeypatch, groups):
    raw = start("direct", 500, 96, 64, np.random.default_rng(9), (0.5, 3.0))
    target, lengths = np.zeros((64, 96, 3), np.uint8), []
    for shared in (True, False):
        monkeypatch.setattr(binned, "_has_groups", lambda run, shared=shared: shared)
        lengths.append(trainer_of(device, raw, target, kernels="binned").look().list_lengths)
    assert np.array_equal(*lengths)


@pytest.mark.parametrize("chosen", [{}, {"reproducible": True}], ids=["fused", "apart"])
def test_the_order_of_the_tiles_changes_no_result(device, monkeypatch, chosen):
    plain = trained(device, **chosen)[0].tobytes()
    steps = binned.BinnedKernels.steps

    def steps_in_order(kernels, first, count):
        if first == 2:  # the first iteration, which is submitted alone, has been projected for
            kernels._order_tiles()
        return steps(kernels, first, count)

    monkeypatch.setattr(binned.BinnedKernels, "steps", steps_in_order)
    assert trained(device, **chosen)[0].tobytes() == plain


def test_the_option_moves_no_run_further_than_rounding(device):
    """After 40 iterations: nine in ten raw values to 1e-2, quality to 0.01 dB."""
    (raw, psnr), (other, other_psnr) = trained(device), trained(device, reproducible=True)
    assert np.quantile(np.abs(raw - other), 0.9) < 1e-2
    assert abs(psnr - other_psnr) < 0.01


def test_a_loss_is_what_its_training_lowers(device):
    rng = np.random.default_rng(8)
    target = rng.integers(0, 256, (6, 8, 3), dtype=np.uint8).repeat(6, 0).repeat(6, 1)
    raw = start("direct", 120, 48, 36, rng, (0.5, 1.2))
    reached = {}
    for loss in LOSSES:
        trainer = trainer_of(device, raw, target, kernels="binned", loss=loss, iterations=150)
        trainer.advance(150)
        picture = trainer.look().picture.astype(float)
        reached[loss] = {name: f(picture, target / 255) for name, f in LOSSES.items()}
    for loss in ("l1", "l1+ssim"):
        assert reached[loss][loss] < 0.99 * reached["l2"][loss]
        assert reached["l2"]["l2"] < 0.99 * reached[loss]["l2"]


def test_lists_longer_than_a_chunk(device):
    """Every Gaussian reaches every tile: 600 ids are walked in several chunks, and none is dropped."""
    width, height, count = 17, 9, 600
    rng = np.random.default_rng(2)
    raw, target = start("direct", count, width, height, rng, (2.0, 3.0)), rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    raw[8] = -4
    trainer = trainer_of(device, raw, target, kernels="binned")
    look = trainer.look()
    assert look.list_lengths.min() > 256
    assert look.overflowed_tiles == 0
    g, pixels = reference.load_direct(raw.astype(float)), grid(width, height)
    seen = reference.bright_enough(g, pixels)
    np.testing.assert_allclose(
        look.picture.reshape(-1, 3), reference.render_list(g, np.arange(count), pixels, seen=seen), atol=1e-4
    )
    blobs = rng.choice(count, 30, replace=False)

    def loss_of(raws):
        color = reference.render_list(reference.load_direct(raws), np.arange(count), pixels, seen=seen)
        return ((color - target.reshape(-1, 3) / 255) ** 2).sum(axis=(1, 2)) / len(pixels)

    assert_gradients_agree(gradients(device, trainer)[:, blobs], differences(raw.astype(float), loss_of, blobs))


def test_the_lists_memory_grows(device, monkeypatch):
    monkeypatch.setattr(binned, "PAIRS_PER_GAUSSIAN", 0)
    count = 900
    raw = start("direct", count, 256, 256, np.random.default_rng(3), (3.5, 4.0))
    trainer = trainer_of(device, raw, np.zeros((256, 256, 3), np.uint8), kernels="binned", size=256)
    look = trainer.look()
    assert look.list_lengths.sum() > 1 << 16
    g, some = reference.load_direct(raw.astype(float)), grid(256, 256)[::997]
    expected = reference.render_list(g, np.arange(count), some, seen=reference.bright_enough(g, some))
    np.testing.assert_allclose(look.picture.reshape(-1, 3)[::997], expected, atol=2e-4)


def test_a_list_is_what_the_ellipse_touches(device):
    """Against brute force: a tile lists a Gaussian if, and nearly only if, one of its pixels sees it."""
    width, height, count = 64, 48, 200
    raw = start("direct", count, width, height, np.random.default_rng(4))
    raw[0:2] += np.random.default_rng(5).normal(0, 8, (2, count)).astype(np.float32)  # some beyond the edge
    trainer = trainer_of(device, raw, np.zeros((height, width, 3), np.uint8), kernels="binned")
    lengths, side = trainer.look().list_lengths, trainer.kernels.tile[0]
    seen = reference.bright_enough(reference.load_direct(raw.astype(float)), grid(width, height)).reshape(count, height, width)
    by_tile = seen.reshape(count, height // side, side, width // side, side).any(axis=(2, 4)).sum(axis=0)
    assert (lengths >= by_tile).all()
    assert lengths.sum() < 1.15 * by_tile.sum()


def test_binned_and_tiled_train_to_the_same_quality(device):
    rng = np.random.default_rng(6)
    target = rng.integers(0, 256, (6, 8, 3), dtype=np.uint8).repeat(6, 0).repeat(6, 1)
    raw = start("direct", 120, 48, 36, rng, (0.5, 1.2))
    quality = {}
    for kind in ("tiled", "binned"):
        trainer = trainer_of(device, raw, target, kernels=kind, iterations=60)
        trainer.advance(60)
        quality[kind] = trainer.look().psnr
    assert abs(quality["tiled"] - quality["binned"]) < 0.5
    assert quality["binned"] > 14


def test_lists_that_were_over_full_train_as_if_they_had_not_been(device, monkeypatch):
    """More memory is made before the first iteration, not only when somebody looks."""
    rng = np.random.default_rng(3)
    raw, target = start("direct", 900, 256, 256, rng, (3.5, 4.0)), rng.integers(0, 256, (256, 256, 3), dtype=np.uint8)
    moved = []
    for room in (0, 256):
        monkeypatch.setattr(binned, "PAIRS_PER_GAUSSIAN", room)
        trainer = trainer_of(device, raw, target, kernels="binned", size=256)
        trainer.advance(1)
        moved.append(trainer.save().splats.raw)
    assert moved[0].tobytes() == moved[1].tobytes()


RATES_OF_FIELDS = (2, 3, 3, 1)  # how many raw values share each rate: position, shape, colour, opacity


@pytest.mark.parametrize(
    "chosen",
    [{}, {"reproducible": True}, {"model": "shipped"}, {"adam": "shipped"}],
    ids=["fused", "apart", "sample", "corrected"],
)
def test_the_update_is_adam(device, chosen):
    """With the gradients that it takes itself, at steps before and after the end of the rates' decay."""
    width, height, count = 27, 19, 40
    raw, target = case_of(chosen.get("model", "direct"), width, height, count, False)
    trainer = trainer_of(device, raw, target, kernels="binned", iterations=10, **chosen)
    settings = trainer.state.settings
    uses_sample = settings.uses_sample_model
    raw, first, second = raw.astype(float), np.zeros((9, count)), np.zeros((9, count))
    for step in (1, 3, 6, 10, 15):  # never the one that follows: the device is told each of them
        gradient = gradients(device, trainer)
        submit(device, [*trainer.kernels.begin(), *trainer.kernels.steps(step, 1)])
        rate = np.repeat(settings.rates(step), RATES_OF_FIELDS)[:, None]
        beta2 = 0.999 if uses_sample else 0.95
        raw, first, second = reference.adam(
            raw, first, second, gradient.astype(float), step, rate, beta2=beta2, sample=settings.uses_sample_adam
        )
        splats = trainer.save().splats
        np.testing.assert_allclose(splats.first_moment, first, rtol=1e-4, atol=1e-6 * np.abs(first).max())
        np.testing.assert_allclose(splats.second_moment, second, rtol=1e-4, atol=1e-6 * np.abs(second).max())
        np.testing.assert_array_less(np.abs(splats.raw - raw), 1e-3 * rate + 1e-6 * np.abs(raw))
        raw, first, second = (array.astype(float) for array in (splats.raw, splats.first_moment, splats.second_moment))
