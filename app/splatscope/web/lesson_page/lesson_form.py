"""A lesson's parameters: as controls, as what stands in the address, and back, each value checked by its parameter."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import param

from splatscope.textbook.lesson import Lesson
from splatscope.web.widgets.controls import Spec, bars, bits, choice, group, number, slider, switch, text

MOST_CHARACTERS = 4000  # of one value in an address


def form(lesson: Lesson, names: tuple[str, ...] = ()) -> list[Spec]:
    """A control for each of these parameters, all where none is named; what the lesson says in `controls` comes on top.

    `{"count": {"kind": "number"}}` makes a field of a slider, `{"live": True}` has a slider tell its value while it moves,
    `{"kind": "bars", "count": 8, "low": 0, "high": 9}` draws a text of numbers as bars,
    `{"kind": "bits", "parts": [["sign", 1], …]}` makes a switch of each bit of a number, `{"as_menu": True}` makes a menu of
    segments, `{"hidden": True}` leaves a parameter to the drawing.
    """
    items = []
    for name in names or parameters(lesson):
        more = dict(lesson.controls.get(name, {}))
        if not more.pop("hidden", False) and (item := _item(lesson.param[name], more)) is not None:
            items.append(item)
    return [group("", *items)]


def _item(parameter: param.Parameter, more: dict[str, Any]) -> Spec | None:
    kind = more.pop("kind", "")
    match parameter:
        case param.Selector():
            return choice(parameter, as_menu=more.pop("as_menu", len(parameter.objects) > 5)) | more
        case param.Boolean():
            return switch(parameter, **more)
        case param.Integer() if kind == "bits":
            return bits(parameter, **more)
        case param.Number() if kind == "number":
            return number(parameter) | more
        case param.Number():
            return slider(parameter, **more)
        case param.String() if kind == "bars":
            return bars(parameter, **more)
        case param.String():
            return text(parameter) | more
    return None


def parameters(lesson: Lesson) -> list[str]:
    """The names of a lesson's own parameters, in the order they are declared."""
    return [name for name in lesson.param if name != "name" and (lesson.param[name].precedence or 0) >= 0]


def address(lesson: Lesson) -> str:
    """What differs from the defaults, as it stands in an address: `count=16&keys=%5B4%2C7%5D`, values as JSON or bare words."""
    changed = {name: getattr(lesson, name) for name in parameters(lesson) if getattr(lesson, name) != lesson.param[name].default}
    return urlencode(
        {name: value if isinstance(value, str) else json.dumps(value, separators=(",", ":")) for name, value in changed.items()}
    )


def read(lesson: Lesson, given: Mapping[str, str]) -> None:
    """Sets what an address gives, and all else to its default. What a parameter does not allow is left out."""
    values = {name: lesson.param[name].default for name in parameters(lesson)}
    for name in values.keys() & given.keys():
        try:
            put(lesson, name, _value(lesson.param[name], given[name][:MOST_CHARACTERS]))
            values[name] = getattr(lesson, name)
        except (ValueError, TypeError):
            continue
    lesson.param.update(**values)


def put(lesson: Lesson, name: str, value: Any) -> None:
    """Sets one parameter from what a browser sent. Raises ValueError with what is allowed."""
    parameter = lesson.param[name]
    if isinstance(parameter, param.Integer) and isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(parameter, param.Selector):
        value = next((one for one in parameter.objects if one == value or str(one) == value), value)
    try:
        setattr(lesson, name, value)
    except (ValueError, TypeError):
        raise ValueError(_allowed(parameter)) from None


def _allowed(parameter: param.Parameter) -> str:
    if isinstance(parameter, param.Selector):
        return f"{parameter.label}: {', '.join(map(str, parameter.objects))} are allowed."
    if isinstance(parameter, param.Number) and parameter.bounds:
        return f"{parameter.label}: {parameter.bounds[0]:,} to {parameter.bounds[1]:,} are allowed."
    return f"{parameter.label} cannot be that: {parameter.doc or 'another kind of value is expected'}."


def _value(parameter: param.Parameter, text: str) -> Any:
    if isinstance(parameter, param.String | param.Selector):
        return text
    return json.loads(text)
