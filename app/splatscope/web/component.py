"""What every browser component of the app shares: one bundle, one style sheet, no design of Panel's."""

from typing import Any, ClassVar

import param
from panel.custom import JSComponent
from panel.theme.base import Design

from splatscope.paths import BUNDLE, LESSONS, PACKAGE

WEB = PACKAGE / "web"


class Bare(Design):
    """A design that adds nothing: our tokens are the only look, and no style sheet is fetched for each component."""


class Component(JSComponent):
    """A component drawn by the export of the same name in `index.js`.

    The bundle's default export maps class names to modules with a `render({model, el, view})`. A subclass declares the
    parameters the two sides share; messages go through `_send_msg` and `_handle_msg`, which are not debounced.
    """

    sizing_mode = param.Selector(default="stretch_width", objects=JSComponent.param.sizing_mode.objects)

    _bundle = BUNDLE
    _stylesheets: ClassVar[list[str]] = []

    __abstract = True

    def __init__(self, **params: Any):
        params.setdefault("design", Bare)
        super().__init__(**params)


def style_sheet() -> str:
    """All of the app's CSS as one text: tokens first, then the base, then the rest by file name."""
    first = [WEB / "theme" / "tokens.css", WEB / "theme" / "base.css"]
    rest = {*WEB.glob("*/*.css"), *LESSONS.glob("*/drawing.css")} - set(first)
    rest = sorted(
        rest, key=lambda path: (path.name, path.parent.name)
    )  # drawings come before the lesson page, which overrules them
    return "\n".join(path.read_text(encoding="utf-8") for path in [*first, *rest])
