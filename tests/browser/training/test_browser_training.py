"""Training on the reader's own GPU: on the training page, on the home page, and in a published book."""

import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

import reference
import splatscope
from helpers.chromium import DEVICES
from helpers.patience import PATIENCE
from helpers.published import hosted, write_book
from helpers.stepping import ready
from splatscope.gpu.device import open_device
from splatscope.paths import ASSETS
from splatscope.splat.files.ply import to_ply
from splatscope.splat.initialise import start_state
from splatscope.splat.settings import Settings
from splatscope.splat.thumbnail import Thumbnail
from splatscope.splat.trainer import Trainer
from splatscope.web.training.browser_training import FIRST

SIZE = 64  # pixels of the longest side
# Whether a run that the browser has kept has more iterations.
KEEPS_MORE_THAN = """(iterations) => new Promise((answer) => {
  indexedDB.open("splatscope").onsuccess = ({target: {result: database}}) => {
    if (!database.objectStoreNames.contains("runs")) return answer(false)
    database.transaction("runs").objectStore("runs").getAll().onsuccess = ({target: {result: runs}}) => {
      database.close()
      answer(runs.some(({state}) => state.iteration > iterations))
    }
  }
})"""
BLOBS, ITERATIONS = 256, 150
SEEDS = range(1, 5)
PIXELS = """(el) => {
  const copy = new OffscreenCanvas(el.width, el.height).getContext("2d")
  copy.drawImage(el, 0, 0)
  return [...copy.getImageData(0, 0, el.width, el.height).data]
}"""  # of a copy: Chromium warns of a canvas that is read often


@contextmanager
def tab(gpu_browser: Browser, address: str, width: int = 1440, height: int = 900) -> Iterator[Page]:
    """Open an address in a browser with WebGPU, and assert that nothing went wrong there."""
    with gpu_browser.new_context(viewport={"width": width, "height": height}) as context:
        context.set_default_timeout(1000 * PATIENCE)
        page = context.new_page()
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda line: wrong.append(line.text) if line.type in ("error", "warning") else None)
        page.goto(address)
        yield page
        assert not wrong


def run_of(page: Page) -> Locator:
    """Return the run in the browser, once it has drawn its first picture."""
    run = page.locator(".browser-run")
    expect(run.get_by_test_id("browser-frame")).to_have_attribute("data-iteration", re.compile(r"\d+"))
    return run


def set_number(run: Locator, name: str, value: int) -> None:
    """Type a number into a field of the settings."""
    field = run.get_by_role("spinbutton", name=name, exact=True)
    field.fill(str(value))
    field.press("Enter")


def small(run: Locator) -> None:
    """Choose a small picture, few Gaussians and a short run."""
    set_number(run, "Longest side", SIZE)
    expect(run.locator(".target figcaption")).to_contain_text(f"{SIZE} × ")
    set_number(run, "Number", BLOBS)
    set_number(run, "Iterations", ITERATIONS)
    expect(run.get_by_test_id("browser-frame")).to_have_attribute("data-iteration", "0")


def psnr_of(run: Locator) -> float:
    return float(run.get_by_test_id("browser-frame").get_attribute("data-psnr") or 0)


def iteration_of(run: Locator) -> int:
    return int(run.get_by_test_id("browser-frame").get_attribute("data-iteration") or 0)


@pytest.fixture
def training(gpu_browser: Browser, server: str) -> Iterator[Locator]:
    """The run in the browser on the training page."""
    with tab(gpu_browser, f"{server}/app?page=train") as page:
        page.get_by_test_id("train-device").select_option("browser")
        yield run_of(page)


