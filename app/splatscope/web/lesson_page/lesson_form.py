"""A lesson's parameters as controls and in the address. Values are validated by their parameters."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

import param

from splatscope.textbook.lesson import PIXEL, ControlSpec, Lesson
from splatscope.web.widgets.controls import Group, Item, bars, bits, choice, group, number, slider, switch, text

MAX_CHARACTERS = 4000  # of one value in an address
PLACE = re.compile(r"(\d{1,5}),(\d{1,5})", re.ASCII)  # a pixel of a picture in an address


FITS = {"number": param.Number, "menu": param.Selector, "bars": param.String, "bits": param.Integer}  # types by kind of control


def controls_of(lesson: Lesson, names: tuple[str, ...] = ()) -> list[Group]:
    """Return a group with a control for each of these parameters, by default for all of them.

    Raises:
        ValueError: `controls` names something that is no parameter, or a kind that is for another type.
    """
    if unknown := sorted(lesson.controls.keys() - set(parameters(lesson))):
        raise ValueError(f"{lesson.stem()}: `controls` names {', '.join(unknown)}, which is no parameter of the lesson.")
    items = [_control(lesson.param[name], lesson.controls.get(name, ControlSpec())) for name in names or parameters(lesson)]
    return [group("Settings", *(item for item in items if item is not None))]


def _control(parameter: param.Parameter, spec: ControlSpec) -> Item | None:
    if not isinstance(parameter, fits := FITS.get(spec.kind, param.Parameter)):
        raise ValueError(
            f'{parameter.name}: kind "{spec.kind}" is for param.{fits.__name__}, not for param.{type(parameter).__name__}.'
        )
    match parameter:
        case _ if spec.kind == "hidden":
            return None
        case param.Selector():
            return choice(parameter, as_menu=spec.kind == "menu" or len(parameter.objects) > 5)
        case param.Boolean():
            return switch(parameter, off=spec.off, on=spec.on)
        case param.Integer() if spec.kind == "bits":
            return bits(parameter, list(spec.parts))
        case param.Number() if spec.kind == "number":
            return number(parameter)
        case param.Number():
            return slider(parameter, log=spec.log, live=spec.live)
        case param.String() if spec.kind == "bars":
            return bars(parameter, count=spec.count, low=spec.low, high=spec.high)
        case param.String():
            return text(parameter)
    return None


def parameters(lesson: Lesson) -> list[str]:
    """Return the names of a lesson's own parameters, in order of declaration."""
    return [name for name in lesson.param if name not in ("name", *PIXEL)]


def applying(lesson: Lesson) -> list[str]:
    """Return the names of the parameters that apply: where the lesson shows a pixel of a trained picture, those it keeps for it."""
    return list(lesson.from_pixel) if lesson.picture and lesson.from_pixel is not None else parameters(lesson)


def address_of(lesson: Lesson) -> str:
    """Return the picture and its pixel, and the inputs that differ from their defaults, as a query string.

    The pixel is written as `x,y`, every other value as a plain word or JSON. An input `pixel` of the lesson's own replaces it.
    """
    changed = {name: getattr(lesson, name) for name in applying(lesson) if getattr(lesson, name) != lesson.param[name].default}
    values = {
        name: value if isinstance(value, str) else json.dumps(value, separators=(",", ":")) for name, value in changed.items()
    }
    if lesson.picture and "pixel" not in values:
        values = {"picture": lesson.picture, "pixel": ",".join(map(str, lesson.at))} | values
    return urlencode(values)


def set_from_address(lesson: Lesson, query: Mapping[str, str]) -> None:
    """Set the parameters in an address, and all others to their defaults. Invalid values are ignored."""
    lesson.param.update(**{name: lesson.param[name].default for name in (*PIXEL, *parameters(lesson))})
    if pixel := PLACE.fullmatch(query.get("pixel", "")):
        with suppress(ValueError):
            lesson.at = [int(pixel[1]), int(pixel[2])]
            lesson.picture = query.get("picture", "")
    if not (lesson.picture and lesson.at):
        lesson.param.update(picture="", at=[])
    for name in applying(lesson):
        if name in query:
            default = getattr(lesson, name)
            try:
                set_parameter(lesson, name, _value(lesson.param[name], query[name][:MAX_CHARACTERS]))
            except (ValueError, TypeError, RecursionError):
                setattr(lesson, name, default)


def set_parameter(lesson: param.Parameterized, name: str, value: Any) -> None:
    """Set a parameter to a value from a browser.

    Raises:
        ValueError: The value is invalid; the message says what is allowed.
    """
    parameter = lesson.param[name]
    if isinstance(parameter, param.Number) and isinstance(value, bool):  # a kind of number in Python alone
        raise ValueError(_allowed(parameter))
    if isinstance(parameter, param.Integer) and isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(parameter, param.Selector):
        value = next((option for option in parameter.objects if option == value or str(option) == value), value)
    try:
        if isinstance(value, str):
            value.encode()  # half of a surrogate pair could not be sent back
        setattr(lesson, name, value)
    except (ValueError, TypeError):
        raise ValueError(_allowed(parameter)) from None


def _allowed(parameter: param.Parameter) -> str:
    if isinstance(parameter, param.Selector):
        return f"{parameter.label}: {', '.join(map(str, parameter.objects))} are allowed."
    if isinstance(parameter, param.Number) and parameter.bounds:
        return f"{parameter.label}: {parameter.bounds[0]:,} to {parameter.bounds[1]:,} are allowed."
    return f"{parameter.label} does not allow this value: {parameter.doc or 'another kind of value is expected'}."


def _value(parameter: param.Parameter, text: str) -> Any:
    if isinstance(parameter, param.String | param.Selector):
        return text
    return json.loads(text)
