"""A picture of Gaussians for any page of Panel, drawn anew at each enlargement."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
import param

from splatscope.api.errors import FitError
from splatscope.api.splats import Splats as Model
from splatscope.gpu.device import DeviceError
from splatscope.splat.files.images import encode, to_bytes
from splatscope.web.embedded import Embedded
from splatscope.web.widgets.zoomed_picture import Region, ZoomedPicture


class Splats(Embedded):
    """Shows the picture that Gaussians draw. The reader moves and enlarges it, and a device draws each part in full detail.

    `region` follows the reader, and the reader's page follows it.
    """

    model = param.ClassSelector(class_=Model, doc="A `splatscope.Fit`, or what `splatscope.load_splats` returned")
    region = param.Tuple(default=None, allow_None=True, length=4, doc="Left, top, right and bottom in pixels; None for all")
    size = param.Integer(default=1024, bounds=(16, 8192), doc="Pixels of the longer side that are drawn")
    message = param.String(default="", doc="What went wrong, in one line")
    title = param.String(default="Gaussians in Splatscope", doc="The name of its frame, for screen readers")
    grows = param.Boolean(default=True, doc="Whether it is as high as what it shows, rather than `height`")

    _rename: ClassVar[Mapping[str, str | None]] = {"model": None, "region": None, "size": None}

    def __init__(self, model: Model, **params: Any):
        self._picture = ZoomedPicture(self._look, alt="The picture that the Gaussians draw", data={"testid": "zoomed-picture"})
        super().__init__(self._picture, model=model, **params)
        self._draw()

    def _look(self, region: Region) -> None:
        left, top, right, bottom = region
        if left < right and top < bottom:
            self.region = region

    @param.depends("model", "region", "size", watch=True)
    def _draw(self) -> None:
        model = self.model
        assert model is not None
        left, top, right, bottom = map(float, self.region or (0, 0, model.width, model.height))
        region = left, top, right, bottom
        self._picture.param.update(width=model.width, height=model.height, region=region)
        self._begin(partial(self._render, model, region))

    async def _render(self, model: Model, region: Region) -> None:
        try:
            pixels = await asyncio.to_thread(model.render, size=self.size, region=region)
        except (ValueError, DeviceError, FitError) as error:
            self.message = str(error)
            return
        self._picture.shown = region
        self._picture.show(encode(to_bytes(np.asarray(pixels)), "PNG"))
        self.message = ""
