"""A small live picture with a slider for the number of Gaussians that the device blends."""

from collections.abc import Awaitable, Callable
from typing import Any

import param

from splatscope.web.background import BackgroundTask
from splatscope.web.runtime.receivers import receives
from splatscope.web.widgets.frame import Frame

Render = Callable[[int], Awaitable[bytes]]


class LiveRender(Frame):
    """A `Frame` with a slider for n, the number of Gaussians that are blended.

    `stills` are pictures drawn in advance, one for each of `counts`, which are shown at once.

    The coroutine `render(n)`, with 1 ≤ n ≤ total, returns an encoded picture. The browser requests a frame only after the last one
    was drawn, so only one call runs at a time. An error in `render` is shown as one line below the picture.
    """

    total = param.Integer(default=1, bounds=(1, None), doc="The number of Gaussians, N")
    count = param.Integer(default=1, bounds=(1, None), doc="The initial n")
    width_px = param.Integer(default=384, doc="Width of the frames in pixels, reserved before the first arrives")
    height_px = param.Integer(default=256, doc="Height of the frames in pixels")
    stills = param.String(doc="Address of the pictures drawn in advance, in one column; empty for none")
    counts = param.List(default=[], item_type=int, doc="The number of Gaussians in each of them, ascending")
    picture = param.String(doc="Name of the trained picture in assets/, whose Gaussians a published book has in a file")
    ready = param.Boolean(default=False, doc="Whether there is a `render`")

    def __init__(self, render: Render | None = None, **params: Any):
        super().__init__(ready=render is not None, **params)
        self._render = render
        self._work = BackgroundTask()

    def close(self) -> None:
        """Cancel the current call."""
        self._work.cancel()

    @receives("ask")
    def _ask(self, count: int) -> None:
        if self._render is not None:
            self._work.start(self._answer(self._render, min(max(1, count), self.total)))

    async def _answer(self, render: Render, count: int) -> None:
        try:
            frame = await render(count)
        except Exception as error:  # whatever the device does, the page must continue
            self.send({"type": "failed", "message": str(error) or type(error).__name__})
        else:
            self.show(frame, count=count)
