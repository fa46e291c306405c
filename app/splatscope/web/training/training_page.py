"""The training page: fit a picture with 2D Gaussians, live."""

from collections.abc import Callable
from functools import cache, partial
from html import escape
from typing import Any

import numpy as np
import panel as pn

from splatscope.paths import ASSETS
from splatscope.splat.files.images import MAX_BYTES, LoadedImage, encode, read_picture
from splatscope.splat.progress_report import ProgressReport
from splatscope.splat.settings import LIVE, TILES, Settings
from splatscope.splat.state import TrainingState
from splatscope.web.assets import address
from splatscope.web.drawing.chart import Chart
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import Page
from splatscope.web.training.browser_training import FIRST, SAMPLES, BrowserTraining, rates
from splatscope.web.training.charts import NO_LISTS, NO_TIMES, KernelTimes, ListLengths, Quality
from splatscope.web.training.kernel_comparison import KernelComparison
from splatscope.web.training.list_reader import ListReader
from splatscope.web.training.parts import RunBar, SaveButtons, Text, TrainingPicture
from splatscope.web.training.tile_view import TileView
from splatscope.web.training.training_session import TrainingSession
from splatscope.web.widgets.controls import Controls, action, choice, group, menu, number, slider, switch, upload
from splatscope.web.widgets.frame import Frame
from splatscope.web.widgets.upload import Upload
from splatscope.workers import worker_pool

QUALITY = "Chart of PSNR and loss over iterations"

HTML = """
<h1 class="train-title">Fit a picture with Gaussians</h1>
<div class="browser-at" data-slot="browser"></div>
<div class="train">
  <div class="train-bar" data-slot="bar"></div>
  <div class="left">
    <div class="pics"><div data-slot="picture"></div>
      <figure class="pic target"><figcaption><b>Target</b><span class="crumb" data-slot="caption"></span></figcaption>
        <div class="frame" data-slot="target"><img src="TARGET" alt="The target"></div></figure></div>
    <p class="hint pixel-hint">Choose a pixel to see what it is made of, and to step through the program that draws it.
      <a href="?page=glossary#term-psnr">PSNR</a>, in decibels (dB), says how close the picture is to its target. Higher is closer;
      6 dB more halves the typical error.</p>
    <div class="charts">
      <section class="panel chart" aria-label="PSNR and loss over iterations">
        <h2>PSNR and loss <span>over iterations</span></h2>
        <div data-slot="quality-key" aria-hidden="true"></div>
        <div class="plot" aria-hidden="true"><div data-slot="quality" inert></div></div>
        <div class="sr" data-slot="quality-words"></div></section>
      <section class="panel chart" aria-label="Time by kernel">
        <h2>Time by kernel <span>ms</span></h2>
        <div class="plot" data-slot="times"></div>
        <div data-slot="times-words"></div></section>
      <section class="panel chart" aria-label="List length by tile">
        <h2>List length <span>by tile</span></h2>
        <div class="lists-map"><div data-slot="lists" inert aria-hidden="true"></div><div data-slot="list-reader"></div></div>
        <div class="ramp" data-slot="list-scale"></div>
        <div class="ramp" data-slot="list-words"></div></section>
    </div>
  </div>
  <aside data-slot="controls"></aside>
  <div class="ladder-at" data-slot="comparison"></div>
</div>
<div class="tile-at"><div data-slot="tile-bar"></div><div class="story-at" data-slot="story"></div>
  <div class="bench-at" data-slot="tile"></div></div>
"""

PICTURE_KEYS = [
    ("E", "Picture or error"),
    ("G", "Show or hide the Gaussians"),
    ("← → ↑ ↓", "In the picture: choose a pixel; with Shift: a tile"),
    ("Enter", "In the picture: show what the pixel is made of"),
]
KEYS = [("Space", "Start or pause"), ("→", "One iteration"), ("R", "Reset"), *PICTURE_KEYS]


def train(location: Location) -> Page:
    """Build the page. Meanwhile, a worker reads and draws the first picture."""
    return TrainingView(location).page


