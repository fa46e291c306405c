"""A training run for any page of Panel: it fits a picture with Gaussians, and shows how."""

import copy
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
import panel as pn
import param

from splatscope.api.pictures import as_file
from splatscope.splat.files.images import encode
from splatscope.splat.progress_report import ProgressReport
from splatscope.splat.settings import Settings
from splatscope.splat.state import HISTORY, TrainingState
from splatscope.web.embedded import Embedded
from splatscope.web.training.parts import RunBar, TrainingPicture
from splatscope.web.training.training_bench import TrainingBench
from splatscope.web.training.training_session import TrainingSession
from splatscope.web.widgets.frame import Frame
from splatscope.web.widgets.upload import Upload
from splatscope.workers import worker_pool

RATES = ("rate_position", "rate_shape", "rate_colour", "rate_opacity")
SETTINGS = ("gaussians", "size", "seed", "iterations", "kernels", "loss", "growth", *RATES)


class Training(Embedded):
    """Fits a picture with Gaussians on a worker, and draws what they draw.

    The settings are those of `splatscope.fit`. The iterations and the rates change a run that goes on; any other begins a new one.
    The run waits while nobody sees it.
    """

    running = param.Boolean(default=False, doc="Whether it trains; set it to start and to pause")
    iteration = param.Integer(default=0, bounds=(0, None), doc="How many are done")
    psnr = param.Number(default=0.0, doc="In dB")
    message = param.String(default="", doc="What went wrong, in one line")
    title = param.String(default="A training in Splatscope", doc="The name of its frame, for screen readers")
    grows = param.Boolean(default=True, doc="Whether it is as high as what it shows, rather than `height`")
    gaussians = param.Integer(2048, bounds=(1, 4_194_304), label="Gaussians", doc="The number of Gaussians")
    for _name in SETTINGS[1:]:
        locals()[_name] = copy.copy(Settings.param[_name])
    del _name

    _rename: ClassVar[Mapping[str, str | None]] = dict.fromkeys(SETTINGS)

    def __init__(self, image: Any, **params: Any):
        """Show the start of a run on a picture: a path, a picture of PIL, an array or a tensor, as for `splatscope.fit`."""
        data, name = as_file(image)
        self.session = TrainingSession(worker_pool, self)
        self._has_picture = False
        bar = RunBar(self.session, opens=False)
        bar.key = ""
        self._picture = TrainingPicture(data={"testid": "train-frame"}, alt="The picture as the Gaussians draw it now", opens="")
        self._bench = TrainingBench(bar=bar, picture=self._picture, target=Frame(alt="The target"))
        super().__init__(self._bench, **params)
        self.session.settings.param.update(**{_setting(name): getattr(self, name) for name in SETTINGS})
        self.param.watch(self._change, list(SETTINGS))
        self._begin(partial(self._open, Upload(name or "picture", data)))
        if pn.state.curdoc is not None:
            pn.state.on_session_destroyed(lambda _: self.session.close())

    async def _open(self, file: Upload) -> None:
        self.session.use_picture(file)
        self._has_picture = True
        if self.running:
            self.session.start()

    def _change(self, *events: Any) -> None:
        for event in events:
            self.session.change(_setting(event.name), event.new)

    @param.depends("running", watch=True)
    def _run(self) -> None:
        if self.running != self.session.running and self._has_picture:  # without one, `_open` starts the run
            (self.session.start if self.running else self.session.pause)()

    def reset(self) -> None:
        """Pause, and go back to the start."""
        self.session.reset()

    async def state(self) -> TrainingState:
        """Pause, and return the state of the training. Raises splatscope.FitError if there is none yet."""
        return await self.session.freeze()

    @property
    def history(self) -> np.ndarray:
        """The measurements so far, as `splatscope.Fit.history` has them."""
        return self.session.history.astype(HISTORY, copy=True)

    # The methods of `Observer`.

    @property
    def watched(self) -> bool:
        """Whether the picture is seen."""
        return self._picture.watched

    def changed(self) -> None:
        """Show the session's attributes."""
        session, bar = self.session, self._bench.bar
        reading = bar.reading | {"iterations": session.settings.iterations}
        before = session.before.report.iteration if session.before is not None else 0
        state = {"running": session.running, "settled": session.settled, "busy": session.busy, "message": session.message}
        bar.param.update(**state, reading=reading, before=before)
        self.param.update(running=session.running, message=session.message)

    def began(self, state: TrainingState) -> None:
        """Show the target of another run."""
        target = encode(state.target, "PNG")
        self._bench.target.show(target)
        self._picture.target = target

    def reported(self, report: ProgressReport) -> None:
        """Show a report of the run."""
        self._picture.report(report)
        bar = self._bench.bar
        speed = report.iterations_per_second or bar.reading.get("speed", 0.0)
        bar.reading = {
            "iteration": report.iteration,
            "iterations": self.session.settings.iterations,
            "psnr": report.psnr,
            "speed": speed if report.iteration else 0.0,
            "seconds": report.seconds,
        }
        self.param.update(iteration=report.iteration, psnr=report.psnr)


def _setting(name: str) -> str:
    """Return the name that a parameter has in `Settings`."""
    return "blobs" if name == "gaussians" else name
