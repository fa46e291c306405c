"""Pictures fitted from a script: results, files, resumed runs, and many pictures at once."""

import csv
import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import psutil
import pytest
from PIL import Image

import reference
import splatscope
from helpers.scenes import direct_raw
from splatscope.api import device_calls
from splatscope.gpu.device import open_device
from splatscope.paths import ASSETS, CHECKOUT
from splatscope.splat.files.animation import Animation
from splatscope.splat.files.state_file import load_state

PICTURE = ASSETS / "chelsea.jpg"
SMALL = {"gaussians": 60, "iterations": 40, "size": (40, 28)}


@pytest.fixture(scope="module")
def fitted():
    return splatscope.fit(PICTURE, **SMALL, every=10)


def expected(splats: splatscope.Splats, region: tuple[float, float, float, float], scale: float) -> np.ndarray:
    """Return a part of a picture as NumPy draws it: the Gaussians as they are, at the places of the result's pixels."""
    left, top, right, bottom = region
    width, height = round((right - left) * scale), round((bottom - top) * scale)
    x, y = np.meshgrid(left + (np.arange(width) + 0.5) / scale - 0.5, top + (np.arange(height) + 0.5) / scale - 0.5)
    pixels = np.stack([x.ravel(), y.ravel()], -1)
    gaussians = reference.load_direct(splats.raw.astype(float))
    seen = reference.bright_enough(gaussians, pixels)
    colours = reference.render_list(gaussians, np.arange(splats.count), pixels, seen=seen)
    return colours.reshape(height, width, 3)


def test_a_result_is_the_picture_and_its_gaussians(fitted):
    assert fitted.picture.shape == fitted.target.shape == (28, 40, 3)
    assert (fitted.picture.dtype, fitted.target.dtype) == (np.float32, np.uint8)
    assert (fitted.count, fitted.iteration, fitted.iterations) == (60, 40, 40)
    assert fitted.history["iteration"].tolist() == [0, 10, 20, 30, 40]
    difference = np.clip(fitted.picture.astype(float), 0, 1) - fitted.target / 255
    assert fitted.psnr == fitted.history["psnr"][-1] == pytest.approx(-10 * np.log10(np.mean(difference**2)), abs=1e-3)
    assert fitted.psnr > fitted.history["psnr"][0] + 5
    np.testing.assert_allclose(fitted.picture, expected(fitted, (0, 0, 40, 28), 1), atol=2e-4)
    with Image.open(PICTURE) as image:
        assert np.abs(fitted.target - np.asarray(image.resize((40, 28)), float)).mean() < 20


def test_parameters_are_named_and_in_their_units(fitted):
    values = fitted.parameters
    assert all((value.dtype, value.shape) == (np.float32, (60,)) for value in values.values())
    ellipse = reference.load_direct(fitted.raw.astype(float))
    np.testing.assert_allclose(np.stack([values["x"], values["y"]], -1), ellipse.center, rtol=1e-6)
    np.testing.assert_allclose(np.stack([values[name] for name in ("red", "green", "blue")], -1), ellipse.color, rtol=1e-6)
    np.testing.assert_allclose(values["opacity"], ellipse.opacity, rtol=1e-6)
    axis = np.stack([np.cos(values["angle"]), np.sin(values["angle"])], -1)
    along = ellipse.conic[:, 0] * axis[:, 0] ** 2 + 2 * ellipse.conic[:, 1] * axis.prod(1) + ellipse.conic[:, 2] * axis[:, 1] ** 2
    np.testing.assert_allclose(values["size_1"], along**-0.5, rtol=1e-3)


@pytest.mark.parametrize(
    ("how", "region", "scale"),
    [
        ({}, (0, 0, 40, 28), 1),
        ({"scale": 3}, (0, 0, 40, 28), 3),
        ({"size": 90}, (0, 0, 40, 28), 2.25),
        ({"region": (10, 5, 22, 14)}, (10, 5, 22, 14), 1),
        ({"region": (10.5, 5, 22.5, 14), "scale": 4}, (10.5, 5, 22.5, 14), 4),
        ({"region": (-4, -4, 4, 4), "size": 40}, (-4, -4, 4, 4), 5),
    ],
)
def test_a_part_is_drawn_at_any_size(how, region, scale):
    raw = direct_raw(np.random.default_rng(3), 80)
    splats = splatscope.Splats(raw, 40, 28)
    np.testing.assert_allclose(splats.render(**how), expected(splats, region, scale), atol=5e-4)


