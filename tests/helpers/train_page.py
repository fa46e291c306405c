"""Helpers for tests of the training page: read what it shows, and start small, quick runs."""

import io
from collections.abc import Callable

import numpy as np
import psutil
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from splatscope.splat.files.state_file import save_state
from splatscope.splat.initialise import start_state
from splatscope.splat.settings import Settings


def ramp(width: int = 32, height: int = 24) -> np.ndarray:
    """Return a picture (height, width, 3) uint8 in which neighbouring pixels and all corners differ."""
    y, x = np.mgrid[:height, :width]
    return np.stack([255 * x / width, 255 * y / height, 40 + 0 * x], axis=-1).astype(np.uint8)


def encoded(pixels: np.ndarray | Image.Image, kind: str = "PNG", **options) -> bytes:
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def small_state(width: int = 32, height: int = 24, **settings) -> bytes:
    """Return the state file of a run before its first iteration."""
    chosen = Settings(**{"size": max(width, height, 16), "blobs": 20, "iterations": 1_000_000} | settings)
    return save_state(start_state(chosen, ramp(width, height), "ramp.png"))


def workers_of(server: str) -> list[psutil.Process]:
    """Return the worker processes of the server at this address."""
    port = server.rpartition(":")[2]
    for process in psutil.process_iter():
        line = said(process)
        if "serve" in line and port in line:
            return [child for child in process.children(recursive=True) if "spawn_main" in " ".join(said(child))]
    raise LookupError(f"no server at {server}")


def said(process: psutil.Process) -> list[str]:
    """Return a process's command line; [] if it has ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


class TrainPage:
    def __init__(self, page: Page):
        self.page = page
        self.frame = page.get_by_test_id("train-frame")
        self.target = page.get_by_test_id("train-target")
        self.button = page.get_by_test_id("train-start")
        self.message = page.get_by_test_id("train-message")
        self.controls = page.get_by_test_id("controls")

    def drawn(self) -> "TrainPage":
        """Wait for the first picture."""
        expect(self.frame).to_have_attribute("data-iteration", "0")
        expect(self.button).to_have_text("Start")
        return self

    def small(self, **settings) -> "TrainPage":
        """Replace the page's first run by a small one."""
        self.drawn().upload("train-resume", "small.npz", small_state(**settings))
        self.has_size(settings.get("width", 32), settings.get("height", 24))
        return self

    @property
    def iteration(self) -> int:
        return int(self.frame.get_attribute("data-iteration"))

    @property
    def psnr(self) -> float:
        return float(self.frame.get_attribute("data-psnr"))

    def has_iteration(self, number: int) -> None:
        expect(self.frame).to_have_attribute("data-iteration", str(number))

    def has_size(self, width: int, height: int) -> None:
        for canvas in (self.frame, self.target):
            expect(canvas).to_have_js_property("width", width)
            expect(canvas).to_have_js_property("height", height)

    def grows(self, past: int | None = None) -> int:
        """Wait until more than `past` iterations (by default: than now) are done, and return their number."""
        past = self.iteration if past is None else past
        self.page.wait_for_function("([el, n]) => +el.dataset.iteration > n", arg=[self.frame.element_handle(), past])
        return self.iteration

    def watch(self) -> None:
        """From now on, append the iteration of each picture to `seen` of the frame, for those shown only for a moment."""
        self.frame.evaluate(
            """frame => {
            frame.seen = []
            new MutationObserver(() => frame.seen.push(+frame.dataset.iteration)).observe(frame, {attributes: true})
        }"""
        )

    def has_seen(self, what: str) -> None:
        """Wait until the frame's `seen` is such that `what` holds, a JavaScript expression."""
        self.page.wait_for_function(f"({{seen}}) => {what}", arg=self.frame.element_handle())

    def start(self) -> None:
        self.button.click()
        expect(self.button).to_have_text("Pause")

    def pause(self) -> int:
        """Pause, wait until the run has stopped, and return its iteration."""
        self.button.click()
        expect(self.button).to_have_text("Resume")
        return self.settled()

    def settled(self) -> int:
        """Save a picture, which completes all earlier requests, and return the iteration in its name."""
        with self.page.expect_download() as download:
            self.page.get_by_test_id("train-save-picture").click()
        iteration = int(download.value.suggested_filename.rpartition("-")[2].removesuffix(".png"))
        self.has_iteration(iteration)
        return iteration

    def field(self, label: str) -> Locator:
        return self.controls.get_by_role("spinbutton", name=label, exact=True)

    def set(self, label: str, value: float) -> None:
        self.field(label).fill(str(value))
        self.field(label).press("Enter")

    def choose(self, label: str) -> None:
        self.controls.get_by_role("radio", name=label, exact=True).click()

    def upload(self, testid: str, name: str, data: bytes) -> None:
        self.input(testid).set_input_files({"name": name, "mimeType": "application/octet-stream", "buffer": data})

    def input(self, testid: str) -> Locator:
        return self.page.get_by_test_id(testid).locator("input[type=file]")

    def saved(self, what: str) -> tuple[str, bytes]:
        """Press "Save …" and return the file's name and bytes."""
        with self.page.expect_download() as download:
            self.page.get_by_test_id(f"train-save-{what}").click()
        return download.value.suggested_filename, download.value.path().read_bytes()

    def saved_by_button(self, words: str) -> tuple[str, bytes]:
        """Press a save button among the settings and return the file's name and bytes."""
        with self.page.expect_download() as download:
            self.controls.get_by_role("button", name=words).click()
        return download.value.suggested_filename, download.value.path().read_bytes()

    def says(self, words: str) -> None:
        expect(self.message).to_contain_text(words)
        assert "\n" not in self.message.inner_text().strip()

    def goes_on_undisturbed(self, act: Callable[[], None], *words: str) -> None:
        """Check that an action is refused, with a message that has all `words`, and does not affect a running training."""
        before = self.iteration
        act()
        for some in words:
            self.says(some)
        expect(self.button).to_have_text("Pause")
        assert self.grows() > before
