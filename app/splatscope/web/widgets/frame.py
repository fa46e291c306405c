"""Live pictures with back-pressure: a frame is sent only after the browser has drawn the previous one."""

import time
from typing import Any

import param

from splatscope.web.runtime.component import Component, Typed
from splatscope.web.runtime.receivers import receives

PATIENCE = 5.0  # seconds after which a frame without acknowledgement counts as lost, with its connection


class Frame(Component):
    """A canvas at the picture's own pixel size, fed encoded bytes (PNG, JPEG, WebP).

    `show` may be called for every frame: while one is being sent, only the newest waits, and those in between are dropped. If
    encoding is costly, check `idle` first.
    """

    frame = param.Bytes(default=b"", doc="The encoded picture that is shown")
    sequence = param.Integer(default=0, doc="Number of the frame, counted from 1; the browser acknowledges it")
    data = Typed(dict[str, str], default={}, doc="data-attributes of the canvas, by name without `data-`")
    alt = param.String(default="", doc="What the picture shows, for screen readers")

    def __init__(self, **params: Any):
        """Start without a frame."""
        super().__init__(**params)
        self._waiting: tuple[bytes, dict[str, Any]] | None = None
        self._drawn = self.sequence
        self._sent = 0.0

    @property
    def idle(self) -> bool:
        """Whether the browser has drawn all frames, so that the next one would be sent at once."""
        return self._drawn == self.sequence or time.monotonic() - self._sent > PATIENCE

    def show(self, frame: bytes, **data: Any) -> None:
        """Show a picture, now or as soon as the previous one is drawn. `data` updates the canvas's data attributes."""
        if self._waiting is not None:
            data = self._waiting[1] | data
        if not self.idle:
            self._waiting = (frame, data)
            return
        self._waiting, self._sent = None, time.monotonic()
        values = {name: str(value) for name, value in (self.data | data).items()}
        self.param.update(frame=frame, data=values, sequence=self.sequence + 1)

    @receives("drawn")
    def _acknowledge(self, sequence: int) -> None:
        self._drawn = sequence
        if self._waiting is not None:
            frame, data = self._waiting
            self.show(frame, **data)