def test_a_large_picture_is_drawn_block_by_block(monkeypatch):
    raw = direct_raw(np.random.default_rng(4), 80)
    splats, device = splatscope.Splats(raw, 40, 28), open_device()
    whole = splats.render(scale=2, device=device)
    monkeypatch.setattr("splatscope.splat.drawing.BLOCK", 32)
    np.testing.assert_allclose(splats.render(scale=2, device=device), whole, atol=1e-4)


def test_a_smaller_picture_has_no_gaussian_that_slips_between_its_pixels(fitted):
    small = fitted.render(scale=0.5)
    assert small.shape == (14, 20, 3)
    assert np.abs(small - fitted.picture.reshape(14, 2, 20, 2, 3).mean((1, 3))).mean() < 0.06


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"size": 9, "scale": 2}, "not both"),
        ({"scale": 0}, "above 0"),
        ({"scale": float("nan")}, "above 0"),
        ({"size": -3}, "above 0"),
        ({"region": (5, 5, 5, 9)}, "left < right"),
        ({"region": (0, 0, float("inf"), 9)}, "four numbers"),
        ({"region": (1, 2, 3)}, "four numbers"),
        ({"region": "1,2,3,4"}, "four numbers"),
        ({"size": (20, 30)}, "longer side"),
        ({"scale": 1000}, "too many"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line(fitted, how, words):
    with pytest.raises(ValueError, match=words) as refused:
        fitted.render(**how)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("name", "apart"), [("a.npz", 0.0), ("a.ply", 1e-4), ("a.compact.npz", 0.02)])
def test_a_file_is_the_same_picture(fitted, tmp_path, name, apart):
    fitted.save(tmp_path / "deep" / name)
    splats = splatscope.load_splats(tmp_path / "deep" / name)
    assert type(splats) is splatscope.Splats
    assert (splats.count, splats.width, splats.height) == (60, 40, 28)
    assert np.abs(splats.render() - fitted.picture).max() <= apart


def test_a_splat_file_needs_the_size_of_its_picture(tmp_path):
    raw = direct_raw(np.random.default_rng(5), 30)
    splats = splatscope.Splats(raw, 40, 28)
    splats.save(tmp_path / "a.splat")
    with pytest.raises(ValueError, match=r"a\.splat: .* give its size"):
        splatscope.load_splats(tmp_path / "a.splat")
    back = splatscope.load_splats(tmp_path / "a.splat", size=(40, 28))
    assert np.abs(back.render() - splats.render()).max() < 0.05


def test_the_samples_model_is_kept_as_the_same_ellipses(tmp_path):
    for kernels in ("binned", "simple"):
        result = splatscope.fit(PICTURE, gaussians=30, iterations=20, size=48, model="shipped", kernels=kernels)
        result.save(tmp_path / "a.npz")
        loaded = splatscope.load_splats(tmp_path / "a.npz")
        for splats in (result, loaded):
            assert np.abs(splats.render() - result.picture).mean() < 0.02


def test_a_resumed_run_is_the_run_that_was_not_stopped(tmp_path):
    chosen = SMALL | {"gaussians": 300, "reproducible": True, "every": 7}
    whole = splatscope.fit(PICTURE, **chosen)
    stopped = splatscope.fit(PICTURE, **chosen, callback=lambda result: result.iteration >= 14)
    assert (stopped.iteration, stopped.iterations) == (14, 40)
    stopped.save(tmp_path / "run.npz")
    for resume in (stopped, tmp_path / "run.npz", str(tmp_path / "run.npz")):
        resumed = splatscope.fit(resume=resume, every=7)
        assert resumed.iteration == 40
        assert resumed.raw.tobytes() == whole.raw.tobytes()
        assert resumed.picture.tobytes() == whole.picture.tobytes()
        assert resumed.history["psnr"].tolist() == whole.history["psnr"].tolist()
    assert stopped.iteration == 14  # it is as it was


