"""The live parts of the training page: its bar, its picture with the Gaussians over it, the files to take away."""

import time
from typing import Any

import param

from splatscope.splat.progress_report import ProgressReport
from splatscope.web.component import Component
from splatscope.web.training.session import TrainingSession
from splatscope.web.widgets.frame import Frame

UNWATCHED_SECONDS = 3.0  # without a frame being drawn: the browser has gone, or sleeps


class RunBar(Component):
    """Start, pause, one step, reset; the readings of the run; and one line about what is wrong. Clicks go to the session."""

    running = param.Boolean(default=False)
    busy = param.String(default="", doc="What is being waited for")
    message = param.String(default="", doc="What went wrong, in one line")
    reading = param.Dict(default={}, doc="iteration, iterations, psnr (dB), speed (iterations a second), seconds")

    def __init__(self, session: TrainingSession, **params: Any):
        """Send clicks to `session`."""
        super().__init__(**params)
        self._session = session

    def _handle_msg(self, message: dict[str, Any]) -> None:
        kind = message.get("type")
        if kind in ("start", "pause", "step", "reset"):
            getattr(self._session, kind)()


class TrainingPicture(Frame):
    """The picture of a run with its error map and its ellipses. What comes while a frame is under way waits, the newest only."""

    error = param.Bytes(default=b"", doc="The error map, encoded")
    target = param.Bytes(default=b"", doc="The target, encoded: a phone shows it in the same place")
    ellipses = param.Bytes(default=b"", doc="n × 10 float32, as describe.slang lays them out")
    one_in = param.Integer(default=1, doc="The ellipses are those of one Gaussian in so many")
    tile = param.List(default=[8, 4], doc="Width and height of the tile that a click opens, in pixels")

    def __init__(self, **params: Any):
        """Show no picture yet; `params` as of `Frame`."""
        super().__init__(**params)
        self._next_report: ProgressReport | None = None  # for the frame under way to be drawn

    @property
    def watched(self) -> bool:
        """Whether somebody sees the frames: the last one was drawn, or may still be under way."""
        return self._drawn == self.sequence or time.monotonic() - self._sent < UNWATCHED_SECONDS

    def report(self, report: ProgressReport) -> None:
        """Show a report once the frame under way is drawn; of several that wait, the newest."""
        if not self.idle:
            self._next_report = report
            return
        self._next_report = None
        self.param.update(error=report.error, ellipses=report.ellipses.tobytes(), one_in=report.one_in)
        self.show(report.picture, iteration=report.iteration, psnr=f"{report.psnr:.2f}")

    def _handle_msg(self, message: dict[str, Any]) -> None:
        super()._handle_msg(message)
        if self._next_report is not None:
            self.report(self._next_report)


class SaveButtons(Component):
    """The adapter that the run is on, and buttons that save its picture and its state.

    Clicks, here or in the settings, go to the session.
    """

    adapter = param.String(default="")
    adapter_words = param.String(default="")
    file = param.Bytes(default=b"")
    file_name = param.String(default="")
    sequence = param.Integer(default=0, doc="Counted up with each file")

    def __init__(self, session: TrainingSession, **params: Any):
        """Send clicks to `session`."""
        super().__init__(**params)
        self._session = session

    def deliver(self, data: bytes, name: str) -> None:
        """Hand a file to the browser, which saves it under this name."""
        self.param.update(file=data, file_name=name, sequence=self.sequence + 1)

    def _handle_msg(self, message: dict[str, Any]) -> None:
        self.act(message.get("type"))

    def act(self, action: Any) -> None:
        """Do what a button of this name does; other names do nothing."""
        match action:
            case "save-picture":
                self._session.save_picture(self.deliver)
            case "save-state":
                self._session.save_state(self.deliver)
            case "save-gaussians":
                self._session.save_gaussians(self.deliver)
            case "save-film":
                self._session.save_animation(self.deliver)


class Text(Component):
    """Text that changes."""

    html = param.String(default="")