class TrainingView:
    """The parts of the page. It is the observer of a `TrainingSession`, which does the training."""

    def __init__(self, location: Location):
        """Build all parts; `location` is the page's address."""
        self.document = pn.state.curdoc
        self.session = TrainingSession(worker_pool, self)
        self.tile_view = TileView(location, self.session, KEYS, PICTURE_KEYS)
        self.bar = RunBar(self.session)
        self.picture = TrainingPicture(data={"testid": "train-frame"}, alt="The picture as the Gaussians draw it now")
        self.target = Frame(data={"testid": "train-target"}, alt="The target")
        self.caption = Text()
        self.quality, self.times, self.lists = Quality(), KernelTimes(), ListLengths()
        self.list_scale, self.list_words = Text(), Text(html=NO_LISTS)
        self.quality_key, self.quality_words = Text(html=self.quality.key), Text(html=_chart(QUALITY))
        self.kernel_times, self.kernel_words = Text(html=NO_TIMES), Text()
        self.list_reader = ListReader()
        self.controls = self._controls()
        self.save_buttons = SaveButtons(self.session)
        self.browser = BrowserTraining(self._moved, server="The server’s device")
        self.comparison = KernelComparison()
        asked = location.inputs.get("sample", "")
        self._linked = asked if asked in SAMPLES else ""
        first = _first_picture()
        self._show_target(first.pixels, first.name, first.note)
        self.page = Page(
            page="train",
            html=HTML.replace("TARGET", address(FIRST)),
            keys=KEYS,
            actions=[self.save_buttons],
            slots={
                "browser": self.browser,
                "bar": self.bar,
                "picture": self.picture,
                "caption": self.caption,
                "target": self.target,
                "quality-key": self.quality_key,
                "quality": Chart(self.quality.plot),
                "quality-words": self.quality_words,
                "times": self.kernel_times,
                "times-words": self.kernel_words,
                "lists": Chart(self.lists.plot),
                "list-reader": self.list_reader,
                "list-scale": self.list_scale,
                "list-words": self.list_words,
                "controls": self.controls,
                "comparison": self.comparison,
                "tile-bar": self.tile_view.bar,
                "story": self.tile_view.story,
                "tile": self.tile_view.stepper,
            },
        )
        self.page.on_close(self.session.close)
        self.page.on_close(self.controls.close)
        self.page.on_close(self.tile_view.close)
        self.page.on_close(self.comparison.close)
        pn.state.onload(lambda: self.session.begin(_sample(self._linked or FIRST)))
        pn.state.onload(lambda: self.tile_view.follow(location.inputs))

    def _controls(self) -> Controls:
        p = self.session.settings.param
        groups = [
            group(
                "Picture",
                menu("sample", "Sample picture", [(name, name.rpartition(".")[0].capitalize()) for name in SAMPLES]),
                upload("picture", "Upload a picture", "image/png,image/jpeg,image/webp", MAX_BYTES, "train-upload"),
                number(p.size),
            ),
            group("Gaussians", slider(p.blobs, low=16, high=65_536, log=True), number(p.seed), switch(p.growth)),
            group("Kernels", choice(p.kernels)),
            group("Loss", choice(p.loss)),
            rates(p),
            group(
                "Iterations and files",
                number(p.iterations),
                action("save-picture", "Save picture", on_phones=True),
                action("save-state", "Save state", on_phones=True),
                action("save-gaussians", "Save Gaussians (.ply)"),
                action("save-film", "Save film (.gif)"),
                upload("state", "Resume from a state file", ".npz", MAX_BYTES, "train-resume"),
            ),
            group(
                "Variants",
                choice(p.model),
                slider(p.rate_shipped, low=0.0002, high=0.05, log=True),
                choice(p.background),
                choice(p.adam),
                choice(p.tile, as_menu=True),
                choice(p.gradient_sum),
                switch(p.reproducible),
                folded=True,
            ),
        ]
        uploads = {"picture": self.session.use_picture, "state": self.session.use_state}
        return Controls(self._change, uploads, groups=groups, values=self._values(), notes=self._notes())

    def _change(self, name: str, value: Any) -> None:
        if name == "sample":
            if value in SAMPLES:
                self.session.use_picture(_sample(value))
        elif name in ("save-picture", "save-state", "save-gaussians", "save-film"):
            self.save_buttons.act(name)
        elif name.endswith("!"):  # the browser refused a file
            self.session.tell(str(value)[:200])
        else:
            if name not in LIVE:  # the times of the kernels before are not those of the next
                self.kernel_times.html, self.kernel_words.html = NO_TIMES, ""
            self.session.change(name, value)
            self.controls.tell(self._values(), self._notes())

    def _moved(self, here: bool) -> None:
        """Pause while the reader trains in the browser."""
        self.save_buttons.elsewhere = here
        if here:
            self.session.pause()

    # The methods of `Observer`.

    @property
    def watched(self) -> bool:
        """Whether the picture is seen."""
        return self.picture.watched

    def changed(self) -> None:
        """Show the session's attributes."""
        self._soon(self._show_run)

    def began(self, state: TrainingState) -> None:
        """Show the target of another run."""
        self._soon(partial(self._show_start, state))

    def reported(self, report: ProgressReport) -> None:
        """Show a report of the run."""
        self._soon(partial(self._show_report, report))

    def _soon(self, draw: Callable[[], None]) -> None:
        # This runs under the document's lock, so that everything drawn in one turn is sent in one message.
        assert self.document is not None
        self.document.add_next_tick_callback(draw)

    def _show_run(self) -> None:
        session = self.session
        reading = self.bar.reading | {"iterations": session.settings.iterations}
        state = {"running": session.running, "settled": session.settled, "busy": session.busy, "message": session.message}
        state |= {"key": session.key, "stored": session.is_stored}
        before = session.before.report.iteration if session.before is not None else 0
        self.bar.param.update(**state, reading=reading, before=before)
        self.picture.tile = list(TILES[session.settings.tile][:2])
        self.controls.tell(self._values(), self._notes())

    def _show_target(self, pixels: np.ndarray, name: str, note: str = "") -> None:
        height, width, _ = pixels.shape
        self.caption.html = f"{escape(_short(name))}, {width} × {height}{f', {note}' if note else ''}"
        target = encode(pixels, "PNG")
        self.target.show(target)
        self.picture.param.update(target=target, sample=name if name in SAMPLES else "")

    def _show_start(self, state: TrainingState) -> None:
        self._show_target(state.target, state.target_name, self.session.note)
        adapter = self.session.run.adapter if self.session.run else None
        assert adapter is not None  # the run has made its first report
        self.save_buttons.param.update(
            adapter=adapter.short_name, adapter_words=f"{adapter.name}, {adapter.backend}, waves of {adapter.wave_size} lanes"
        )
        self.controls.tell(self._values(), self._notes())
        self.tile_view.look_again()

    def _show_report(self, report: ProgressReport) -> None:
        self.picture.report(report)
        speed = report.iterations_per_second or self.bar.reading.get("speed", 0.0)
        if report.iteration == 0:
            speed = 0.0
        self.bar.reading = {
            "iteration": report.iteration,
            "iterations": self.session.settings.iterations,
            "psnr": report.psnr,
            "speed": speed,
            "seconds": report.seconds,
        }
        self.quality_words.html = _chart(QUALITY, self.quality.show(self.session.history))
        self.quality_key.html = self.quality.key
        self.kernel_times.html = self.times.show(report.kernel_ms) or NO_TIMES
        self.kernel_words.html = self.times.explain()
        self.list_scale.html = self.lists.show(report)
        self.list_words.html = self.lists.explain(report)
        self.list_reader.show(report)

    def _values(self) -> dict[str, Any]:
        values = {name: value for name, value in self.session.settings.param.values().items() if name != "name"}
        # Growth is off where it does nothing, whatever was chosen.
        return values | {"sample": self.session.source_name or FIRST, "growth": self.session.settings.grows}

    def _notes(self) -> dict[str, str]:
        kernels = {
            "simple": "Every Gaussian for every pixel, differentiated by the compiler. Small pictures and few Gaussians only.",
            "tiled": "A short sorted list for each tile, and the blend undone on the way back.",
            "binned": "Each Gaussian finds its own tiles; sums are made in registers. Lists have any length.",
        }
        losses = {
            "l2": "Squared differences: large errors count most.",
            "l1": "Absolute differences: each error counts by its size.",
            "l1+ssim": "Absolute differences, and a share of SSIM, which compares the structure of small neighbourhoods.",
        }
        settings = self.session.settings
        growth = "All Gaussians are there from the first iteration on."
        if settings.grows:
            growth = (
                "A tenth of the Gaussians at first; the others are added where the error is largest, and later those that are "
                "needed least move there."
            )
        elif settings.growth:
            growth = "Only the binned kernels add Gaussians, and not in the sample's model."
        return {"kernels": kernels[settings.kernels], "loss": losses[settings.loss], "growth": growth}


@cache
def _first_picture() -> LoadedImage:
    """Return the picture that a page begins with: one of the app's files, which is shown before there is a worker."""
    return read_picture((ASSETS / FIRST).read_bytes(), FIRST, Settings().size)


def _sample(name: str) -> Upload:
    return Upload(name, (ASSETS / name).read_bytes())


def _short(name: str) -> str:
    return name if len(name) <= 30 else f"{name[:18]}…{name[-10:]}"


def _chart(title: str, words: str = "") -> str:
    """Return the HTML that stands for a chart to screen readers: an image, named by its title and by what it shows, `<p>…</p>`."""
    content = words.removeprefix("<p>").removesuffix("</p>")
    return f'<div role="img" aria-label="{escape(title + (f": {content}" if content else ""))}"></div>'
