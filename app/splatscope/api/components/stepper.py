"""A stepper for any page of Panel."""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import param

from splatscope.recordings.packed import PackedRecording
from splatscope.web.embedded import Embedded
from splatscope.web.stepper import stepper


class Packs(Protocol):
    """What can be packed for the browser: a `splatscope.Recording`."""

    def packed(self) -> PackedRecording:
        """Return the recording in the form that the browser reads."""


class Stepper(Embedded):
    """Steps through a recording, forward and back.

    `step` and `thread` follow the reader, and the reader's page follows them, without a server in between. Their bounds are those
    of the recording. `step` is at first where there is most to see: at the last finding, or at the end.
    """

    recording = param.Parameter(allow_refs=True, doc="What `splatscope.record`, `capture` or `load` returned")
    step = param.Integer(default=-1, bounds=(-1, None), doc="The event after which it stands, counted from 1; -1 for no recording")
    thread = param.Integer(default=-1, bounds=(-1, None), doc="The chosen thread; -1 for the thread of each event")
    layout = param.Selector(default="bench", objects=["bench", "figure"], constant=True, doc="All panes, or one line of controls")
    title = param.String(default="A recording in Splatscope", doc="The name of its frame, for screen readers")
    grows = param.Boolean(default=False, doc="Whether it is as high as what it shows, rather than `height`")

    _rename: ClassVar[Mapping[str, str | None]] = {"recording": None, "layout": None}

    def __init__(self, recording: Packs | None = None, **params: Any):
        self._stepper = stepper.Stepper(layout=params.get("layout", "bench"))
        super().__init__(self._stepper, **{"height": 720} | params)
        if recording is not None:
            self.recording = recording

    @param.depends("recording", watch=True)
    def _show(self) -> None:
        packed = self.recording.packed()
        self._stepper.show(packed, opening=packed.meta["opening"])
        bound(self, "step", 0, packed.meta["events"], packed.meta["opening"])
        bound(self, "thread", -1, packed.meta["threads"] - 1, -1)


def bound(component: param.Parameterized, name: str, least: int, most: int, first: int) -> None:
    """Bound a parameter. If its value is not within the bounds, it becomes `first`."""
    parameter, value = component.param[name], getattr(component, name)
    assert isinstance(parameter, param.Integer)
    parameter.bounds = (min(least, value), max(most, value))  # the value is not refused
    if not least <= value <= most:
        setattr(component, name, first)
    parameter.bounds = (least, most)
