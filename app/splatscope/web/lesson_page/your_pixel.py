"""The reader's pixel in a section: where it is in its picture, what the section does to it, and whether the figure shows that."""

import re
from typing import NamedTuple

import param

from splatscope.textbook.contents import section_named
from splatscope.textbook.lesson import Lesson
from splatscope.textbook.markdown import html_of, inline
from splatscope.textbook.pixel import AT, SAMPLE, TILE, PixelFacts, sample_picture
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
    story = param.String(doc="What the whole program does to it, as HTML that names `PixelFacts` in braces; empty for no story")
    follows = param.Boolean(doc="Whether the figure can show the pixel")
    picture = param.String(doc="The name of the picture in the address; empty for none")
    pixel = Typed(list[int], default=[], doc="x, y of the pixel in the address; empty for none")
    sample = Typed(ChosenPicture, default=(), doc="The picture for readers who have trained none")
    at = Typed(tuple[int, int], default=AT, doc="Its pixel at first")
    tile = Typed(tuple[int, int], default=TILE, doc="Width and height of a tile in pixels")
    pixels = Typed(list[tuple[int, int]], default=[], doc="The only pixels that can be shown; empty for all")


def your_pixel(lesson: Lesson, story: str = "") -> YourPixel:
    """Return the component for a section with these inputs.

    Args:
        lesson: The section.
        story: What the whole program does to the pixel, as Markdown that names `PixelFacts` in braces.

    Raises:
        ValueError: The story names something else.
    """
    if unknown := {*re.findall(r"\{(\w+)\}", story)} - PixelFacts.__annotations__.keys():
        raise ValueError(f"No fact of a pixel is called {min(unknown)}; there are {', '.join(PixelFacts.__annotations__)}.")
    width, height = sample_picture().size
    return YourPixel(
        sentence="" if story else inline(section_named(lesson.stem()).pixel),
        story=html_of(story) if story else "",
        follows=lesson.from_pixel is not None and not story,
        picture=lesson.picture,
        pixel=list(lesson.at),
        sample=(SAMPLE, width, height, assets.address(DRAWN)),
    )
