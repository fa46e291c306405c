"""A pixel of a training run: its layers, and its tile's workgroup in the stepper. Opened from the training page."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, TypedDict

import param

from splatscope.gpu.device import DeviceError
from splatscope.services import pictures
from splatscope.services.tile_inspector import BY_NAME, STAGES, Spot, Stage, TileRecording, record_tile
from splatscope.splat.parameters import NAMES, SAMPLE_NAMES
from splatscope.splat.settings import TILES, Settings
from splatscope.splat.state import TrainingState
from splatscope.textbook import contents
from splatscope.textbook.pixel import TrainedPicture
from splatscope.tracing.progress import words
from splatscope.web.background import BackgroundTask
from splatscope.web.runtime.component import Component, Maybe, Typed
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import KeyWords
from splatscope.web.shell.router import UNNAMED, read_step
from splatscope.web.stepper.keys import KEYS
from splatscope.web.stepper.stepper import Stepper
from splatscope.web.training.pixel_story import PixelStory
from splatscope.workers.errors import WorkerError

if TYPE_CHECKING:
    from splatscope.web.training.training_session import TrainingSession

log = logging.getLogger(__name__)

BY_PAGE = {section.name: section.title for section in contents.sections()}  # titles of the book's sections


class PublicSpot(TypedDict):
    """A pixel of a training run, and its place in the workgroup of its tile.

    Attributes:
        tile: Column and row.
        stage: "" while the pixel's layers are in view.
        iteration: Missing until it is known.
    """

    x: int
    y: int
    tile: tuple[int, int]
    thread: int
    stage: str
    iteration: NotRequired[int]


class StageRow(NamedTuple):
    """A stage, with the section of the book about it."""

    name: str
    title: str
    words: str
    page: str
    section: str


class TileGaussian(NamedTuple):
    """A Gaussian of a tile: its number, its colour as CSS, the event that blends it, and what is known only in some stages.

    These are its gradients, and the transmittance behind it.
    """

    id: int
    colour: str
    step: int
    gradients: list[float] | None
    light: float | None


class TileBar(Component):
    """The bar above the stepper: the pixel and iteration, the stages, the tile's Gaussians. Without a spot, training is in view.

    The browser requests a pixel and a stage through the address. Gaussians are chosen only in the browser.
    """

    spot = Maybe(PublicSpot, doc="Empty while training is in view")
    stages = Typed(
        list[StageRow], default=[(s.name, s.title, s.description, s.page, BY_PAGE[s.page]) for s in STAGES], doc="In order"
    )
    recording = param.String(doc="Hash of the stepper's recording that the Gaussians belong to")
    opening = param.Integer(
        default=0, doc="The step at which this recording opens if neither the address nor a choice names another"
    )
    gaussians = Typed(list[TileGaussian], default=[], doc="Nearest first")
    fields = param.List(default=[], item_type=str, doc="Names of the nine raw values")
    notes = param.List(default=[], item_type=str, doc="Remarks on this recording, a line each")
    keys = Typed(list[KeyWords], default=[*KEYS, ("Esc", "Back to training")], doc="The page's keys while a tile is in view")
    keys_story = Typed(list[KeyWords], default=[], doc="The page's keys while a pixel's layers are in view")
    keys_before = Typed(list[KeyWords], default=[], doc="The page's keys otherwise")


class TileView:
    """Follows the address. With `x` and `y` in it, the run is paused and that pixel's layers are shown; otherwise the training is.

    With a `stage` too, the stepper shows that stage of the pixel's tile.
    """

    def __init__(
        self, location: Location, session: TrainingSession, keys: list[tuple[str, str]], picture_keys: list[tuple[str, str]]
    ):
        """Follow `location`; `keys` are the page's keys while training is in view, `picture_keys` those of the picture only."""
        self.session = session
        self.bar = TileBar(keys_before=keys, keys_story=[*picture_keys, ("Esc", "Back to training")])
        self.stepper = Stepper()
        self.story = PixelStory()
        self._location = location
        self._watcher = location.param.watch(lambda event: self.follow(event.new), "inputs")
        self._state: TrainingState | None = None  # of the paused run, while a tile is in view
        self._picture = b""  # of that state
        self._recorded: dict[tuple[Spot, str], TileRecording] = {}
        self._work = BackgroundTask()

    def close(self) -> None:
        """Stop following the address."""
        self._location.param.unwatch(self._watcher)
        self._work.cancel()

    def follow(self, inputs: dict[str, str]) -> None:
        """Open the tile that the address requests, or return to training."""
        self._work.cancel()
        pixel = _pixel(inputs)
        if pixel is None:
            self._leave()
            return
        stage = BY_NAME.get(inputs.get("stage", ""))
        self._work.start(self._open(*pixel, stage), partial(self._guard, component=self.stepper if stage else self.story))

    def look_again(self) -> None:
        """Follow the address again, in a run that has replaced the one before."""
        self._forget()
        self.follow(self._location.inputs)

    def _forget(self) -> None:
        """Hold nothing of the run that was paused."""
        self._state, self._picture = None, b""
        self._recorded.clear()

    def _leave(self) -> None:
        self._work.cancel()
        self._forget()
        self.bar.param.update(spot={}, gaussians=[], notes=[])
        self.story.clear()

    async def _guard(self, work: Coroutine[Any, Any, None], component: Stepper | PixelStory) -> None:
        try:
            await work
        except (WorkerError, DeviceError, ValueError) as error:
            component.param.update(busy="", error=str(error))
        except Exception as error:
            log.exception("A tile could not be recorded")
            component.param.update(busy="", error=f"This tile could not be recorded: {error or type(error).__name__}.")

    async def _open(self, x: int, y: int, stage: Stage | None) -> None:
        spot = Spot.of(self.session.settings, x, y)
        self._set_spot(spot, stage)
        if stage:
            self.stepper.wait("Recording the tile …")
        else:
            self.story.wait("Pausing the training …")
        if self._state is None:
            self._state = await self.session.freeze()
        state = self._state
        height, width, _ = state.target.shape
        spot = Spot.of(state.settings, min(x, width - 1), min(y, height - 1))
        self._set_spot(spot, stage, iteration=state.step)
        if stage:
            self._show(spot, stage, await self._record(state, spot, stage, self.stepper.progress_callback()), state.settings)
        else:
            await self._show_story(spot, state)

    async def _show_story(self, spot: Spot, state: TrainingState) -> None:
        """Show the pixel in its picture, and its layers once they are recorded."""
        if not self._picture:
            self._picture = await self.session.still()
        width, height, _ = TILES[state.settings.tile]
        red, green, blue = (state.target[spot.y, spot.x] / 255).tolist()
        follows = not state.settings.uses_sample_model
        self.story.followed = pictures.hold(TrainedPicture(state.splats.raw, state.target)) if follows else ""
        self.story.show_pixel((spot.x, spot.y), (width, height), self._picture, (red, green, blue))
        self.story.wait("Recording how this pixel is blended …")

        def show_progress(stage: int) -> None:
            if self.story.busy:
                self.story.wait(words(stage))

        self.story.show_layers(await self._record(state, spot, BY_NAME["blend"], show_progress))

    async def _record(self, state: TrainingState, spot: Spot, stage: Stage, on_progress: Callable[[int], None]) -> TileRecording:
        key = spot, stage.name
        if key not in self._recorded:
            self._recorded[key] = await record_tile(self.session.pool, state, spot, stage, on_progress)
        return self._recorded[key]

    def _set_spot(self, spot: Spot, stage: Stage | None, iteration: int | None = None) -> None:
        name = stage.name if stage else ""
        public: PublicSpot = {"x": spot.x, "y": spot.y, "tile": spot.tile, "thread": spot.thread, "stage": name}
        self.bar.spot = public if iteration is None else {**public, "iteration": iteration}

    def _show(self, spot: Spot, stage: Stage, recording: TileRecording, settings: Settings) -> None:
        gradients = [None] * len(recording.listed) if recording.gradients is None else recording.gradients.tolist()
        colours = [f"rgb({r} {g} {b})" for r, g, b in (recording.colours * 255).round().astype(int).tolist()]
        light = [None] * len(recording.listed) if recording.light is None else recording.light.tolist()
        rows = zip(recording.listed, colours, recording.steps, gradients, light, strict=True)
        self.bar.param.update(  # before the recording, which may be drawn as soon as it arrives
            gaussians=[list(row) for row in rows],
            fields=list(SAMPLE_NAMES if settings.uses_sample_model else NAMES),
            notes=list(_notes(stage, recording, settings)),
            opening=recording.opening,
            recording=recording.packed.meta.get("recording", ""),
        )
        memories = [name for name in stage.memories if name != "reductionBuffer" or settings.gradient_sum == "tree"]
        self.stepper.show(recording.packed, stops=recording.stops, unit=stage.unit, memories=memories, thread=spot.thread)


