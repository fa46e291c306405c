"""A trained picture with a slider for the number of Gaussians that the reader's device blends."""

import param

from splatscope.web.runtime.receivers import receives
from splatscope.web.widgets.frame import Frame


class LiveRender(Frame):
    """A `Frame` with a slider for n, the number of Gaussians that are blended.

    `stills` are pictures drawn in advance, one for each of `counts`, which are shown at once. The browser requests a frame only
    after the last one was drawn. An error is shown as one line below the picture.
    """

    total = param.Integer(default=1, bounds=(1, None), doc="The number of Gaussians, N")
    count = param.Integer(default=1, bounds=(1, None), doc="The initial n")
    width_px = param.Integer(default=384, doc="Width of the frames in pixels, reserved before the first arrives")
    height_px = param.Integer(default=256, doc="Height of the frames in pixels")
    stills = param.String(doc="Address of the pictures drawn in advance, in one column; empty for none")
    counts = param.List(default=[], item_type=int, doc="The number of Gaussians in each of them, ascending")
    picture = param.String(doc="Name of the trained picture in assets/, whose Gaussians a published book has in a file")

    @receives("ask")
    def _ask(self, count: int) -> None:
        """Nobody is asked here: a published book has no session, and its carrier draws the frame."""