def test_a_finished_run_goes_on_if_it_gets_more_iterations(fitted):
    same = splatscope.fit(resume=fitted)
    assert same.iteration == 40
    assert same.picture.tobytes() == fitted.picture.tobytes()
    more = splatscope.fit(resume=fitted, iterations=60, rate_colour=0.02)
    assert (more.iteration, more.state.settings.rate_colour, more.count) == (60, 0.02, 60)
    assert more.psnr > fitted.psnr


def test_a_callback_sees_the_run_from_its_start_and_may_end_it(tmp_path):
    seen = []
    result = splatscope.fit(
        np.asarray(Image.open(PICTURE).resize((40, 28))), **SMALL, every=8, film=tmp_path / "a.gif", callback=seen.append
    )
    assert [one.iteration for one in seen if one.iteration % 8 == 0] == [0, 8, 16, 24, 32, 40]
    assert all(isinstance(one, splatscope.Fit) and one.picture.shape == (28, 40, 3) for one in seen)
    assert seen[-1].psnr == result.psnr
    assert len(seen[0].history) == 1
    with Image.open(tmp_path / "a.gif") as film:
        due = Animation()
        for iteration in range(40):
            due.take(iteration, np.zeros((8, 8, 3)))
        assert film.n_frames == len(due) + 1


def test_an_open_device_trains_in_this_process():
    device, seen = open_device(), []
    result = splatscope.fit(PICTURE, **SMALL, device=device, callback=seen.append)
    assert result.adapter == device.info.adapter_name
    assert [one.iteration for one in seen[:3]] == [0, 2, 4]
    assert seen[0].state.generator is not seen[-1].state.generator
    assert seen[0].raw.tobytes() != seen[-1].raw.tobytes()
    np.testing.assert_allclose(result.render(device=device), result.picture, atol=1e-6)


def test_an_error_of_the_callback_is_raised_and_the_next_call_works():
    def fail(_result):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        splatscope.fit(PICTURE, **SMALL, callback=fail)
    assert splatscope.fit(PICTURE, **SMALL).iteration == 40


def test_a_lost_worker_leaves_the_training_so_far():
    def kill(result):
        if result.iteration:
            for child in psutil.Process().children():
                if "splatscope.api.workers" in child.cmdline():
                    child.send_signal(signal.SIGKILL)

    with pytest.raises(splatscope.FitError, match="SIGKILL") as lost:
        splatscope.fit(PICTURE, gaussians=60, iterations=100_000, size=40, every=50, callback=kill)
    assert lost.value.result.iteration >= 50
    assert splatscope.fit(resume=lost.value.result, iterations=lost.value.result.iteration + 5).iteration >= 55


def test_a_device_that_does_not_answer_is_given_up(monkeypatch):
    monkeypatch.setattr(device_calls, "LIMIT", 3.0)
    with pytest.raises(splatscope.FitError, match="did not answer for 3 s"):
        splatscope.fit(PICTURE, gaussians=5000, iterations=100_000, size=512, every=90_000)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({}, ValueError, "one of the two"),
        ({"image": PICTURE, "resume": PICTURE}, ValueError, "one of the two"),
        ({"image": PICTURE, "gaussians": 0}, ValueError, "^gaussians must be at least 1, not 0"),
        ({"image": PICTURE, "gaussians": 1.5}, ValueError, "^gaussians must be an integer"),
        ({"image": PICTURE, "iterations": -1}, ValueError, "^iterations must be at least 1"),
        ({"image": PICTURE, "kernels": "fast"}, ValueError, "^kernels .*fast"),
        ({"image": PICTURE, "colour": 1}, TypeError, "no setting “colour”. There is adam, background, gaussians, "),
        ({"image": PICTURE, "size": 5}, ValueError, "from 16 to 4,096"),
        ({"image": PICTURE, "size": (32, 32, 32)}, ValueError, "from 16 to 4,096"),
        ({"image": PICTURE, "size": 64.0}, ValueError, "from 16 to 4,096"),
        ({"image": PICTURE, "every": 0}, ValueError, "every 1"),
        ({"image": PICTURE, "every": 2.5}, ValueError, "every 1"),
        ({"image": PICTURE, "film": "a.mov"}, ValueError, ".gif or .webp"),
        ({"image": PICTURE, "kernels": "tiled", "loss": "l1"}, ValueError, "choose it, or the binned kernels"),
        ({"image": PICTURE, "device": "abacus"}, splatscope.DeviceError, "abacus"),
        ({"image": __file__}, ValueError, "PNG, JPEG and WebP"),
        ({"resume": __file__}, ValueError, "test_fit.py: .*not a Splatscope state"),
        ({"resume": "nowhere.npz"}, ValueError, "nowhere.npz cannot be read"),
    ],
)
def test_errors_are_one_line(arguments, error, words):
    with pytest.raises(error, match=words) as refused:
        splatscope.fit(**arguments)
    assert "\n" not in str(refused.value)