@pytest.mark.parametrize("growth", [False, True])
def test_it_reaches_what_the_server_reaches(training, growth):
    small(training)
    if not growth:
        training.get_by_role("radiogroup", name="Growth").get_by_role("radio", name="Off").click()
    frame, target = training.get_by_test_id("browser-frame"), target_of(training)
    here, there = [], []
    for seed in SEEDS:
        set_number(training, "Seed", seed)
        expect(frame).to_have_attribute("data-iteration", "0")
        training.get_by_test_id("train-start").click()
        expect(frame).to_have_attribute("data-iteration", str(ITERATIONS))
        here.append(psnr_of(training))
        settings = Settings(size=SIZE, blobs=BLOBS, iterations=ITERATIONS, growth=growth, seed=seed)
        trainer = Trainer(open_device(), start_state(settings, target, FIRST))
        trainer.advance(ITERATIONS)
        there.append(trainer.look().psnr)
    # The two draw their starts differently, among which runs of so small a picture differ by up to a decibel.
    assert np.mean(here) == pytest.approx(np.mean(there), abs=0.3)


def target_of(run: Locator) -> np.ndarray:
    """Return the target that the browser has, (H, W, 3) uint8."""
    canvas = run.get_by_test_id("browser-target")
    size = canvas.evaluate("el => [el.height, el.width]")
    data = canvas.evaluate(PIXELS)
    return np.array(data, np.uint8).reshape(*size, 4)[..., :3].copy()


def test_nothing_is_asked_of_the_server_while_it_trains(training):
    small(training)
    asked: list[str] = []
    training.page.on("request", lambda request: asked.append(request.url) if not request.url.startswith("blob:") else None)
    training.get_by_test_id("train-start").click()
    expect(training.get_by_test_id("browser-frame")).to_have_attribute("data-iteration", str(ITERATIONS))
    assert not asked


def test_it_pauses_steps_and_begins_anew(training):
    frame = training.get_by_test_id("browser-frame")
    training.get_by_test_id("train-start").click()
    expect(frame).not_to_have_attribute("data-iteration", "0")
    training.get_by_test_id("train-start").click()
    expect(training.get_by_test_id("train-start")).to_have_text("Resume")
    expect(training.get_by_test_id("train-heard")).to_contain_text("Paused at")
    paused = iteration_of(training)
    training.get_by_test_id("train-step").click()
    expect(frame).to_have_attribute("data-iteration", str(paused + 1))
    training.get_by_test_id("train-reset").click()
    expect(frame).to_have_attribute("data-iteration", "0")
    training.get_by_test_id("train-undo").click()
    expect(frame).to_have_attribute("data-iteration", str(paused + 1))


def test_the_tiled_kernels_train_without_waves(training):
    small(training)
    training.get_by_role("radiogroup", name="Kernels").get_by_role("radio", name="Tiled").click()
    set_number(training, "Iterations", 12)
    before = psnr_of(training)
    training.get_by_test_id("train-start").click()
    expect(training.get_by_test_id("browser-frame")).to_have_attribute("data-iteration", "12")
    assert psnr_of(training) > before + 1


def test_pictures_that_are_shown_are_exact(training):
    """PSNR is that of the pixels on the screen, to which nothing is lost."""
    small(training)
    training.get_by_test_id("train-start").click()
    frame = training.get_by_test_id("browser-frame")
    expect(frame).to_have_attribute("data-iteration", str(ITERATIONS))
    data = frame.evaluate(PIXELS)
    target = target_of(training)
    shown = np.array(data, np.uint8).reshape(*target.shape[:2], 4)[..., :3]
    error = ((shown / 255.0 - target / 255.0) ** 2).mean()
    rounding = 1 / (12 * 255**2)  # to steps of 1/255
    assert error == pytest.approx(10 ** (-psnr_of(training) / 10) + rounding, rel=0.02)


def download(run: Locator, button: str) -> Path:
    """Press a button of the settings that saves a file, and return the file."""
    with run.page.expect_download() as saved:
        run.get_by_role("button", name=button).click()
    return saved.value.path()


