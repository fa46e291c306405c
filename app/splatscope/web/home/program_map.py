"""The map of the whole program: one iteration, its dispatches and the sections inside them, with measured times.

The front matter of a section's text gives its place on the map, its sentence, and the time it shows.
"""

import math
from html import escape
from typing import Any

import param

from splatscope.gpu.device import DeviceError
from splatscope.services.iteration_times import DispatchTime, IterationTimes, measure_iteration
from splatscope.textbook.contents import Section, on_map
from splatscope.textbook.numbers import about_times, number
from splatscope.web.background import BackgroundTask
from splatscope.web.runtime.component import Component, Typed
from splatscope.web.shell.pages import BY_NAME
from splatscope.workers import worker_pool
from splatscope.workers.errors import WorkerError


class ProgramMap(Component):
    """The map. Its text is shown at once, its times when they have been measured, which happens once for all sessions."""

    html = param.String(doc="The map without its times")
    times = Typed(dict[str, float], default={}, doc="Milliseconds by name of a dispatch or stage, and `total`")
    shapes = Typed(dict[str, str], default={}, doc="Workgroups and threads of each dispatch, in words")
    said = param.String(default="Measuring one iteration on this device …", doc="What was measured and where")

    def __init__(self, **params: Any):
        super().__init__(html=map_html(), **params)
        self._work = BackgroundTask()

    def begin(self) -> None:
        """Show the times, measuring them the first time. Pages call this in `pn.state.onload`."""
        self._work.start(self.fill())

    def close(self) -> None:
        """Stop waiting for the times."""
        self._work.cancel()

    async def fill(self) -> None:
        """Measure the times, unless that was done before, and show them."""
        try:
            measurement = await measure_iteration(worker_pool)
        except (WorkerError, DeviceError) as error:
            self.said = f"No times were measured: {error}"
            return
        self.param.update(
            times=_times(measurement),
            shapes={dispatch.kernel: _shape(dispatch) for dispatch in measurement.dispatches},
            said=_describe_measurement(measurement),
        )


def _times(measurement: IterationTimes) -> dict[str, float]:
    *training, image = measurement.dispatches
    times = {dispatch.kernel: dispatch.ms for dispatch in measurement.dispatches} | measurement.stages
    if "backward" in times:
        times["backward"] = _rest(times["computeDerivativesMain"], image.ms)
    return times | {"total": sum(dispatch.ms for dispatch in training), "forward": image.ms}


def _rest(whole: float, part: float) -> float:
    """Return what is left of `whole` ms, such that the two parts as the map writes them add up to the whole as it writes it."""
    unit = 10.0 ** min(0, math.floor(math.log10(whole)) - 1)
    return (round(whole / unit) - round(part / unit)) * unit


def _shape(dispatch: DispatchTime) -> str:
    groups = [str(n) for n in dispatch.groups if n > 1] or ["1"]
    threads = [str(n) for n in dispatch.threads if n > 1]
    return f"{' × '.join(groups)} workgroups of {' × '.join(threads)} threads"


def _describe_measurement(measurement: IterationTimes) -> str:
    slow, fast = (sum(dispatch.ms for dispatch in part) for part in (measurement.dispatches[:-1], measurement.binned))
    name = measurement.adapter.short_name
    device = f"a processor, without a graphics card ({name})" if measurement.adapter.is_software else name
    return (
        f"Measured here, on {device}: iteration {measurement.number} of fitting a {measurement.width} × {measurement.height} "
        f"picture with {measurement.blobs:,} Gaussians. The fast kernels, which the training page uses by default, "
        f"take {number(fast, 2)} ms for it: they are {about_times(slow / fast)} as fast."
    )


def map_html() -> str:
    """Return the map without its times."""
    return f"""
    <section class="pm" aria-labelledby="pm-title">
      <h2 id="pm-title">The book, by the parts of the program</h2>
      <p class="pm-lead">The program repeats one round again and again. Each round changes every Gaussian a little, so that the
        picture gets closer to the photograph. Each box is a section; its number is its place in the book.</p>
      <p class="pm-said"></p>
      <div class="pm-loop">
        {_lines("loop")}
        <ol>
          {_dispatch("clearDerivativesMain", "Forget the last round", "")}
          {_dispatch("computeDerivativesMain", "Draw the picture, and find out how each Gaussian should change", _derivatives())}
          {_dispatch("updateBlobsMain", "Change every Gaussian", f'<ul class="pm-way pm-one">{_boxes("update")}</ul>')}
        </ol>
      </div>
      <ol class="pm-look">
        {_dispatch("imageMain", "Draw it once more, to look at", f"<p>{_train()}</p>")}
      </ol>
    </section>"""


def _derivatives() -> str:
    return f"""
      <p class="pm-way-head" id="pm-forward"><b>Forward</b> {_line("stages")}</p>
      <ol class="pm-way" aria-labelledby="pm-forward">{_boxes("forward")}</ol>
      <p class="pm-way-head" id="pm-backward"><b>Backward</b>
        <span>From the picture's error to the change that reduces it.</span>{_ms("backward")}</p>
      <ol class="pm-way pm-back" aria-labelledby="pm-backward">{_boxes("backward")}</ol>"""


def _dispatch(kernel: str, title: str, inside: str) -> str:
    return f"""<li class="pm-dispatch" data-dispatch="{kernel}">
      <p class="pm-head"><b>{title}</b>{_ms(kernel)}</p>
      {inside}
      <p class="pm-code"><code>{kernel}</code> <span data-shape="{kernel}"></span></p></li>"""


def _line(place: str) -> str:
    """Return the sections at a place of the map, in one line."""
    return "".join(f"{_link(section)}\n          {_sentence(section)}{_time(section)}" for section in on_map(place))


def _lines(place: str) -> str:
    """Return the sections at a place of the map, each in a line."""
    return "".join(f'<p class="pm-head">{_link(section)} {_sentence(section)}{_time(section)}</p>' for section in on_map(place))


def _boxes(place: str) -> str:
    """Return the sections at a place of the map, each in a box."""
    return "".join(map(_box, on_map(place)))


def _box(section: Section) -> str:
    inside = "".join(f"<li>{_link(inner)}</li>" for inner in on_map(section.name))
    inside = f'<ul class="pm-in">{inside}</ul>' if inside else ""
    gives = (
        f'<span class="pm-gives"><span class="sr">It gives </span>{escape(section.map.gives)}</span>' if section.map.gives else ""
    )
    return f"""<li class="pm-box">{_link(section)}{_sentence(section)}{inside}{_time(section)}{gives}</li>"""


def _sentence(section: Section) -> str:
    return f"<span>{escape(section.map.sentence, quote=False)}</span>"


def _link(section: Section) -> str:
    return f'<a href="{BY_NAME[section.name].address}" data-section="{section.name}">{escape(section.title)}</a>'


def _time(section: Section) -> str:
    return _ms(section.map.time) if section.map.time else ""


def _train() -> str:
    return f'On <a href="{BY_NAME["train"].address}">the training page</a>, choose a pixel to step through its tile.'


def _ms(name: str) -> str:
    return f'<span class="pm-ms share-bar" data-time="{name}"></span>'
