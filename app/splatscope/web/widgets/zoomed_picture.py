"""A picture of which a part is shown, drawn anew for each part."""

from collections.abc import Callable
from typing import Any

import param

from splatscope.web.runtime.component import Typed
from splatscope.web.runtime.receivers import receives
from splatscope.web.widgets.frame import Frame

Region = tuple[float, float, float, float]


class ZoomedPicture(Frame):
    """A picture that the reader moves and enlarges. `on_region` is called with the part to show."""

    width = param.Integer(default=1, bounds=(1, None), doc="Of the whole picture, in its pixels")
    height = param.Integer(default=1, bounds=(1, None))
    region = Typed(
        tuple[float, float, float, float], default=(0.0, 0.0, 1.0, 1.0), doc="Left, top, right, bottom of what is wanted"
    )
    shown = Typed(tuple[float, float, float, float], default=(0.0, 0.0, 1.0, 1.0), doc="The same of the frame")

    def __init__(self, on_region: Callable[[Region], None], **params: Any):
        """Start without a frame."""
        super().__init__(**params)
        self._on_region = on_region

    @receives("look")
    def _look(self, left: float, top: float, right: float, bottom: float) -> None:
        self._on_region((left, top, right, bottom))
