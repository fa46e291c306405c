"""The training page's uploads and downloads in a real browser: pictures of all kinds, bad files, saving and resuming states."""

import io
import json
import re
import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from helpers.train_page import TrainPage, encoded, ramp, small_state
from splatscope.splat.files.state_file import load_state


@pytest.fixture
def small(turn_to):
    return lambda **settings: TrainPage(turn_to("/app?page=train")).small(**settings)


def upright_on_its_side() -> bytes:
    """Return a JPEG stored as 40 × 24, to be rotated upright according to its EXIF data."""
    exif = Image.Exif()
    exif[0x0112] = 6
    return encoded(ramp(40, 24), "JPEG", exif=exif)


def half_transparent() -> bytes:
    pixels = np.dstack([np.zeros((24, 40, 3), np.uint8), np.zeros((24, 40), np.uint8)])
    pixels[:, :20, 3] = 255  # black at the left, nothing at the right
    return encoded(pixels)


def empty_png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 0, 0, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def edited(state: bytes, **about) -> bytes:
    """Return a state file with other values in its `about`."""
    arrays = dict(np.load(io.BytesIO(state)))
    arrays["about"] = np.frombuffer(json.dumps(json.loads(arrays["about"].tobytes()) | about).encode(), np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def test_pictures_of_every_kind_become_the_target(small):
    at = small(size=64)
    for name, data, size, words in (
        ("half.png", half_transparent(), (40, 24), "laid over white"),
        ("standing.jpg", upright_on_its_side(), (24, 40), "standing.jpg, 24 × 40"),
        ("web.webp", encoded(ramp(36, 20), "WEBP"), (36, 20), "web.webp, 36 × 20"),
        ("thin.png", encoded(ramp(300, 40)), (64, 9), "scaled down from 300 × 40"),
        ("large.jpg", encoded(ramp(3000, 2000), "JPEG"), (64, 43), "scaled down from 3,000 × 2,000"),
        ("<b onclick=x>&.png", encoded(ramp(20, 20)), (20, 20), "<b onclick=x>&.png, 20 × 20"),
    ):
        at.upload("train-upload", name, data)
        at.has_size(*size)
        expect(at.page.locator(".target figcaption")).to_contain_text(words)
        at.has_iteration(0)
        expect(at.controls.get_by_role("combobox", name="Sample picture").locator("option:checked")).to_have_text(name)
        if name == "half.png":
            corners = at.target.evaluate("c => [1, 38].map(x => [...c.getContext('2d').getImageData(x, 5, 1, 1).data])")
            assert corners == [[0, 0, 0, 255], [255, 255, 255, 255]]
    at.page.get_by_test_id("train-step").click()
    at.has_iteration(1)


def test_a_picture_uploaded_while_a_run_goes_on_is_trained_at_once(small):
    at = small()
    at.start()
    at.grows(20)
    at.upload("train-upload", "other.png", encoded(ramp(24, 24)))
    at.has_size(24, 24)
    at.grows(at.grows())
    expect(at.button).to_have_text("Pause")


def test_bad_files_are_refused_in_one_line_while_the_run_goes_on(small, tmp_path):
    png, state = encoded(ramp(40, 24)), small_state()
    at = small()
    huge = tmp_path / "huge.png"
    with huge.open("wb") as file:
        file.truncate(200 * 2**20)  # sparse
    at.start()
    at.grows()
    for testid, name, data, words in (
        ("train-upload", "notes.png", b"not a picture at all", "PNG, JPEG and WebP are allowed"),
        ("train-upload", "cut.png", png[: len(png) // 2], "cut short or damaged"),
        ("train-upload", "empty-sides.png", empty_png(), "allowed"),
        ("train-upload", "rope.png", encoded(ramp(60_000, 10)), "60,000 × 10"),
        ("train-upload", "nothing.png", b"", "nothing.png is empty"),
        ("train-upload", "state.png", state, "PNG, JPEG and WebP are allowed"),
        ("train-resume", "picture.npz", png, "not a Splatscope state file"),
        ("train-resume", "new.npz", edited(state, version=2), "of version 2; this program reads version 1"),
        ("train-resume", "cut.npz", state[: len(state) // 2], "cut short or damaged"),
        ("train-resume", "cut-late.npz", state[:-30], "cut short or damaged"),
        ("train-resume", "nothing.npz", b"", "nothing.npz is empty"),
    ):
        act = lambda testid=testid, name=name, data=data: at.upload(testid, name, data)  # noqa: E731
        at.goes_on_undisturbed(act, name, words)
    at.goes_on_undisturbed(lambda: at.input("train-upload").set_input_files(huge), "huge.png has 200 MB; up to 64 MB are allowed")
    at.goes_on_undisturbed(lambda: at.input("train-resume").set_input_files(huge), "huge.png has 200 MB; up to 64 MB are allowed")
    at.has_size(32, 24)


def test_the_saved_picture_is_a_png_of_the_trainings_size(small):
    at = small()
    at.page.get_by_test_id("train-step").click()
    at.has_iteration(1)
    name, data = at.saved("picture")
    picture = Image.open(io.BytesIO(data))
    assert (name, picture.format, picture.size) == ("ramp-1.png", "PNG", (32, 24))
    error = np.mean((np.asarray(picture.convert("RGB")) / 255.0 - ramp() / 255.0) ** 2)
    assert -10 * np.log10(error) == pytest.approx(at.psnr, abs=0.05)


def test_gaussians_and_film_are_saved_while_the_run_goes_on(small):
    at = small()
    at.start()
    at.grows(5)
    name, data = at.saved_by_button("Save Gaussians (.ply)")
    assert re.fullmatch(r"ramp-\d+\.ply", name)
    head, _, body = data.partition(b"end_header\n")
    assert b"element vertex 20\n" in head
    assert len(body) == 20 * 4 * head.count(b"property float ")
    name, data = at.saved_by_button("Save film (.gif)")
    film = Image.open(io.BytesIO(data))
    assert re.fullmatch(r"ramp-\d+\.gif", name)
    assert (film.format, film.size) == ("GIF", (32, 24))
    assert film.n_frames >= 2
    at.grows()
    expect(at.button).to_have_text("Pause")


@pytest.mark.parametrize("settings", [{}, {"kernels": "simple"}, {"model": "shipped"}], ids=["direct", "simple", "shipped"])
def test_a_saved_state_goes_on_from_exactly_its_bits(small, settings):
    at = small(seed=3, **settings)
    at.start()
    at.grows(5)
    at.pause()
    at.field("Iterations").fill("900000")
    at.field("Iterations").press("Enter")
    name, data = at.saved("state")
    iteration = at.iteration
    assert name == f"ramp-{iteration}.npz"
    saved = load_state(data)
    assert (saved.step, saved.settings.seed, saved.settings.iterations) == (iteration, 3, 900_000)

    at.page.get_by_test_id("train-reset").click()
    at.has_iteration(0)
    at.upload("train-resume", name, data)
    at.has_iteration(iteration)
    expect(at.button).to_have_text("Resume")
    expect(at.field("Seed")).to_have_value("3")
    again = load_state(at.saved("state")[1])
    for field in ("raw", "first_moment", "second_moment"):
        before, after = getattr(saved.splats, field), getattr(again.splats, field)
        assert before.dtype == after.dtype == np.float32
        assert before.tobytes() == after.tobytes(), field
    assert (again.step, again.seconds) == (saved.step, saved.seconds)
    assert again.generator.bit_generator.state == saved.generator.bit_generator.state
    assert np.array_equal(again.target, saved.target)
    at.page.get_by_test_id("train-step").click()
    at.has_iteration(iteration + 1)


def test_a_state_that_the_device_does_not_take_leaves_the_run_as_it_was(small):
    at = small()
    at.start()
    at.grows()
    too_much = edited(small_state(), settings=load_state(small_state()).settings.param.values() | {"size": 4000, "name": "x"})
    at.goes_on_undisturbed(lambda: at.upload("train-resume", "large.npz", too_much), "16 to 1,024 are allowed")
    expect(at.field("Longest side")).to_have_value("32")


def test_a_picture_is_dropped_anywhere_on_the_page(small):
    at = small()
    at.page.get_by_test_id("train-target").evaluate(
        """(el, bytes) => {
        const dropped = new DataTransfer()
        dropped.items.add(new File([Uint8Array.from(bytes)], "dropped.png", {type: "image/png"}))
        for (const kind of ["dragover", "drop"]) {
            const event = new DragEvent(kind, {dataTransfer: dropped, bubbles: true, composed: true, cancelable: true})
            el.dispatchEvent(event)
            if (!event.defaultPrevented) throw new Error(`the browser would take the ${kind}`)
        }
    }""",
        list(encoded(ramp(20, 12))),
    )
    at.has_size(20, 12)
    expect(at.page.locator(".target figcaption")).to_contain_text("dropped.png")
