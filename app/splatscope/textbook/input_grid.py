"""The grid of inputs with which a section is published. A published book has recordings for these inputs only."""

from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import Any

import param

from splatscope.textbook.lesson import PIXEL, Lesson
from splatscope.textbook.pixel import PUBLISHED, SAMPLE

VALUES = 5  # the number of values for a numeric parameter, if the section names none
MOST_CHOICES = 24  # combinations of switches and menus


def input_grid(lesson: type[Lesson]) -> list[dict[str, Any]]:
    """Return the inputs to publish, each as the parameters that differ from their defaults; the first is {}.

    The grid contains combinations of switches and menus, MOST_CHOICES of them at most. It also contains each value of every other
    parameter, with everything else at its default, and again with each switch toggled. `Lesson.grid` lists a parameter's values;
    without it, a number has VALUES values between its bounds. A section that can show a pixel of a trained picture has PUBLISHED.
    """
    defaults = {name: parameter.default for name, parameter in _parameters(lesson)}
    values = {name: _values(lesson, name, parameter) for name, parameter in _parameters(lesson)}
    choices = [name for name, parameter in _parameters(lesson) if isinstance(parameter, param.Selector | param.Boolean)]
    switches = [name for name in choices if isinstance(lesson.param[name], param.Boolean)]
    combinations = islice(product(*(values[name] for name in choices)), MOST_CHOICES)
    candidates: list[dict[str, Any]] = [{}, *(dict(zip(choices, combination, strict=True)) for combination in combinations)]
    for name in (name for name in values if name not in choices):
        for value in values[name]:
            candidates += [{name: value}, *({name: value, switch: not defaults[switch]} for switch in switches)]
    changed = ({name: value for name, value in inputs.items() if value != defaults[name]} for inputs in candidates)
    return list(_unique([*changed, *_pixels(lesson, switches)]))


def _pixels(lesson: type[Lesson], switches: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the inputs for the pixels of a published book, if the section can show one, each again with each switch toggled."""
    if lesson.from_pixel is None:
        return
    for at in PUBLISHED:
        pixel = {"picture": SAMPLE, "at": list(at)}
        yield pixel
        yield from (pixel | {name: not lesson.param[name].default} for name in switches if name in lesson.from_pixel)


def _parameters(lesson: type[Lesson]) -> list[tuple[str, param.Parameter]]:
    return [(name, parameter) for name, parameter in lesson.param.objects("existing").items() if name not in ("name", *PIXEL)]


def _values(lesson: type[Lesson], name: str, parameter: param.Parameter) -> list[Any]:
    """Return the values of one parameter, including its default."""
    match parameter:
        case _ if name in lesson.grid:
            values = lesson.grid[name]
        case param.Selector():
            values = parameter.objects
        case param.Boolean():
            values = (True, False)
        case param.Number(bounds=(int() | float() as low, int() | float() as high)):
            values = [low + (high - low) * part / (VALUES - 1) for part in range(VALUES)]
            values = [round(value) if isinstance(parameter, param.Integer) else round(value, 6) for value in values]
        case _:
            values = ()
    return list(_unique([parameter.default, *values]))


def _unique(values: Iterable[Any]) -> Iterator[Any]:
    seen: list[Any] = []
    for value in values:
        if value not in seen:
            seen.append(value)
            yield value
