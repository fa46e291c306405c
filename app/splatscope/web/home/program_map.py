"""The map of the whole program: one iteration, its dispatches and what is in them, forward and backward, with measured times."""

from __future__ import annotations

import asyncio
from html import escape

import param

from splatscope.gpu.device import DeviceError
from splatscope.services.iteration_times import DispatchTime, Iteration, measured
from splatscope.web.component import Component
from splatscope.web.shell.pages import BY_NAME
from splatscope.workers import worker_pool
from splatscope.workers.connection import WorkerError

# Of a row: the section, what happens there, and the stage whose time stands in the box, if one does.
FORWARD = (
    ("dispatch-ids", "Each thread finds its pixel.", ""),
    ("workgroups", "32 threads share a tile, and its memory.", ""),
    ("coarse-raster", "Which Gaussians touch the tile?", "list"),
    ("bitonic-sort", "The list, nearest first.", "sort"),
    ("fine-raster", "Each pixel walks the list.", "blend"),
    ("background", "White, where light is left.", ""),
)
BLEND = ("premultiply", "blending", "termination", "final-count")  # inside the walk
BACKWARD = (
    ("autodiff", "From the loss back, by the compiler.", ""),
    ("undo", "The walk back: each layer is taken off again.", ""),
    ("caching", "What was kept, and what is computed again.", ""),
    ("reduction", "A tile's pixels become one sum.", ""),
    ("cas", "All tiles add to one buffer.", ""),
)


class ProgramMap(Component):
    """The map. It stands there at once; the times follow when they are measured, once for all who ask."""

    html = param.String(doc="The map without its times")
    times = param.Dict(default={}, doc="By name of a dispatch or stage, and of all as `total`: milliseconds")
    shapes = param.Dict(default={}, doc="By name of a dispatch: its workgroups and threads, in words")
    said = param.String(default="Measuring one iteration on this device …", doc="What was measured, and where")

    def __init__(self, **params):
        super().__init__(html=_html(), **params)
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Measures, or takes what was measured. For pages: `pn.state.onload(...)`."""
        self._task = asyncio.get_running_loop().create_task(self._fill())

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _fill(self) -> None:
        try:
            found = await measured(worker_pool)
        except (WorkerError, DeviceError) as error:
            self.said = f"No times: {error}"
            return
        self.param.update(times=_times(found), shapes={one.kernel: _shape(one) for one in found.dispatches}, said=_said(found))


def _times(found: Iteration) -> dict[str, float]:
    *training, image = found.dispatches
    whole = {"total": sum(one.ms for one in training), "forward": image.ms}
    return {one.kernel: one.ms for one in found.dispatches} | found.stages | whole


def _shape(one: DispatchTime) -> str:
    groups = [str(n) for n in one.groups if n > 1] or ["1"]
    threads = [str(n) for n in one.threads if n > 1]
    return f"{' × '.join(groups)} workgroups of {' × '.join(threads)} threads"


def _said(found: Iteration) -> str:
    fast = sum(one.ms for one in found.binned)
    return (
        f"Measured here, on {found.adapter.short_name}: iteration {found.number} of a picture of {found.width} × {found.height} "
        f"pixels with {found.blobs:,} Gaussians. The binned kernels, with which the page trains unless told otherwise, "
        f"take {fast:.2g} ms for it."
    )


def _html() -> str:
    adam = f'<ul class="pm-way pm-one">{_box("adam", "Every raw value moves against its gradient.")}</ul>'
    return f"""
    <section class="pm" aria-labelledby="pm-title">
      <h2 id="pm-title">Why these together</h2>
      <p class="pm-lead">One iteration moves every Gaussian a little, so that the picture comes nearer to the photograph. It is
        three dispatches, and a fourth to look at the picture. Each section is about one thing in them.</p>
      <p class="pm-said" role="status"></p>
      <div class="pm-loop">
        <p class="pm-head">{_link("training-loop")}
          <span>Clear, differentiate, update; and again, thousands of times.</span>{_ms("total")}</p>
        <ol>
          {_dispatch("clearDerivativesMain", "<p>Every gradient to zero.</p>")}
          {_dispatch("computeDerivativesMain", _derivatives())}
          {_dispatch("updateBlobsMain", adam)}
        </ol>
      </div>
      <ol class="pm-look">
        {_dispatch("imageMain", f"<p>Forward once more, for the picture on the page. {_train()}</p>")}
      </ol>
    </section>"""


def _derivatives() -> str:
    return f"""
      <p class="pm-way-head" id="pm-forward"><b>Forward</b> {_link("pipeline")}
        <span>keeps the stages in this order.</span>{_ms("forward")}</p>
      <ol class="pm-way" aria-labelledby="pm-forward">{"".join(_box(*row) for row in FORWARD)}</ol>
      <p class="pm-way-head" id="pm-backward"><b>Backward</b>
        <span>The same way back, with the gradient of the loss.</span>{_ms("backward")}</p>
      <ol class="pm-way pm-back" aria-labelledby="pm-backward">{"".join(_box(*row) for row in BACKWARD)}</ol>"""


def _dispatch(kernel: str, inside: str) -> str:
    return f"""<li class="pm-dispatch" data-dispatch="{kernel}">
      <p class="pm-head"><code>{kernel}</code><span data-shape="{kernel}"></span>{_ms(kernel)}</p>{inside}</li>"""


def _box(name: str, says: str, stage: str = "") -> str:
    within = ""
    if name == "fine-raster":
        within = f'<ul class="pm-in">{"".join(f"<li>{_link(inner)}</li>" for inner in BLEND)}</ul>'
    return f"""<li class="pm-box">{_link(name)}<span>{says}</span>{within}{_ms(stage) if stage else ""}</li>"""


def _link(name: str) -> str:
    entry = BY_NAME[name]
    if not entry.exists:
        return f"<b>{escape(entry.title)}</b>"
    return f'<a href="{entry.address}">{escape(entry.title)}</a>'


def _train() -> str:
    return f'On <a href="{BY_NAME["train"].address}">the training page</a>, a click on a pixel steps its tile.'


def _ms(name: str) -> str:
    return f'<span class="pm-ms" data-time="{name}"></span>'