def saves_its_gaussians(run: Locator, folder: Path) -> None:
    """Save the Gaussians of a short run, and assert that the library reads them and draws the picture that is shown."""
    small(run)
    set_number(run, "Iterations", 12)  # the same in each run of the tests: of others, a layer may be within rounding of being seen
    run.get_by_test_id("train-start").click()
    expect(run.get_by_test_id("browser-frame")).to_have_attribute("data-iteration", "12")
    saved = download(run, "Save Gaussians (.ply)")
    file = folder / "saved.ply"
    file.write_bytes(saved.read_bytes())
    splats = splatscope.load_splats(file)
    target = target_of(run)
    assert (splats.width, splats.height) == target.shape[1::-1]
    assert to_ply(splats.raw, (splats.width, splats.height)).partition(b"end_header")[0] in file.read_bytes()
    shown = run.get_by_test_id("browser-frame").evaluate(PIXELS)
    shown = np.array(shown, np.uint8).reshape(*target.shape[:2], 4)[..., :3]
    assert np.abs(255 * splats.render().clip(0, 1) - shown).max() < 1.5


def test_the_book_follows_a_picture_that_was_trained_here(training):
    page = training.page
    small(training)
    follow = training.get_by_test_id("follow-picture")
    expect(follow).to_be_hidden()
    training.get_by_test_id("train-start").click()
    expect(training.get_by_test_id("browser-frame")).to_have_attribute("data-iteration", str(ITERATIONS))
    width, height = training.get_by_test_id("browser-target").evaluate("el => [el.width, el.height]")
    follow.click()
    strip = page.locator("[data-page=gaussian]").get_by_test_id("your-pixel")
    expect(strip).to_have_attribute("data-shown", "true")
    expect(strip).to_have_attribute("data-pixel", f"{width // 2},{height // 2}")
    name = strip.get_attribute("data-picture")
    expect(page).to_have_url(re.compile(f"picture={name}"))
    ready(page)
    page.get_by_role("navigation").get_by_role("link", name="Blending", exact=True).click()
    expect(page.locator("[data-page=blending]").get_by_test_id("your-pixel")).to_have_attribute("data-picture", name)


@pytest.mark.parametrize("kernels", ["Binned", "Tiled"])
def test_a_pixel_of_the_run_is_opened_beside_its_picture(training, kernels):
    """Its layers, blended, are the colour that the run's own kernels have drawn there."""
    small(training)
    training.get_by_role("radiogroup", name="Kernels").get_by_role("radio", name=kernels).click()
    set_number(training, "Iterations", 12)
    training.get_by_test_id("train-start").click()
    frame = training.get_by_test_id("browser-frame")
    expect(frame).to_have_attribute("data-iteration", "12")
    address = training.page.url
    picture, story = training.get_by_test_id("train-pixel"), training.get_by_test_id("pixel-story")
    expect(story).to_be_hidden()
    box = picture.bounding_box()
    picture.click(position={"x": 0.3 * box["width"], "y": 0.6 * box["height"]})
    expect(story).to_have_attribute("data-layers", re.compile("[1-9]"))
    expect(story).to_contain_text("are blended here")
    assert training.page.url == address  # the server is not asked for a tile
    told = [int(part) for part in story.locator(".story-sum .num").last.inner_text().split()]
    data = np.array(frame.evaluate(PIXELS), np.uint8).reshape(*target_of(training).shape[:2], 4)
    height, width = data.shape[:2]
    assert np.abs(told - data[int(0.6 * height), int(0.3 * width), :3].astype(int)).max() <= 1
    picture.press("ArrowRight")
    picture.press("Enter")
    expect(story.locator("canvas")).to_have_attribute(
        "aria-label", f"The picture around pixel ({int(0.3 * width) + 1}, {int(0.6 * height)})"
    )


def test_its_gaussians_are_saved_for_viewers(training, tmp_path):
    saves_its_gaussians(training, tmp_path)


def trains_on(run: Locator) -> bool:
    """Wait until a run is further than it is. Return whether it trains then."""
    frame, before = run.get_by_test_id("browser-frame"), iteration_of(run)
    run.page.wait_for_function("([el, before]) => Number(el.dataset.iteration) > before", arg=[frame.element_handle(), before])
    return run.get_by_test_id("train-start").inner_text() == "Pause"


