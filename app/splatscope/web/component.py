"""The base class of the app's browser components: one bundle, one style sheet, and none of Panel's designs."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Literal

import panel as pn
import param
from cachetools import TTLCache, cached
from panel.custom import JSComponent
from panel.theme.base import Design
from panel.viewable import Child, Children

from splatscope.paths import BUNDLE, LESSONS, PACKAGE
from splatscope.web.assets import address
from splatscope.web.receivers import deliver

WEB = PACKAGE / "web"
Described = dict[str, Any]


class Bare(Design):
    """A design that adds nothing, so that only the app's own tokens apply and components fetch no style sheets."""


class Component(JSComponent):
    """A component drawn by the export of the same name in `index.js`.

    The bundle's default export maps class names to modules with a function `render({model, el, view})`. A subclass declares the
    parameters that both sides share. Messages are sent by `_send_msg` and received by methods with `receives`, and not debounced.
    """

    sizing_mode = param.Selector(  # ty: ignore[invalid-assignment] - Panel declares the type of the value
        default="stretch_width", objects=JSComponent.param.sizing_mode.objects
    )

    _bundle = BUNDLE
    _stylesheets: ClassVar[list[str]] = []

    __abstract = True

    def __init__(self, **params: Any):
        params.setdefault("design", Bare)
        super().__init__(**params)

    def described(self) -> Described:
        """Return class, values and children as JSON types. `described_component.js` draws the component from them.

        Raises:
            TypeError: A value has no JSON type, or a child is not a component of the app.
        """
        parameters = {name: self.param[name] for name in self.param if name not in JSComponent.param}
        children = {name: getattr(self, name) for name, parameter in parameters.items() if isinstance(parameter, Child | Children)}
        values = {name: plain(getattr(self, name)) for name, parameter in parameters.items() if name not in children}
        return {"class": type(self).__name__, "values": values, "children": _described(children)}

    def _handle_msg(self, data: Any) -> None:
        """Handle a browser's message once the page has loaded, since Panel drops what changes before."""
        pn.state.onload(partial(self._receive, data))

    def _receive(self, message: Any) -> None:
        deliver(self, message)

    @classmethod
    def _render_esm(cls, compiled: bool | Literal["compiling"] = True, server: bool = False) -> str:
        """Return the bundle's address in this session; its text where there is no server."""
        if not server:
            return super()._render_esm(compiled, server)
        assert pn.state.curdoc is not None
        return f"./{pn.state.curdoc.template_variables.get('bundle') or address(BUNDLE.name)}"


def _described(child: Any) -> Any:
    match child:
        case Component():
            return child.described()
        case None:
            return None
        case list():
            return [_described(item) for item in child]
        case dict():
            return {name: _described(member) for name, member in child.items()}
    raise TypeError(f"A description cannot hold a {type(child).__name__}")


def flat(described: Described) -> list[Described]:
    """Return the descriptions of a component and of everything in it, in the order of `flat` in `described_component.js`."""
    children = [child for item in described["children"].values() for child in (item if isinstance(item, list) else [item]) if child]
    return [described, *(part for child in children for part in flat(child))]


def components(root: Component) -> list[Component]:
    """Return a component and everything in it, in the same order."""
    names = [name for name in root.param if name not in JSComponent.param]
    contents = [getattr(root, name) for name in names if isinstance(root.param[name], Child | Children)]
    children = [child for item in contents for child in (item if isinstance(item, list) else [item]) if child is not None]
    return [root, *(part for child in children for part in components(child))]


def plain(value: Any) -> Any:
    """Return a parameter's value as JSON types, equal to what the browser would get from Bokeh. Bytes are left out.

    Raises:
        TypeError: The value has no JSON type.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float() if math.isfinite(value):
            return value
        case bytes():
            return None
        case list() | tuple():
            return [plain(item) for item in value]
        case Mapping() if all(isinstance(name, str) for name in value):
            return {name: plain(item) for name, item in value.items()}
    raise TypeError(f"JSON cannot hold {value!r}")


@cached(TTLCache(1, ttl=1.0))  # each document asks for it, and reading the files takes milliseconds
def style_sheet() -> str:
    """Return all of the app's CSS as one text: tokens and base first, forced colours and print last, the rest in between."""
    first = [WEB / "theme" / "tokens.css", WEB / "theme" / "base.css"]
    last = [WEB / "theme" / "forced_colors.css", WEB / "theme" / "print.css"]
    # The build bundles these into files of their own.
    separate = [*WEB.glob("single_page/*.css"), *WEB.glob("dist/*.css"), WEB / "theme" / "fonts.css"]
    rest = {*WEB.glob("*/*.css"), *LESSONS.glob("*/drawing.css")} - {*first, *last, *separate}
    # By name, drawing.css comes before lesson_page.css, which overrides it.
    rest = sorted(rest, key=lambda path: (path.name, path.parent.name))
    return "\n".join(path.read_text(encoding="utf-8") for path in [*first, *rest, *last])
