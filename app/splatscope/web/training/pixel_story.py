"""What a pixel of a training run is made of: its place in the picture, and its layers from front to back."""

from typing import Any, NamedTuple

import param

from splatscope.services.tile_inspector import TileRecording
from splatscope.web.runtime.component import Component, Typed


class Layer(NamedTuple):
    """A Gaussian at a pixel: its number, its colour as CSS, α, and the transmittance in front of it and behind it."""

    id: int
    colour: str
    alpha: float
    before: float
    after: float


class PixelStory(Component):
    """A crop of the picture in which the pixel and its tile are marked, and the pixel's layers as shares of it."""

    picture = param.Bytes(default=b"", doc="The whole picture as a PNG; empty until it is there")
    pixel = Typed(tuple[int, int], default=[], doc="x, y")
    tile = Typed(tuple[int, int], default=(8, 4), doc="Width and height of a tile in pixels")
    target = param.List(default=[], item_type=float, doc="The target's colour at the pixel: red, green, blue in 0 … 1")
    layers = Typed(list[Layer], default=[], doc="The tile's Gaussians, nearest first")
    colour = param.List(
        default=[], item_type=float, doc="The recorded colour: red, green, blue in 0 … 1; empty until it is recorded"
    )
    followed = param.String(default="", doc="What sections call the trained picture; empty if they cannot show it")
    here = param.Boolean(default=False, doc="Whether the run is in this browser, where no layer can be stepped to")
    busy = param.String(default="", doc="What is being waited for")
    error = param.String(default="", doc="Why there are no layers, in one line")

    def clear(self) -> None:
        """Show nothing."""
        self.param.update(picture=b"", pixel=[], layers=[], colour=[], busy="", error="")

    def wait(self, what: str) -> None:
        """Show what is being waited for."""
        self.param.update(busy=what, error="")

    def show_pixel(self, pixel: tuple[int, int], tile: tuple[int, int], picture: bytes, target: tuple[float, float, float]) -> None:
        """Show where the pixel is in a picture, a PNG, and its colour in the target. Its layers are not known yet."""
        self.param.update(pixel=pixel, tile=tile, picture=picture, target=list(target), layers=[], colour=[])

    def show_layers(self, recording: TileRecording) -> None:
        """Show the layers of a recording of the blend stage, or why there are none."""
        values: dict[str, Any] = {"busy": "", "error": recording.packed.meta.get("error", "")}
        if recording.light is not None and recording.alphas is not None:
            before = [1.0, *recording.light[:-1].tolist()]
            colours = [f"rgb({r} {g} {b})" for r, g, b in (recording.colours * 255).round().astype(int).tolist()]
            rows = zip(recording.listed, colours, recording.alphas.tolist(), before, recording.light.tolist(), strict=True)
            values |= {"layers": [list(row) for row in rows], "colour": list(recording.colour)}
        self.param.update(**values)
