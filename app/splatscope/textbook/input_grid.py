"""The inputs with which a section is published: a published book has recordings of these, and of no others."""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import param

from splatscope.textbook.lesson import Lesson

VALUES = 5  # of a number, where the section names none
MOST_CHOICES = 24  # combinations of switches and menus


def input_grid(lesson: type[Lesson]) -> list[dict[str, Any]]:
    """Return the inputs to publish, each as the parameters that differ from their defaults; the first is {}.

    These are all combinations of switches and menus, each value of any other parameter with all else at its default, and with each
    switch turned. `Lesson.grid` names a parameter's values; otherwise a number has VALUES of them between its bounds.
    """
    defaults = {name: parameter.default for name, parameter in _parameters(lesson)}
    values = {name: _values(lesson, name, parameter) for name, parameter in _parameters(lesson)}
    choices = [name for name, parameter in _parameters(lesson) if isinstance(parameter, param.Selector | param.Boolean)]
    switches = [name for name in choices if isinstance(lesson.param[name], param.Boolean)]
    found: list[dict[str, Any]] = [{}]
    for number, combination in enumerate(product(*(values[name] for name in choices))):
        if number < MOST_CHOICES:
            found.append(dict(zip(choices, combination, strict=True)))
    for name in values.keys() - set(choices):
        for value in values[name]:
            found += [{name: value}, *({name: value, switch: not defaults[switch]} for switch in switches)]
    return list(_unique({name: value for name, value in one.items() if value != defaults[name]} for one in found))


def _parameters(lesson: type[Lesson]) -> list[tuple[str, param.Parameter]]:
    return [(name, parameter) for name, parameter in lesson.param.objects("existing").items() if name != "name"]


def _values(lesson: type[Lesson], name: str, parameter: param.Parameter) -> list[Any]:
    """Return the values of one parameter, its default among them."""
    match parameter:
        case _ if name in lesson.grid:
            values = lesson.grid[name]
        case param.Selector():
            values = parameter.objects
        case param.Boolean():
            values = (True, False)
        case param.Number() if parameter.bounds:
            low, high = parameter.bounds
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
