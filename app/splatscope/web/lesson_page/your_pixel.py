"""The reader's pixel in a section: where it is in its picture, what the section does to it, and whether the figure shows that."""

from typing import NamedTuple

import param

from splatscope.textbook.contents import section_named
from splatscope.textbook.lesson import Lesson
from splatscope.textbook.markdown import inline
from splatscope.textbook.pixel import AT, SAMPLE, TILE, sample_picture
from splatscope.web import assets
from splatscope.web.runtime.component import Component, Typed

DRAWN = "opening-pixels.webp"  # what the sample's Gaussians draw, pixel by pixel


class ChosenPicture(NamedTuple):
    """A trained picture: its name, width and height in pixels, and the address of a picture of it."""

    name: str
    width: int
    height: int
    image: str


class YourPixel(Component):
    """The picture with a tile and a pixel marked, which the reader chooses, and the press that puts it into the figure."""

    sentence = param.String(doc="What the section does to the pixel, as HTML")
    follows = param.Boolean(doc="Whether the figure can show the pixel")
    picture = param.String(doc="The name of the picture in the address; empty for none")
    pixel = Typed(list[int], default=[], doc="x, y of the pixel in the address; empty for none")
    sample = Typed(ChosenPicture, default=(), doc="The picture for readers who have trained none")
    at = Typed(tuple[int, int], default=AT, doc="Its pixel at first")
    tile = Typed(tuple[int, int], default=TILE, doc="Width and height of a tile in pixels")
    pixels = Typed(list[tuple[int, int]], default=[], doc="The only pixels that can be shown; empty for all")


def your_pixel(lesson: Lesson) -> YourPixel:
    """Return the component for a section with these inputs."""
    width, height = sample_picture().size
    return YourPixel(
        sentence=inline(section_named(lesson.stem()).pixel),
        follows=lesson.from_pixel is not None,
        picture=lesson.picture,
        pixel=list(lesson.at),
        sample=(SAMPLE, width, height, assets.address(DRAWN)),
    )
