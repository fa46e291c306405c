"""`splatscope train` as its users call it."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from splatscope.paths import ASSETS
from splatscope.splat.files.compact import load_compact
from splatscope.splat.files.state_file import load_state

PICTURE = ASSETS / "chelsea.jpg"
# With the software driver's optimiser, which the other tests do without: so the kernels train on a machine without a GPU.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "GALLIVM_PERF"}


def call(*arguments):
    command = [sys.executable, "-m", "splatscope.cli.main", "train", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=ENVIRONMENT)


def test_json_lines_and_files(tmp_path):
    out = tmp_path / "run"
    done = call(
        PICTURE,
        "--size",
        "48x32",
        "--blobs",
        80,
        "--iterations",
        30,
        "--seed",
        3,
        "--json",
        "--out",
        out,
        "--film",
        tmp_path / "it.gif",
    )
    assert done.returncode == 0, done.stderr
    start, *progress, end = map(json.loads, done.stdout.splitlines())
    assert start == {"event": "start", "adapter": start["adapter"], "width": 48, "height": 32, "blobs": 80, "kernels": "binned"}
    assert progress
    for line in progress:
        assert set(line) == {"event", "iteration", "seconds", "psnr", "overflowed_tiles"}
        assert line["event"] == "progress"
    assert (end["event"], end["iterations"]) == ("end", 30)
    assert end["iterations_per_second"] == pytest.approx(30 / end["seconds"])
    assert end["psnr"] == progress[-1]["psnr"] > 12
    assert Image.open(out / "image.png").size == (48, 32)
    state = load_state((out / "state.npz").read_bytes())
    assert (state.step, state.settings.seed, state.splats.count) == (30, 3, 80)
    assert b"element vertex 80\n" in (out / "gaussians.ply").read_bytes()
    raw, size = load_compact((out / "compact.npz").read_bytes())
    assert np.allclose(raw, state.splats.raw, atol=0.01)
    assert size == (48, 32)
    film = Image.open(tmp_path / "it.gif")
    assert film.size == (48, 32)
    assert film.n_frames > 10
    film.seek(film.n_frames - 1)
    last, picture = (np.asarray(image.convert("RGB"), float) for image in (film, Image.open(out / "image.png")))
    assert np.abs(last - picture).mean() < 10  # 256 colours
    assert json.loads((out / "report.json").read_text())["psnr"] == end["psnr"]
    target = np.asarray(Image.open(PICTURE).convert("RGB"))
    assert state.target.mean() == pytest.approx(target.mean(), abs=20)


def test_simple_kernels_and_the_shipped_model():
    done = call(PICTURE, "--size", 32, "--blobs", 20, "--iterations", 5, "--kernels", "simple", "--model", "shipped", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["kernels"] == "simple"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.png"], "cannot be read"),
        ([__file__], "PNG, JPEG and WebP are allowed"),
        ([PICTURE, "--size", "9"], "--size"),
        ([PICTURE, "--size", "5000"], "--size"),
        ([PICTURE, "--size", "64x64x64"], "--size"),
        ([PICTURE, "--blobs", "0"], "--blobs"),
        ([PICTURE, "--blobs", "9000000"], "blobs"),
        ([PICTURE, "--kernels", "tiled", "--loss", "l1+ssim"], "choose it, or the binned kernels"),
        ([PICTURE, "--device", "abacus"], "abacus"),
        ([PICTURE, "--film", "film.mov"], ".gif or .webp"),
    ],
)
def test_errors_are_one_line(arguments, words):
    done = call(*arguments)
    assert done.returncode == (1 if "abacus" in arguments else 2)
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""
