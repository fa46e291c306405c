"""A form made from the parameters of a settings object, which declare names, bounds, choices and labels."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import param

from splatscope.web.runtime.component import Component
from splatscope.web.runtime.receivers import receives
from splatscope.web.widgets.upload import Inbox, Upload

Spec = dict[str, Any]


class Controls(Component):
    """Groups of native inputs. Each change goes to `on_change(name, value)`, each file to the callback of its upload item.

    The browser shows what was typed until Python answers. `values` holds the actual values, `notes` a line below an item.
    """

    groups = param.List(default=[], item_type=dict, doc="Groups made by `group`, in order of importance")
    values = param.Dict(default={}, doc="The value of every item by name")
    notes = param.Dict(default={}, doc="A line below an item, by its name")
    bar = param.Boolean(default=False, doc="Whether the form is a bar above a figure, rather than a column at its side")

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


def group(title: str, *items: Spec, folded: bool = False) -> Spec:
    """Return items under a heading, which a bar does not show but only tells. A `folded` group opens on a click."""
    return {"title": title, "items": list(items), "folded": folded}


def number(parameter: param.Number) -> Spec:
    """Return a field for a number."""
    return _item("number", parameter) | _bounds(parameter)


def slider(
    parameter: param.Number, *, low: float | None = None, high: float | None = None, log: bool = False, live: bool = False
) -> Spec:
    """Return a slider from `low` to `high`, perhaps logarithmic, with a field beside it that takes any allowed value.

    A `live` slider sends its value during a drag.
    """
    bounds = _bounds(parameter)
    span = {"from": bounds["min"] if low is None else low, "to": bounds["max"] if high is None else high, "log": log, "live": live}
    return _item("slider", parameter) | bounds | span


def choice(parameter: param.Selector, *, as_menu: bool = False) -> Spec:
    """Return a row of segments, or a menu if `as_menu`. Objects that have names are labelled with them."""
    objects = list(parameter.objects)
    labels = list(parameter.names or ()) or [str(value)[:1].upper() + str(value)[1:] for value in objects]
    return _item("menu" if as_menu else "segments", parameter) | {"options": list(zip(objects, labels, strict=True))}


def switch(parameter: param.Boolean, off: str = "Off", on: str = "On") -> Spec:
    """Return a switch of two segments."""
    return _item("segments", parameter) | {"options": [(False, off), (True, on)]}


def text(parameter: param.String) -> Spec:
    """Return a field for text."""
    return _item("text", parameter)


def bars(parameter: param.String, count: int, low: int, high: int) -> Spec:
    """Return `count` bars for whole numbers in `low` … `high`. The parameter holds them separated by spaces."""
    return _item("bars", parameter) | {"count": count, "min": low, "max": high}


def bits(parameter: param.Integer, parts: list[tuple[str, int]]) -> Spec:
    """Return a switch for each bit of a number, the highest first, in groups `parts` of (name, width)."""
    return _item("bits", parameter) | {"parts": parts}


def menu(name: str, label: str, options: list[tuple[str, str]]) -> Spec:
    """Return a menu of (value, label) without a parameter."""
    return {"kind": "menu", "name": name, "label": label, "doc": "", "options": options, "bare": True}


def upload(name: str, label: str, accept: str, most_bytes: int, testid: str = "") -> Spec:
    """Return a button for choosing a file, which can also be dropped on it."""
    return {"kind": "upload", "name": name, "label": label, "accept": accept, "most": most_bytes, "testid": testid}


def action(name: str, label: str, *, on_phones: bool = False) -> Spec:
    """Return a button. With `on_phones`, it is shown only if the top bar has no room for one."""
    return {"kind": "action", "name": name, "label": label, "on_phones": on_phones}


def _item(kind: str, parameter: param.Parameter) -> Spec:
    return {"kind": kind, "name": parameter.name, "label": parameter.label, "doc": parameter.doc or ""}


def _bounds(parameter: param.Number) -> Spec:
    assert parameter.bounds is not None
    low, high = parameter.bounds
    whole = isinstance(parameter, param.Integer)
    return {"min": low, "max": high, "step": 1 if whole else None, "whole": whole}
