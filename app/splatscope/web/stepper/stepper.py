"""The stepper: one recording, stepped forward and back in the browser. Every lesson and the debugger use it."""

from collections.abc import Callable
from typing import Any

import param
from panel.viewable import Child

from splatscope.gpu.device import DeviceError
from splatscope.recordings.packed import PackedRecording
from splatscope.services.recordings import record_source
from splatscope.tracing.job import KernelJob
from splatscope.tracing.progress import words
from splatscope.web.background import BackgroundTask
from splatscope.web.component import Component
from splatscope.workers import worker_pool
from splatscope.workers.connection import WorkerError

PARTS = ("source", "threads", "memory", "findings", "timeline")

# For the list of keys of a page that has a stepper.
KEYS = [
    ("→ ←", "One event on, or back"),
    ("Shift+→ Shift+←", "To the next or the last barrier"),
    ("S Shift+S", "A statement on or back, of all who execute it together"),
    ("N P", "The chosen thread's next or previous statement"),
    ("Home End", "To the start, to the end"),
    ("Space", "Play or pause"),
    ("T Shift+T", "Choose the next thread, or the one before"),
    ("M", "Follow the cell or variable that this event touches"),
    ("W", "Who wrote this? To the last write of the followed cell or variable; Shift: the next"),
    ("B", "Breakpoint on the current line, or none; Shift: with a condition"),
    ("] [", "On or back to a breakpoint"),
    ("F", "To the next finding; Shift: the last"),
    ("O", "As the device ran it, or in lockstep"),
    ("A", "Watch an expression: keys[lid.x] + 1"),
    ("C", "Where did NaN or infinity come from?"),
    ("/", "Find: T < 1/255, blobs[3] == 7, NaN"),
]


class Stepper(Component):
    """Shows one recording at a time; until it is there, what it waits for.

    `layout` is "bench" (all panes and a dock below, as tall as the window) or "figure" (a panel for a page of words: `aside`,
    a component that draws, at the left, the source at the right, one line of transport). A drawing follows the stepper by
    the browser's event `splatscope:moment` on window, whose detail has the stepper's root and its moment.
    """

    recording = param.Bytes(default=b"", doc="What `recordings.wire.pack` made")
    meta = param.Dict(default={}, doc="Of the recording: adapter, events, findings and the like")
    sequence = param.Integer(default=0, doc="Number of the recording, counted from 1")
    busy = param.String(default="", doc="What is waited for, in words; empty once it is there")
    error = param.String(default="", doc="Why there is no recording, in one line")
    layout = param.Selector(default="bench", objects=["bench", "figure"])
    parts = param.List(default=list(PARTS), item_type=str, doc="The panes that are shown")
    memories = param.List(default=[], item_type=str, doc="Names of the arrays and buffers to show; empty for all")
    unit = param.String(default="event", doc="What one step is called")
    stops = param.List(default=[], item_type=int, doc="Event numbers at which → and ← stop, sorted; empty for every event")
    lockstep = param.Boolean(default=False, doc="Begins in lockstep, which is then the order in which it stops")
    thread = param.Integer(default=-1, doc="The thread that is chosen at first; -1 for that of each event")
    fix = param.List(default=[], doc="The fix offered with the first finding: (sign, line, text)")
    aside = Child(default=None, doc="A component at the left of the source, in a figure")
    below = Child(default=None, doc="A component under the source, in a figure")

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.on_fix = lambda: None
        self._work = BackgroundTask()
        self._latest = object()  # of all that were asked for

    def show(self, packed: PackedRecording, **params: Any) -> None:
        """Shows a recording, or the one line that says why there is none."""
        if packed.data:
            params |= {"recording": packed.data, "meta": packed.meta, "sequence": self.sequence + 1}
        self.param.update(busy="", error=packed.meta.get("error", ""), **params)

    def wait(self, what: str = "Recording …") -> None:
        """Says that a recording is being made; the last one stays in view, pale."""
        self.param.update(busy=what, error="")

    def progress_callback(self) -> Callable[[int], None]:
        """Something to tell what the recording that is being made is at; deaf when another is asked for, or this one has come."""
        self._latest = latest = object()

        def report(stage: int) -> None:
            if self._latest is latest and self.busy:
                self.busy = words(stage)

        return report

    async def record(self, job: KernelJob, trusted: bool = False, **params: Any) -> PackedRecording | None:
        """Records `job` on a worker, in the sandbox unless `trusted`, and shows it.

        Returns what came, None if the worker failed: then `error` says why.
        """
        self.wait()
        try:
            packed = await record_source(worker_pool, job, trusted=trusted, on_progress=self.progress_callback())
        except (WorkerError, DeviceError, ValueError) as error:
            self.param.update(busy="", error=str(error))
            return None
        self.show(packed, **params)
        return packed

    def begin(self, job: KernelJob, **params: Any) -> None:
        """`record` in the background; a later call takes the place of an earlier one. For pages: `pn.state.onload(...)`."""
        self._work.start(self.record(job, **params))

    def close(self) -> None:
        """Waits no longer for a recording that is being made."""
        self._work.cancel()

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if message.get("type") == "fix":
            self.on_fix()