def test_a_resumed_run_keeps_what_it_was_started_with(fitted):
    for change, words in (({"gaussians": 61}, "gaussians"), ({"seed": 4, "loss": "l1"}, "loss, seed"), ({"size": 40}, "size")):
        with pytest.raises(ValueError, match=f"keeps its {words}"):
            splatscope.fit(resume=fitted, **change)
    assert splatscope.fit(resume=fitted, gaussians=60).iteration == 40


@pytest.mark.parametrize("raw", [np.zeros((9, 0)), np.zeros((8, 3)), np.zeros(9), 7])
def test_an_array_of_another_shape_is_refused(raw):
    with pytest.raises(ValueError, match=r"shape \(9, N\)"):
        splatscope.Splats(raw, 40, 28)


def test_gaussians_are_made_from_any_numbers():
    raw = direct_raw(np.random.default_rng(6), 30)
    splats = splatscope.Splats(np.asfortranarray(raw.astype(float))[:, 5:], 40, 28)
    assert splats.raw.dtype == np.float32
    np.testing.assert_array_equal(splats.render(), splatscope.Splats(raw[:, 5:], 40, 28).render())


def test_numbers_may_be_those_of_numpy(tmp_path):
    result = splatscope.fit(PICTURE, gaussians=np.int64(9), iterations=np.uint8(4), size=np.int32(40), every=np.int64(2))
    assert (result.count, result.width, result.history["iteration"].tolist()) == (9, 40, [0, 2, 4])
    result.save_all(tmp_path)


def test_a_run_is_written_as_a_folder(fitted, tmp_path):
    fitted.save_all(tmp_path / "run")
    assert load_state((tmp_path / "run" / "state.npz").read_bytes()).step == 40
    assert json.loads((tmp_path / "run" / "report.json").read_text())["psnr"] == fitted.psnr
    for name in ("state.npz", "gaussians.ply", "compact.npz"):
        assert splatscope.load_splats(tmp_path / "run" / name).count == 60
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="cannot be written"):
        fitted.save_all(tmp_path / "file" / "run")
    with pytest.raises(ValueError, match="end in"):
        fitted.save(tmp_path / "a.png")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    for number, name in enumerate(("a.png", "a.jpg", "=c.png", "d.webp")):
        Image.open(PICTURE).rotate(90 * number).resize((40, 28)).save(folder / name)
    (folder / "broken.png").write_bytes((folder / "a.png").read_bytes()[:200])
    (folder / "notes.txt").write_text("no picture")
    return folder