def test_a_tab_that_is_not_shown_trains_and_one_that_was_frozen_goes_on(training):
    small(training)
    set_number(training, "Iterations", 5000)
    training.get_by_test_id("train-start").click()
    assert trains_on(training)
    page = training.page
    page.evaluate("() => { window.requestAnimationFrame = () => 0 }")  # a hidden tab gets no frames
    assert trains_on(training)
    session = page.context.new_cdp_session(page)
    session.send("Page.setWebLifecycleState", {"state": "frozen"})
    page.wait_for_timeout(1000)
    session.send("Page.setWebLifecycleState", {"state": "active"})
    assert trains_on(training)
    expect(training.get_by_test_id("train-message")).to_be_empty()


def test_a_run_outlives_the_loss_of_its_gpu(gpu_browser, server):
    with tab(gpu_browser, f"{server}/app?page=nowhere") as page:
        page.add_init_script(DEVICES)
        page.goto(f"{server}/app?page=train")
        page.get_by_test_id("train-device").select_option("browser")
        run = run_of(page)
        small(run)
        set_number(run, "Iterations", 5000)
        run.get_by_test_id("train-start").click()
        assert trains_on(run)
        page.evaluate("() => devices.at(-1).destroy()")
        expect(run.get_by_test_id("train-message")).to_contain_text("The browser lost its GPU")
        stopped, reached = iteration_of(run), psnr_of(run)
        assert stopped > 0
        run.get_by_test_id("train-start").click()
        assert trains_on(run)
        expect(run.get_by_test_id("train-message")).to_be_empty()
        assert psnr_of(run) > reached - 0.5, "it goes on, and does not begin anew"


def test_a_picture_that_is_too_large_is_refused_and_nothing_is_lost(training, tmp_path):
    small(training)
    training.get_by_test_id("train-step").click()
    expect(training.get_by_test_id("browser-frame")).to_have_attribute("data-iteration", "1")
    file = tmp_path / "poster.png"
    file.write_bytes(huge_png(60_000, 60_000))
    training.get_by_test_id("browser-upload").locator("input").set_input_files(file)
    expect(training.get_by_test_id("train-message")).to_contain_text(
        "poster.png is no picture that this browser can read, or too large"
    )
    assert iteration_of(training) == 1


