"""The base class of the app's browser components: one bundle, one style sheet, and none of Panel's designs."""

from typing import Any, ClassVar

import panel as pn
import param
from panel.custom import JSComponent
from panel.theme.base import Design

from splatscope.paths import BUNDLE, LESSONS, PACKAGE
from splatscope.web.assets import address

WEB = PACKAGE / "web"


class Bare(Design):
    """A design that adds nothing, so that only the app's own tokens apply and components fetch no style sheets."""


class Component(JSComponent):
    """A component drawn by the export of the same name in `index.js`.

    The bundle's default export maps class names to modules with a function `render({model, el, view})`. A subclass declares the
    parameters that both sides share. Messages are sent by `_send_msg` and received by `_handle_msg`, which are not debounced.
    """

    sizing_mode = param.Selector(default="stretch_width", objects=JSComponent.param.sizing_mode.objects)

    _bundle = BUNDLE
    _stylesheets: ClassVar[list[str]] = []

    __abstract = True

    def __init__(self, **params: Any):
        params.setdefault("design", Bare)
        super().__init__(**params)

    @classmethod
    def _render_esm(cls, compiled: bool = True, server: bool = False) -> str:
        """Return the bundle's address in this session, or outside a server its text."""
        if not server:
            return super()._render_esm(compiled, server)
        return f"./{pn.state.curdoc.template_variables.get('bundle') or address(BUNDLE.name)}"


def style_sheet() -> str:
    """Return all of the app's CSS as one text: tokens and the base first, forced colours and print last, between them the rest."""
    first = [WEB / "theme" / "tokens.css", WEB / "theme" / "base.css"]
    last = [WEB / "theme" / "forced_colors.css", WEB / "theme" / "print.css"]
    own = WEB.glob("single_page/*.css")  # of a page that is no page of the app
    rest = {*WEB.glob("*/*.css"), *LESSONS.glob("*/drawing.css")} - {*first, *last, *own}
    # By name, drawing.css comes before lesson_page.css, which overrides it.
    rest = sorted(rest, key=lambda path: (path.name, path.parent.name))
    return "\n".join(path.read_text(encoding="utf-8") for path in [*first, *rest, *last])