def test_a_folder_is_fitted_and_a_picture_that_cannot_be_read_is_a_row(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SPLATSCOPE_WORKERS", "2")
    seen = []
    table = splatscope.fit_many(folder, gaussians=40, iterations=20, out=tmp_path, callback=seen.append)
    assert [row.name for row in table.rows] == ["=c.png", "a.jpg", "a.png", "broken.png", "d.webp"]
    assert {row.name: row for row in seen} == {row.name: row for row in table.rows}
    broken = table.rows[3]
    assert re.search("cut short or damaged", broken.error)
    assert (table.fitted, len(table.rows)) == (4, 5)
    for row in table.rows:
        if row is not broken:
            assert (row.width, row.height, row.gaussians, row.error) == (40, 28, 40, "")
            assert row.psnr > 10
    assert table.pictures_per_second == pytest.approx(4 / table.seconds)
    assert "4 of 5 pictures" in str(table)
    rows = list(csv.DictReader((tmp_path / "table.csv").open(encoding="utf-8")))
    assert [row["name"] for row in rows] == ["'=c.png", "a.jpg", "a.png", "broken.png", "d.webp"]
    assert rows[3]["error"] == broken.error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["=c", "a", "a-2", "d", "table.csv"]
    saved = splatscope.load_splats(tmp_path / "a-2" / "state.npz")
    alone = splatscope.fit(folder / "a.png", gaussians=40, iterations=20)
    np.testing.assert_allclose(saved.render(), alone.picture, atol=0.02)


def test_many_are_fitted_by_a_script_without_a_guard_and_from_arrays(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, splatscope\n"
        "print('begin')\n"
        "table = splatscope.fit_many([np.full((20, 24, 3), 0.5), 7, 'nowhere.png'], gaussians=10, iterations=5)\n"
        "for row in table.rows: print(row.name, row.width, row.error)\n"
    )
    environment = os.environ | {"SPLATSCOPE_WORKERS": "2"}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=150, env=environment, cwd=tmp_path)
    assert done.stderr == ""
    begin, first, second, third = done.stdout.splitlines()
    assert (begin, first) == ("begin", "picture 1 24 ")
    assert second.startswith("picture 2 0 An array of shape ()")
    assert re.fullmatch(r"nowhere\.png 0 .*nowhere\.png cannot be read: No such file or directory\.", third)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"images": "nowhere"}, "nowhere cannot be read"),
        ({"images": CHECKOUT / "docs" / "images" / "none"}, "cannot be read"),
        ({"images": [], "gaussians": 0}, "gaussians must be"),
        ({"images": [PICTURE], "gaussians": 100_000, "kernels": "simple"}, "too many"),
        ({"images": [PICTURE], "device": "abacus"}, "abacus"),
    ],
)
def test_many_are_refused_at_once_if_none_could_be_fitted(arguments, words, monkeypatch):
    monkeypatch.setenv("SPLATSCOPE_WORKERS", "2")
    with pytest.raises((ValueError, splatscope.DeviceError), match=words) as refused:
        splatscope.fit_many(**arguments)
    assert "\n" not in str(refused.value)


def test_the_examples_of_the_documentation_run(tmp_path):
    with Image.open(PICTURE) as image:
        image.save(tmp_path / "photo.jpg")
        (tmp_path / "pictures").mkdir()
        image.resize((40, 28)).save(tmp_path / "pictures" / "a.png")
    text = (CHECKOUT / "docs" / "api.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", text[text.index("## `splatscope.fit(") :], re.DOTALL)
    examples = [example for example in examples if "panel" not in example]
    assert len(examples) == 2
    shapes = "print(result.picture.shape, result.parameters['opacity'].shape, large.shape, more.iteration, eye.shape)\n"
    (tmp_path / "script.py").write_text("".join([*examples, shapes]))
    environment = {name: value for name, value in os.environ.items() if name != "GALLIVM_PERF"} | {"SPLATSCOPE_WORKERS": "2"}
    command = [sys.executable, "script.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, env=environment, cwd=tmp_path)
    assert done.stderr == ""
    first, *_, shown = done.stdout.splitlines()
    assert first.startswith("Fit: 1,000 Gaussians, 256 × 170 pixels, 500 of 500 iterations, ")
    assert shown == "(170, 256, 3) (1000,) (680, 1024, 3) 800 (512, 512, 3)"
    assert (tmp_path / "fitted" / "a" / "state.npz").exists()


def test_importing_the_package_loads_neither_numpy_nor_a_device():
    code = "import splatscope, sys; print(sorted({'numpy', 'slangpy', 'param', 'PIL', 'rich'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