def huge_png(width: int, height: int) -> bytes:
    """Return a small file that says it is a picture of this size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes(10_000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def test_the_page_shows_what_the_server_trains_again(training):
    page = training.page
    page.get_by_test_id("train-device").select_option("server")
    expect(training).to_be_hidden()
    expect(page.get_by_test_id("train-frame")).to_be_visible()


def test_a_file_that_is_no_picture_is_refused_in_one_line(training, tmp_path):
    file = tmp_path / "notes.jpg"
    file.write_text("no picture")
    training.get_by_test_id("browser-upload").locator("input").set_input_files(file)
    expect(training.get_by_test_id("train-message")).to_contain_text("notes.jpg is no picture that this browser can read")


@pytest.fixture
def photograph(tmp_path: Path) -> Path:
    """A small photograph."""
    file = tmp_path / "mine.png"
    Image.open(ASSETS / FIRST).resize((90, 60)).save(file)
    return file


def trains_a_photograph(page: Page, photograph: Path) -> None:
    """Drop a photograph on the home page, and assert that it trains."""
    page.get_by_test_id("home-drop").locator("input").set_input_files(photograph)
    run = run_of(page)
    expect(run.locator(".target figcaption")).to_contain_text("mine.png, 90 × 60")
    expect(run.get_by_test_id("browser-frame")).not_to_have_attribute("data-iteration", "0")
    first = psnr_of(run)
    run.page.wait_for_function(
        "([el, first]) => Number(el.dataset.psnr) > first + 1", arg=[run.get_by_test_id("browser-frame").element_handle(), first]
    )


def test_a_photograph_that_is_dropped_on_the_home_page_trains_there(gpu_browser, server, photograph):
    with tab(gpu_browser, f"{server}/app") as page:
        trains_a_photograph(page, photograph)


def test_a_run_outlives_a_reload_and_a_look_at_another_page(training):
    small(training)
    set_number(training, "Iterations", 5000)
    training.get_by_test_id("train-start").click()
    page, frame = training.page, training.get_by_test_id("browser-frame")
    page.wait_for_function("el => Number(el.dataset.iteration) > 20", arg=frame.element_handle())
    page.wait_for_function(KEEPS_MORE_THAN, arg=20)
    page.reload()
    run = run_of(page)
    expect(page.get_by_test_id("train-device")).to_have_value("browser")
    expect(run.locator(".target figcaption")).to_contain_text(f"{SIZE} × ")
    kept = iteration_of(run)
    assert kept > 20
    page.wait_for_function("([el, kept]) => Number(el.dataset.iteration) > kept", arg=[frame.element_handle(), kept])  # it goes on
    run.get_by_test_id("train-start").click()
    expect(run.get_by_test_id("train-heard")).to_contain_text("Paused at")
    paused = iteration_of(run)
    page.get_by_role("link", name="Claims").first.click()
    expect(page.locator("[data-page=claims]")).to_be_visible()
    page.go_back()
    expect(run_of(page).get_by_test_id("browser-frame")).to_have_attribute("data-iteration", str(paused))
    expect(run.get_by_test_id("train-start")).to_have_text("Resume")


def test_the_photograph_of_the_home_page_outlives_a_reload(gpu_browser, server, photograph):
    with tab(gpu_browser, f"{server}/app") as page:
        trains_a_photograph(page, photograph)
        run = run_of(page)
        run.get_by_test_id("train-start").click()
        expect(run.get_by_test_id("train-heard")).to_contain_text("Paused at")
        paused = iteration_of(run)
        page.reload()
        expect(run_of(page).get_by_test_id("browser-frame")).to_have_attribute("data-iteration", str(paused))
        expect(run.locator(".target figcaption")).to_contain_text("mine.png, 90 × 60")


def test_a_second_photograph_takes_the_place_of_the_first_at_once(gpu_browser, server, photograph, tmp_path):
    other = tmp_path / "other.png"
    Image.open(photograph).rotate(90, expand=True).save(other)
    with tab(gpu_browser, f"{server}/app") as page:
        trains_a_photograph(page, photograph)
        run = run_of(page)
        page.get_by_test_id("home-drop").locator("input").set_input_files(other)
        frame = run.get_by_test_id("browser-frame")
        expect(frame).to_have_js_property("height", 90)
        assert iteration_of(run) < 100
        expect(run.get_by_test_id("train-undo")).to_be_visible()
        expect(run.get_by_test_id("train-start")).to_have_text("Pause")
        run.locator("summary", has_text="Settings").click()
        run.get_by_role("radiogroup", name="Kernels").get_by_role("radio", name="Tiled").click()
        page.get_by_test_id("home-drop").locator("input").set_input_files(photograph)
        expect(frame).to_have_js_property("height", 60)
        expect(frame).not_to_have_attribute("data-iteration", "0")


def test_a_file_that_is_no_picture_opens_no_empty_run(gpu_browser, server, tmp_path):
    file = tmp_path / "notes.jpg"
    file.write_text("no picture")
    with tab(gpu_browser, f"{server}/app") as page:
        page.get_by_test_id("home-drop").locator("input").set_input_files(file)
        expect(page.get_by_text("notes.jpg is no picture that this browser can read")).to_be_visible()
        expect(page.locator(".browser-run")).to_have_count(0)


@pytest.mark.parametrize("number", [-5, 99_999_999])
def test_numbers_that_are_not_allowed_are_refused_and_change_nothing(training, number):
    set_number(training, "Number", number)
    expect(training.locator("#note-blobs")).to_have_text(f"Number cannot be {number}: whole numbers from 1 to 16,384 are allowed.")
    expect(training.get_by_role("spinbutton", name="Number", exact=True)).to_have_value("2048")
    training.get_by_test_id("train-step").click()
    expect(training.get_by_test_id("browser-frame")).to_have_attribute("data-iteration", "1")


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published book with the training page."""
    folder = tmp_path_factory.mktemp("book") / "book"
    write_book(folder, "train")
    return folder


