"""Live pictures with back-pressure: no frame is sent before the browser has drawn the one before it."""

from typing import Any

import param

from .component import Component


class Frame(Component):
    """A canvas at the picture's own pixel size, fed encoded bytes (PNG, JPEG, WebP).

    `show` may be called as often as frames come: while one is on its way the newest waits, those between are dropped.
    Ask `idle` first where encoding costs something.
    """

    frame = param.Bytes(default=b"", doc="The encoded picture now shown")
    sequence = param.Integer(default=0, doc="Number of the frame, counted from 1; the browser acknowledges it")
    data = param.Dict(default={}, doc="data-attributes of the canvas, by name without `data-`")
    alt = param.String(default="", doc="What the picture shows, for those who do not see it")

    def __init__(self, **params: Any):
        super().__init__(**params)
        self._waiting: tuple[bytes, dict[str, Any]] | None = None
        self._drawn = self.sequence

    @property
    def idle(self) -> bool:
        """Whether the browser has drawn all that it was sent."""
        return self._drawn == self.sequence and self._waiting is None

    def show(self, frame: bytes, **data: Any) -> None:
        """Shows a picture, now or as soon as the one before it is drawn. `data` updates the canvas' data-attributes."""
        if self._drawn != self.sequence:
            self._waiting = (frame, {**(self._waiting[1] if self._waiting else {}), **data})
            return
        values = {name: str(value) for name, value in {**self.data, **data}.items()}
        self.param.update(frame=frame, data=values, sequence=self.sequence + 1)

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if message.get("type") != "drawn":
            return
        self._drawn = int(message["sequence"])
        if self._waiting is not None and self._drawn == self.sequence:
            (frame, data), self._waiting = self._waiting, None
            self.show(frame, **data)
