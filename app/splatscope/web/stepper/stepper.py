"""The stepper, in which the browser steps through one recording, forward and back. Every page with a recording uses it."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypedDict

import param

from splatscope.gpu.device import DeviceError
from splatscope.recordings.packed import Meta, PackedRecording
from splatscope.tracing.job import KernelJob
from splatscope.tracing.progress import words
from splatscope.web.background import BackgroundTask
from splatscope.web.runtime.component import Child, Component, Maybe, Typed
from splatscope.web.runtime.receivers import receives
from splatscope.workers.errors import WorkerError

PARTS = ("source", "threads", "memory", "findings", "timeline")


class Reason(TypedDict):
    """A message that the user got elsewhere, such as a test's, and that the recording is to explain.

    Attributes:
        kind: A finding's kind, or another one.
        name: Name of the memory; "" for none.
        line: 0 for none.
        lane: The thread; -1 for none.
        element: Element of the memory; -1 for none.
    """

    heading: str
    words: str
    kind: str
    name: str
    line: int
    lane: int
    element: int


class FixLine(NamedTuple):
    """A line that a fix adds (+) or takes away (−)."""

    sign: str
    line: int
    text: str


class Stepper(Component):
    """Shows one recording, or what it is waiting for.

    The layout "bench" has all panes and a dock below, and fills the height of the window. The layout "figure" is for pages of text:
    the drawing `aside` on the left, the source on the right, and one line of transport controls. Drawings follow the stepper by its
    event `splatscope:moment` on `window`, whose detail has the stepper's root and its moment.
    """

    recording = param.Bytes(default=b"", doc="The result of `recordings.wire.pack`; empty if it is in a file")
    file = param.String(doc="Address of the recording, relative to the page; empty if it is in `recording`")
    meta = Typed(Meta, default={}, doc="What is known of the recording without its bytes")
    inputs = param.String(default="", doc="In a figure, the inputs of its recording, as in an address")
    busy = param.String(default="", doc="What it is waiting for; empty for nothing")
    error = param.String(default="", doc="Why there is no recording, in one line")
    layout = param.Selector(default="bench", objects=["bench", "figure"])
    parts = param.List(default=list(PARTS), item_type=str, doc="The panes to show")
    memories = param.List(default=[], item_type=str, doc="Names of the arrays and buffers to show; empty for all")
    unit = param.String(default="step", doc="The name of what → does where it goes from stop to stop")
    stops = param.List(default=[], item_type=int, doc="Steps at which → and ← stop, ascending; empty for every event")
    lockstep = param.Boolean(default=False, doc="Whether to begin in lockstep order, in which the stops are then counted")
    kernel = param.String(default="", doc="Name of the kernel, edited or not, to which breakpoints and watches belong")
    offers = param.Boolean(default=False, doc="Whether the error is shown with an offer to record only the entry point")
    thread = param.Integer(default=-1, doc="The thread chosen at first; -1 for the thread of each event")
    opening = param.Integer(default=0, bounds=(0, None), doc="The step to begin at if the address names none; 0 for the start")
    reason = Maybe(Reason, doc="What the recording is to explain, if not its own findings")
    sentences = param.List(default=[], item_type=str, doc="For each stop, what has happened there, as HTML; empty for none")
    fix = Typed(list[FixLine], default=[], doc="The fix offered with the first finding")
    fix_search = param.Selector(
        default="", objects=["", "ready", "busy", "none"], doc="Whether a fix can be looked for, is being, or was without success"
    )
    caption = param.String(default="", doc="In a figure, an explanation of its drawing, as HTML")
    settings = Child(optional=True, doc="In a figure, a component above it; on a phone, below the drawing once unfolded")
    begins = param.Boolean(default=False, doc="In a folded figure, whether some of `settings` stays in view")
    aside = Child(optional=True, doc="In a figure, a component to the left of the source")
    below = Child(optional=True, doc="In a figure, a component below the source")

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.on_fix = lambda: None
        self._work = BackgroundTask()
        self._latest = object()  # identifies the latest request
        self.packed: PackedRecording | None = None  # the recording shown; held so that browsers can fetch it

    def show(self, packed: PackedRecording, file: str = "", **params: Any) -> None:
        """Show a recording, or the reason why there is none. With `file`, browsers fetch it from this address."""
        if packed.data:
            self.packed = packed
            if packed.meta["recording"] != self.meta.get("recording"):  # otherwise the browser has it already
                params |= {"file": file, "recording": b"" if file else packed.data}
            params |= {"meta": packed.meta}
        self.param.update(busy="", error=packed.meta.get("error", ""), **params)

    def wait(self, what: str = "Recording …") -> None:
        """Show that a recording is being made. The previous one stays visible, dimmed."""
        self.param.update(busy=what, error="", offers=False)

    def progress_callback(self) -> Callable[[int], None]:
        """Return a callback that shows the stage of a recording until it arrives or another one is requested."""
        self._latest = latest = object()

        def report(stage: int) -> None:
            if self._latest is latest and self.busy:
                self.busy = words(stage)

        return report

    async def record(self, job: KernelJob, trusted: bool = False, **params: Any) -> PackedRecording | None:
        """Record `job` on a worker, in the sandbox unless `trusted`, and show the recording.

        Return the recording, or None if the worker failed, in which case `error` says why.
        """
        from splatscope.services.recordings import record_source  # with the pool, which the page of one recording does without
        from splatscope.workers import worker_pool

        self.wait()
        try:
            packed = await record_source(worker_pool, job, trusted=trusted, on_progress=self.progress_callback())
        except (WorkerError, DeviceError, ValueError) as error:
            self.param.update(busy="", error=str(error))
            return None
        self.show(packed, **params)
        return packed

    def begin(self, job: KernelJob, **params: Any) -> None:
        """Record in the background, and cancel an earlier call. Pages call this in `pn.state.onload`."""
        self._work.start(self.record(job, **params))

    def close(self) -> None:
        """Stop waiting for a recording."""
        self._work.cancel()

    @receives("fix")
    def _fix(self) -> None:
        self.on_fix()
