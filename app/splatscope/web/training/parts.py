"""The live parts of the training page: its bar, its picture with the Gaussians over it, its downloads."""

import time
from typing import Any, TypedDict

import param

from splatscope.splat.progress_report import HEAT, ProgressReport
from splatscope.web.runtime.component import Component, Typed
from splatscope.web.runtime.receivers import receives
from splatscope.web.training.training_session import TrainingSession
from splatscope.web.widgets.frame import Frame

UNWATCHED_SECONDS = 3.0  # without a drawn frame, after which the browser counts as gone or asleep


class Reading(TypedDict, total=False):
    """Where a run is.

    Attributes:
        iterations: Of the whole run.
        psnr: In dB.
        speed: Iterations per second.
        seconds: Of device time.
    """

    iteration: int
    iterations: int
    psnr: float | None
    speed: float
    seconds: float


class RunBar(Component):
    """The buttons Start, Pause, Step and Reset, the run's readings, and a line for errors. Clicks go to the session."""

    running = param.Boolean(default=False)
    settled = param.Boolean(default=True, doc="Whether no slice of the run is under way, so that the readings are final")
    busy = param.String(default="", doc="What is being waited for")
    message = param.String(default="", doc="What went wrong, in one line")
    before = param.Integer(default=0, doc="Iterations of the run before this one, which the reader can have back; 0 for none")
    key = param.String(default="", doc="By which the reader's tab finds the run again after a reload; empty for none")
    stored = param.Boolean(default=False, doc="Whether the run outlives the server")
    opens = param.Boolean(default=True, doc="Whether a pixel of the picture can be chosen")
    reading = Typed(Reading, default={}, doc="Where the run is; empty before its first report")

    def __init__(self, session: TrainingSession, **params: Any):
        """Send clicks to `session`."""
        super().__init__(key=session.key, **params)
        self._session = session

    @receives("return")
    def _return(self, key: str, reloaded: bool = False) -> None:
        self._session.return_to(key, reloaded)

    @receives("start", "pause", "step", "reset", "undo")
    def _press(self, kind: str) -> None:
        getattr(self._session, kind)()


class TrainingPicture(Frame):
    """The picture of a run with its error map and its ellipses. While a frame is being drawn, only the newest report waits."""

    error = param.Bytes(default=b"", doc="The error map, encoded")
    target = param.Bytes(default=b"", doc="The target, encoded; phones show it in place of the picture")
    sample = param.String(doc="The name of the sample that is fitted; empty for a picture of the reader's, which no link restores")
    ellipses = param.Bytes(default=b"", doc="n × 10 float32, in the layout of describe.slang")
    one_in = param.Integer(default=1, doc="The ellipses of one in this many Gaussians are shown")
    opens = param.Selector(
        default="stepper",
        objects=["stepper", "here", ""],
        doc="What a click on a pixel opens: the stepper; what the pixel is made of, for a run in this browser; nothing",
    )
    heat = Typed(list[list[float]], default=HEAT.tolist(), doc="The colours of the error map, from no error to the largest")
    tile = Typed(tuple[int, int], default=(8, 4), doc="Width and height of the tile that a click opens, in pixels")

    def __init__(self, **params: Any):
        """Start without a picture. `params` are those of `Frame`."""
        super().__init__(**params)
        self._next_report: ProgressReport | None = None  # waits until the current frame is drawn

    @property
    def watched(self) -> bool:
        """Whether the frames are seen: the last one was drawn, or may still arrive."""
        return self._drawn == self.sequence or time.monotonic() - self._sent < UNWATCHED_SECONDS

    def report(self, report: ProgressReport) -> None:
        """Show a report once the current frame is drawn. A newer report replaces a waiting one."""
        if not self.idle:
            self._next_report = report
            return
        self._next_report = None
        self.param.update(error=report.error, ellipses=report.ellipses.tobytes(), one_in=report.one_in)
        self.show(report.picture, iteration=report.iteration, psnr=f"{report.psnr:.2f}")

    @receives("drawn")
    def _acknowledge(self, sequence: int) -> None:
        super()._acknowledge(sequence)
        if self._next_report is not None:
            self.report(self._next_report)


class SaveButtons(Component):
    """The adapter of the run, and buttons that save its picture and its state. Clicks go to the session."""

    adapter = param.String(default="")
    adapter_words = param.String(default="")
    file = param.Bytes(default=b"")
    file_name = param.String(default="")
    sequence = param.Integer(default=0, doc="The number of files so far")
    elsewhere = param.Boolean(
        default=False, doc="Whether the reader trains in the browser, so that nothing of this is about what is shown"
    )

    def __init__(self, session: TrainingSession, **params: Any):
        """Send clicks to `session`."""
        super().__init__(**params)
        self._session = session

    def deliver(self, data: bytes, name: str) -> None:
        """Send a file to the browser, which downloads it under this name."""
        self.param.update(file=data, file_name=name, sequence=self.sequence + 1)

    @receives("save-picture", "save-state", "save-gaussians", "save-film")
    def act(self, kind: str) -> None:
        """Perform the action of the button with this name. Ignore other names."""
        match kind:
            case "save-picture":
                self._session.save_picture(self.deliver)
            case "save-state":
                self._session.save_state(self.deliver)
            case "save-gaussians":
                self._session.save_gaussians(self.deliver)
            case "save-film":
                self._session.save_animation(self.deliver)


class Text(Component):
    """A text that can change."""

    html = param.String(default="")
