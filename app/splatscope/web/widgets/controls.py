"""A form made from the parameters of a settings object, which declare names, bounds, choices and labels."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

import param

from splatscope.web.runtime.component import Component, Typed
from splatscope.web.runtime.receivers import receives
from splatscope.web.widgets.upload import Inbox, Upload


class _Named(TypedDict):
    name: str
    label: str


class _Item(_Named):
    doc: str


_Span = TypedDict("_Span", {"from": float, "to": float})


class _Bounds(TypedDict):
    min: float
    max: float
    whole: bool


class NumberItem(_Item, _Bounds):
    """A field for a number."""

    kind: Literal["number"]


class SliderItem(_Item, _Bounds, _Span):
    """A slider with a field.

    Attributes:
        from, to: The ends of the slider.
        live: Whether values are sent during a drag.
    """

    kind: Literal["slider"]
    log: bool
    live: bool


class SegmentsItem(_Item):
    """A row of buttons. Each option is a value and its label."""

    kind: Literal["segments"]
    options: list[tuple[Any, str]]


class MenuItem(_Item):
    """A menu, which is `bare` if its label is not shown. Each option is a value and its label."""

    kind: Literal["menu"]
    options: list[tuple[str, str]]
    bare: NotRequired[bool]


class TextItem(_Item):
    """A field for text."""

    kind: Literal["text"]


class BarsItem(_Item):
    """Bars for `count` whole numbers."""

    kind: Literal["bars"]
    count: int
    min: int
    max: int


class BitsItem(_Item):
    """A switch for each bit of a number, in groups, each with its name and width."""

    kind: Literal["bits"]
    parts: list[tuple[str, int]]


class ActionItem(_Named):
    """A button, perhaps `on_phones` only."""

    kind: Literal["action"]
    on_phones: bool


class UploadItem(_Named):
    """A button for choosing a file of at most `most` bytes."""

    kind: Literal["upload"]
    accept: str
    most: int
    testid: str


Item: TypeAlias = NumberItem | SliderItem | SegmentsItem | MenuItem | TextItem | BarsItem | BitsItem | ActionItem | UploadItem


class Group(TypedDict):
    """Items under a heading, which a bar does not show but only tells. A `folded` group opens on a click."""

    title: str
    items: list[Item]
    folded: bool


class Controls(Component):
    """Groups of native inputs. Each change goes to `on_change(name, value)`, each file to the callback of its upload item.

    The browser shows what was typed until Python answers. `values` holds the actual values, `notes` a line below an item.
    """

    groups = Typed(list[Group], default=[], doc="In order of importance")
    values = Typed(dict[str, Any], default={}, doc="The value of every item by name")
    notes = Typed(dict[str, str], default={}, doc="A line below an item, by its name")
    away = param.List(default=[], item_type=str, doc="The names of items that do not apply now and are hidden")
    bar = param.Boolean(default=False, doc="Whether the form is a bar above a figure, rather than a column at its side")
    first = param.String(default="", doc="In the bar of a folded figure, the item that stays in view; empty where none is folded")

    def __init__(
        self,
        on_change: Callable[[str, Any], None] = lambda name, value: None,
        uploads: Mapping[str, Callable[[Upload], Any]] = {},
        **params: Any,
    ):
        """Pass changes to `on_change(name, value)`, and files to the callback of their item. In a section, its carrier takes both.

        A file that is refused is a change of `NAME!`, whose value says why in one line.
        """
        super().__init__(**params)
        self._on_change = on_change
        self._inboxes = {name: Inbox(receive, partial(on_change, f"{name}!")) for name, receive in uploads.items()}

    def close(self) -> None:
        """Drop unfinished uploads."""
        for inbox in self._inboxes.values():
            inbox.close()

    def tell(self, values: dict[str, Any], notes: dict[str, str] | None = None) -> None:
        """Show these values in the inputs in place of what was typed."""
        self.param.update(values=self.values | values, notes=self.notes | (notes or {}))
        self.send({"type": "answered"})

    @receives("set")
    def _set(self, name: str, value: Any = None) -> None:
        self._on_change(name, value)

    @receives("chunk")
    def _take(self, name: str, message: dict[str, Any]) -> None:
        if name in self._inboxes:
            self._inboxes[name].take(message)


def group(title: str, *items: Item, folded: bool = False) -> Group:
    """Return items under a heading."""
    return {"title": title, "items": list(items), "folded": folded}


def number(parameter: param.Number) -> NumberItem:
    """Return a field for a number."""
    return {"kind": "number", **_item(parameter), **_bounds(parameter)}


def slider(
    parameter: param.Number, *, low: float | None = None, high: float | None = None, log: bool = False, live: bool = False
) -> SliderItem:
    """Return a slider from `low` to `high`, perhaps logarithmic, with a field beside it that takes any allowed value.

    A `live` slider sends its value during a drag.
    """
    bounds = _bounds(parameter)
    low, high = bounds["min"] if low is None else low, bounds["max"] if high is None else high
    return {"kind": "slider", **_item(parameter), **bounds, "from": low, "to": high, "log": log, "live": live}


def choice(parameter: param.Selector, *, as_menu: bool = False) -> SegmentsItem | MenuItem:
    """Return a row of segments, or a menu if `as_menu`. Objects that have names are labelled with them."""
    objects = list(parameter.objects)
    labels = list(parameter.names or ()) or [str(value)[:1].upper() + str(value)[1:] for value in objects]
    options = list(zip(objects, labels, strict=True))
    if as_menu:
        return {"kind": "menu", **_item(parameter), "options": options}
    return {"kind": "segments", **_item(parameter), "options": options}


def switch(parameter: param.Boolean, off: str = "Off", on: str = "On") -> SegmentsItem:
    """Return a switch of two segments."""
    return {"kind": "segments", **_item(parameter), "options": [(False, off), (True, on)]}


def text(parameter: param.String) -> TextItem:
    """Return a field for text."""
    return {"kind": "text", **_item(parameter)}


def bars(parameter: param.String, count: int, low: int, high: int) -> BarsItem:
    """Return `count` bars for whole numbers in `low` … `high`. The parameter holds them separated by spaces."""
    return {"kind": "bars", **_item(parameter), "count": count, "min": low, "max": high}


def bits(parameter: param.Integer, parts: list[tuple[str, int]]) -> BitsItem:
    """Return a switch for each bit of a number, the highest first, in groups `parts` of (name, width)."""
    return {"kind": "bits", **_item(parameter), "parts": parts}


def menu(name: str, label: str, options: list[tuple[str, str]]) -> MenuItem:
    """Return a menu of (value, label) without a parameter."""
    return {"kind": "menu", "name": name, "label": label, "doc": "", "options": options, "bare": True}


def upload(name: str, label: str, accept: str, most_bytes: int, testid: str = "") -> UploadItem:
    """Return a button for choosing a file, which can also be dropped on it."""
    return {"kind": "upload", "name": name, "label": label, "accept": accept, "most": most_bytes, "testid": testid}


def action(name: str, label: str, *, on_phones: bool = False) -> ActionItem:
    """Return a button. With `on_phones`, it is shown only if the top bar has no room for one."""
    return {"kind": "action", "name": name, "label": label, "on_phones": on_phones}


def _item(parameter: param.Parameter) -> _Item:
    return {"name": parameter.name or "", "label": parameter.label or "", "doc": parameter.doc or ""}


def _bounds(parameter: param.Number) -> _Bounds:
    low, high = parameter.bounds or (None, None)
    assert low is not None
    assert high is not None
    return {"min": low, "max": high, "whole": isinstance(parameter, param.Integer)}
