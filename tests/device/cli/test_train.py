"""`splatscope train` as its users call it."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
from PIL import Image

from helpers.patience import PATIENCE
from splatscope.paths import ASSETS
from splatscope.splat.files.compact import load_compact
from splatscope.splat.files.state_file import load_state

PICTURE = ASSETS / "chelsea.jpg"
# With the software driver's optimiser, which the other tests do without: so the kernels train on a machine without a GPU.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "GALLIVM_PERF"}


def call(*arguments, command="train"):
    command = [sys.executable, "-m", "splatscope", command, *map(str, arguments)]
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


def test_a_run_is_resumed_and_rendered_larger(tmp_path):
    out = tmp_path / "run"
    first = call(PICTURE, "--size", "48x32", "--blobs", 80, "--iterations", 20, "--out", out)
    assert first.returncode == 0, first.stderr
    start, end = first.stdout.splitlines()
    assert re.fullmatch(r".*, 48 × 32, 80 Gaussians, binned kernels", start)
    assert re.fullmatch(r"20 iterations in .* s of device time, .* it/s, \d+\.\d\d dB", end)
    again = call("--resume", out / "state.npz", "--iterations", 30, "--out", out, "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout.splitlines()[-1])["iterations"] == load_state((out / "state.npz").read_bytes()).step == 30
    for name in ("state.npz", "compact.npz", "gaussians.ply"):
        drawn = call(out / name, "--scale", 3, "--out", tmp_path / "large.png", command="render")
        assert drawn.returncode == 0, drawn.stderr
        assert drawn.stdout == f"{tmp_path / 'large.png'}: 144 × 96 pixels, 80 Gaussians\n"
        large, picture = Image.open(tmp_path / "large.png"), Image.open(out / "image.png")
        assert large.size == (144, 96)
        assert np.abs(np.asarray(large.resize((48, 32), Image.Resampling.BOX), float) - np.asarray(picture)).mean() < 6
    part = call(out / "state.npz", "--region", "8,4,40,20", "--size", 64, command="render")
    assert part.stdout == f"{out / 'state.npz.png'}: 64 × 32 pixels, 80 Gaussians\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.ply"], "nowhere.ply cannot be read"),
        ([PICTURE], "end in .ply"),
        (["a.splat"], "a.splat: A .splat file does not say"),
        (["a.splat", "--picture", "40"], "--picture takes 2 whole numbers"),
        (["a.splat", "--picture", "40x30", "--region", "1,2"], "--region takes 4 whole numbers"),
        (["a.splat", "--picture", "40x30", "--region", "1,2,1,4"], "left < right"),
        (["a.splat", "--picture", "40x30", "--scale", "2", "--size", "9"], "not both"),
        (["a.splat", "--picture", "40x30", "--out", "a.tiff"], ".png, .jpg or .webp"),
        (["a.splat", "--picture", "40x30", "--out", "a.splat/b.png"], "cannot be written"),
    ],
)
def test_errors_of_rendering_are_one_line(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.splat").write_bytes(bytes(24) + b"\x80\x80\x80\x80\xff\x80\x80\x80")
    done = call(*arguments, command="render")
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_a_folder_is_trained_with_a_line_for_each_picture(tmp_path):
    for name in ("a.png", "b.png"):
        Image.open(PICTURE).resize((40, 28)).save(tmp_path / name)
    (tmp_path / "b.png").write_text("no picture")
    done = call(tmp_path, "--blobs", 20, "--iterations", 10, "--json")
    assert done.returncode == 1, done.stderr
    *pictures, end = map(json.loads, done.stdout.splitlines())
    assert {line["event"] for line in pictures} == {"picture"}
    assert {line["name"]: bool(line["error"]) for line in pictures} == {"a.png": False, "b.png": True}
    assert (end["event"], end["fitted"], end["pictures"]) == ("end", 1, 2)
    assert end["pictures_per_second"] == pytest.approx(1 / end["seconds"])


def test_an_interrupted_run_leaves_its_files(tmp_path):
    command = [sys.executable, "-m", "splatscope", "train", PICTURE, "--size", "48x32", "--iterations", "1000000", "--json"]
    command = ["env", "--default-signal=INT", *command]  # a shell in the background ignores it, and so do its children
    run = subprocess.Popen(
        [*map(str, command), "--out", tmp_path / "run"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout
    try:
        events = [json.loads(run.stdout.readline()) for _ in range(3)]
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=PATIENCE)
    finally:
        run.kill()
    assert [event["event"] for event in events] == ["start", "progress", "progress"]
    assert run.returncode == 130
    assert "Traceback" not in errors
    assert load_state((tmp_path / "run" / "state.npz").read_bytes()).step >= events[-1]["iteration"]


def test_a_terminal_shows_a_bar():
    main, terminal = pty.openpty()
    environment = ENVIRONMENT | {"TERM": "xterm", "COLUMNS": "120"}
    command = [sys.executable, "-m", "splatscope", "train", str(PICTURE), "--size", "48x32", "--blobs", "20", "--iterations", "30"]
    with ThreadPoolExecutor(1) as thread:
        reading = thread.submit(read_terminal, main)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, timeout=120, env=environment)
        os.close(terminal)
        shown = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", reading.result())
    os.close(main)
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 2
    assert re.search(r"training ━+ 30/30 \d+\.\d\d dB, [\d.,]+ it/s", shown)


def read_terminal(main: int) -> str:
    """Return what is written to a terminal until its other end is closed, which is an error on Linux."""
    parts = []
    with suppress(OSError):
        while part := os.read(main, 65_536):
            parts.append(part)
    return b"".join(parts).decode()


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
        ([], "one of the two"),
        ([PICTURE, "--resume", "state.npz"], "one of the two"),
        (["--resume", "nowhere.npz"], "nowhere.npz cannot be read"),
        (["--resume", PICTURE], "chelsea.jpg: "),
        ([PICTURE.parent, "--film", "film.gif"], "neither --film nor --resume"),
        ([os.path.dirname(__file__)], "has no pictures"),
    ],
)
def test_errors_are_one_line(arguments, words):
    done = call(*arguments)
    assert done.returncode == (1 if "abacus" in arguments else 2)
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""