@pytest.mark.parametrize("where", ["disk", "host"])
def test_a_published_book_trains_without_any_server(gpu_browser, book, photograph, tmp_path, where):
    with hosted(book) as host:
        base = f"{book.as_uri()}/" if where == "disk" else host
        with tab(gpu_browser, f"{base}index.html") as page:
            trains_a_photograph(page, photograph)
        with tab(gpu_browser, f"{base}index.html?page=train") as page:
            run = run_of(page)
            expect(run.locator(".target figcaption")).to_contain_text(FIRST)
            run.get_by_test_id("train-start").click()
            expect(run.get_by_test_id("browser-frame")).not_to_have_attribute("data-iteration", "0")
            run.get_by_test_id("train-start").click()
            expect(run.get_by_test_id("train-heard")).to_contain_text("Paused at")
            saves_its_gaussians(run, tmp_path)


def test_the_sliders_of_a_published_book_blend_by_the_kernel(gpu_browser, book):
    with hosted(book) as host, tab(gpu_browser, f"{host}train.html") as page:
        cup = page.get_by_test_id("live-render").first
        cup.get_by_role("slider").evaluate("el => { el.value = 300; el.dispatchEvent(new Event('input', {bubbles: true})) }")
        canvas = cup.locator("canvas")
        expect(canvas).to_have_attribute("data-count", "300")
        drawn = canvas.evaluate(PIXELS)
        assert np.abs(np.reshape(drawn, (-1, 4))[:, :3] - blended_of_coffee(300)).max() < 1.5


def blended_of_coffee(count: int) -> np.ndarray:
    """Return the colours (pixels, 3) of the cup of coffee with the first Gaussians alone, 0 to 255."""
    thumbnail = Thumbnail.load(ASSETS / "coffee.npz")
    rows, columns = np.mgrid[: thumbnail.height, : thumbnail.width]
    pixels = np.stack([columns.ravel(), rows.ravel()], axis=-1)
    expected = 255 * reference.render_list(reference.load_direct(thumbnail.raw.astype(float)), np.arange(count), pixels)
    return np.clip(expected, 0, 255)


def test_finished_pictures_of_a_published_book_are_taken_apart_by_their_sliders(gpu_browser, book):
    with hosted(book) as host, tab(gpu_browser, f"{host}index.html?page=train") as page:
        renders = page.get_by_test_id("live-render")
        expect(renders.locator("canvas[data-count='2048']")).to_have_count(4)
        astronaut = page.get_by_role("img", name="An astronaut").locator("xpath=../..")
        whole = astronaut.locator("canvas").evaluate("el => el.toDataURL()")
        astronaut.locator("input").press("ArrowLeft")
        expect(astronaut.locator("canvas")).to_have_attribute("data-count", "2047")
        astronaut.locator("input").press("Home")
        expect(astronaut.locator("canvas")).to_have_attribute("data-count", "1")
        assert astronaut.locator("canvas").evaluate("el => el.toDataURL()") != whole
        expect(renders.locator("canvas[data-count='2048']")).to_have_count(3)


def test_without_webgpu_pictures_train_on_the_server(visit):
    page = visit("/app?page=train")
    expect(page.get_by_test_id("train-device")).to_have_value("server")
    expect(page.get_by_text("This browser offers no GPU (WebGPU), so pictures train on the server.")).to_be_visible()
    assert page.get_by_test_id("train-device").locator("option[value=browser]").is_disabled()