def _pixel(inputs: dict[str, str]) -> tuple[int, int] | None:
    x, y = (read_step(inputs.get(name)) for name in ("x", "y"))
    return None if UNNAMED in (x, y) else (x, y)


def _notes(stage: Stage, recording: TileRecording, settings: Settings) -> Iterator[str]:
    """Yield remarks on a recording, a line each."""
    if recording.packed.meta.get("error"):
        return
    capacity = TILES[settings.tile][2]
    if recording.light is not None:
        rest = recording.light[-1] if len(recording.light) else 1.0
        yield (
            f"This pixel blends {recording.blended} of the {len(recording.listed)}, "
            f"and {rest:.1%} of the white behind them still shows."
        )
    kernels = {"binned": "the faster binned kernels", "simple": "the simple kernels, which have no tiles"}.get(settings.kernels)
    if kernels:
        yield f"Training used {kernels}. This is the tiled kernel that the sections explain, run on the same Gaussians."
    if recording.found > capacity:
        yield f"{recording.found:,} Gaussians touch this tile, and its list holds {capacity:,}: the others are left out."
    if recording.packed.meta["truncated"]:
        yield f"The recording was full after {recording.packed.meta['events']:,} events. What came later is missing."
    if stage.name == "gradient":
        yield "This is the tile's share. The other tiles add theirs."
