"""A small live picture: a slider sets how many Gaussians are blended, and a device draws them."""

from collections.abc import Awaitable, Callable
from typing import Any

import param

from splatscope.web.background import BackgroundTask
from splatscope.web.widgets.frame import Frame

Render = Callable[[int], Awaitable[bytes]]


class LiveRender(Frame):
    """A `Frame` with a slider "Gaussians blended: n of N".

    `render(n)` is awaited with 1 ≤ n ≤ total and returns an encoded picture. The browser asks for the next frame only when the last
    was drawn, so one call runs at a time. An error of `render` is shown as one line below the picture.
    """

    total = param.Integer(default=1, bounds=(1, None), doc="N, the number of Gaussians there are")
    count = param.Integer(default=1, bounds=(1, None), doc="n at the start")
    width_px = param.Integer(default=384, doc="Width of the frames, reserved before the first arrives")
    height_px = param.Integer(default=256, doc="Height of the frames")
    ready = param.Boolean(default=False, doc="Whether there is a job to ask")

    def __init__(self, render: Render | None = None, **params: Any):
        super().__init__(ready=render is not None, **params)
        self._render = render
        self._work = BackgroundTask()

    def close(self) -> None:
        """Cancel the call that is running."""
        self._work.cancel()

    def _handle_msg(self, message: dict[str, Any]) -> None:
        super()._handle_msg(message)
        if message.get("type") == "ask" and self._render is not None:
            count = min(max(1, int(message["count"])), self.total)
            self._work.start(self._answer(count))

    async def _answer(self, count: int) -> None:
        try:
            frame = await self._render(count)
        except Exception as error:  # whatever a device does, the page goes on
            self._send_msg({"type": "failed", "message": str(error) or type(error).__name__})
        else:
            self.show(frame, count=count)
