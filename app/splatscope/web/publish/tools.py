"""The part of the tools that needs no device: the debugger's examples, each with its fix, and the results of training."""

from dataclasses import replace
from functools import partial
from html import escape
from urllib.parse import urlencode

from splatscope.gpu.device import is_software
from splatscope.paths import ASSETS
from splatscope.services.drafts.draft import DraftJob
from splatscope.services.recordings import check_source, record_source
from splatscope.services.thumbnails import draw_thumbnail
from splatscope.splat.thumbnail import Thumbnail
from splatscope.textbook.markdown import inline
from splatscope.web.examples.gallery import GROUPS, Example, difference, fixed
from splatscope.web.lesson_page.lesson_bar import LessonBar
from splatscope.web.lesson_page.lesson_page import EXPECTED_ERRORS
from splatscope.web.publish.live import LiveRender
from splatscope.web.publish.states import PageState
from splatscope.web.shell.page import Page
from splatscope.web.stepper.keys import DEBUGGER_KEYS, KEYS
from splatscope.web.stepper.stepper import Stepper
from splatscope.web.training.browser_training import KEYS as KEYS_OF_TRAINING
from splatscope.web.training.browser_training import BrowserTraining
from splatscope.web.training.parts import Text
from splatscope.web.widgets.controls import Controls, SegmentsItem, group, menu
from splatscope.workers import worker_pool
from splatscope.workers.errors import WorkerError

COMMANDS = "<pre><code>pip install 'splatscope[app]'\nsplatscope serve</code></pre>"

TRAIN = """<h1 class="train-title">Fit a picture with Gaussians</h1>
  <div class="browser-at" data-slot="browser"></div>
  <article class="words">
  <p class="lede">Training fits 2D Gaussians to a photograph while you watch. It runs the kernels of this book thousands of times.
    Above, your browser runs them on its own GPU. A server of your own has more views of a run, and trains larger pictures:</p>
  {commands}
  <p>The sections from <a href="?page=training-loop">The training loop</a> on explain how it works. Here are some results.</p>
  <h2>Four pictures</h2>
  <p>Each consists of 2,048 Gaussians that were fitted to a photograph in 1,200 iterations. Your browser's GPU blends them. Move a
    slider to blend fewer, the nearest first.</p>
  <div class="trained">{slots}</div></article>"""
# The trained pictures in assets/, each with a description.
PICTURES = {
    "coffee": "A cup of coffee",
    "astronaut": "An astronaut in front of a flag and a model of a space shuttle",
    "rocket": "A rocket on its pad at night",
    "chelsea": "The face of a cat",
}

DEBUGGER = """<article class="words kernels"><h1>Kernels to step</h1>
  <p>Each of these kernels was recorded with its inputs; those with a fault, once as they are and once fixed. To step through your
    own kernel, or through these with other inputs, run <code>splatscope serve</code>.</p>
  <div data-slot="controls"></div><div data-slot="words"></div></article><div data-slot="stepper"></div>"""


async def train() -> Page:
    """Return the page that takes the place of the training page: training in the browser, and pictures of finished runs."""
    pictures = {name: await _picture(name, alt) for name, alt in PICTURES.items()}
    slots = "".join(f'<div data-slot="{name}"></div>' for name in pictures)
    html = TRAIN.format(commands=COMMANDS, slots=slots)
    return Page(page="train", html=html, slots={"browser": BrowserTraining(), **pictures}, keys=KEYS_OF_TRAINING)


async def _picture(name: str, alt: str) -> LiveRender:
    """Return a picture that this machine's device has drawn, for browsers without a GPU."""
    thumbnail = Thumbnail.load(ASSETS / f"{name}.npz")
    try:
        frame = await draw_thumbnail(worker_pool, name, thumbnail.count)
    except WorkerError:  # most browsers draw it themselves
        frame = b""
    return LiveRender(
        total=thumbnail.count,
        count=thumbnail.count,
        width_px=thumbnail.width,
        height_px=thumbnail.height,
        alt=alt,
        picture=name,
        frame=frame,
        sequence=int(bool(frame)),
    )


EXAMPLES = [example for _, examples in GROUPS for example in examples]
DEFAULTS = {"example": EXAMPLES[0].name, "mended": False}
FIX = {"mended": True}


def debugger() -> list[PageState]:
    """Return the page with each example, as it is and fixed."""
    states = []
    for example in EXAMPLES:
        for mended in (False, True):
            settings = {"example": example.name, "mended": mended}
            inputs = {key: value for key, value in settings.items() if value != DEFAULTS[key]}
            address = urlencode({key: str(value).lower() for key, value in inputs.items()})
            states.append(PageState(partial(_build_example_page, example, mended, address), address, inputs))
    return states


async def _build_example_page(example: Example, mended: bool, address: str) -> Page:
    stepper = Stepper(kernel=example.name)
    try:
        await _record(stepper, example, mended)
    except EXPECTED_ERRORS as error:
        stepper.error = str(error)
    kernel: SegmentsItem = {
        "kind": "segments",
        "name": "mended",
        "label": "The kernel",
        "doc": "",
        "options": [(False, "As it is"), (True, "Fixed")],
    }
    controls = Controls(
        lambda name, value: None,
        {},
        groups=[group("Settings", menu("example", "Example", [(option.name, option.title) for option in EXAMPLES]), kernel)],
        values={"example": example.name, "mended": mended and bool(example.fixes)},
        bar=True,
    )
    sentence = f"{example.about}." if example.fixes or not mended else f"{example.about}. It has no fault to fix."
    description = Text(html=f"<p>{inline(escape(sentence))}</p>")
    adapter = stepper.meta.get("adapter", "")
    bar = LessonBar(address=address, adapter=adapter, software=is_software(adapter))
    return Page(
        page="debugger",
        html=DEBUGGER,
        slots={"controls": controls, "words": description, "stepper": stepper},
        actions=[bar],
        keys=[*DEBUGGER_KEYS, *KEYS],
    )


async def _record(stepper: Stepper, example: Example, mended: bool) -> None:
    """Record an example and show it. Raises WorkerError, ValueError."""
    fixed_source = fixed(example, example.source)
    source = fixed_source if mended and fixed_source else example.source
    job = DraftJob({"source": source, "inputs": example.inputs, "groups": list(example.groups)})
    checked = await check_source(worker_pool, job, trusted=True)
    if checked.interface is None:
        raise ValueError(f"{example.name}: {checked.error}")
    job = replace(job, interface=checked.interface)
    fix = [] if mended or fixed_source is None else difference(example.source, fixed_source)
    stepper.show(await record_source(worker_pool, job, trusted=True), fix=fix)
