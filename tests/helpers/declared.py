"""Whether a value has the type that is declared for it."""

from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints, is_typeddict


def wrong(value: Any, hint: Any, place: str = "") -> str | None:
    """Return what in a value does not have its type, None if all has."""
    origin, arguments = get_origin(hint), get_args(hint)
    found: list[str | None]
    if hint in (Any, object):
        return None
    if origin is Annotated:
        return wrong(value, hint.__metadata__[0], place)
    if origin in (Required, NotRequired):
        return wrong(value, arguments[0], place)
    if origin in (Union, UnionType):
        found = [wrong(value, option, place) for option in arguments]
        return None if None in found else found[-1]
    if origin is Literal:
        fits, found = value in arguments, []
    elif origin in (list, Sequence) or (origin is tuple and Ellipsis in arguments):
        fits = isinstance(value, list | tuple)
        found = [wrong(item, arguments[0], f"{place}[{i}]") for i, item in enumerate(value)] if fits else []
    elif origin is tuple or hasattr(hint, "_fields"):
        hints = arguments if origin is tuple else [*get_type_hints(hint).values()]
        fits = isinstance(value, list | tuple) and len(value) == len(hints)
        found = [wrong(item, one, f"{place}[{i}]") for i, (item, one) in enumerate(zip(value, hints, strict=True))] if fits else []
    elif origin in (dict, Mapping):
        fits = isinstance(value, Mapping) and all(isinstance(name, str) for name in value)
        found = [wrong(item, arguments[1], f"{place}.{name}") for name, item in value.items()] if fits else []
    elif is_typeddict(hint) or hasattr(hint, "__dataclass_fields__"):
        hints = get_type_hints(hint, include_extras=True)
        needed = {name for name in getattr(hint, "__required_keys__", hints) if get_origin(hints[name]) is not NotRequired}
        fits = isinstance(value, Mapping) and needed <= value.keys() <= hints.keys()
        found = [wrong(item, hints[name], f"{place}.{name}") for name, item in value.items()] if fits else []
    else:
        hint = getattr(hint, "__supertype__", hint)
        kinds = (int, float) if hint is float else (hint,)
        fits, found = isinstance(value, kinds) and (hint is bool or not isinstance(value, bool)), []
    return next((words for words in found if words), None) if fits else f"{place or 'it'} is no {hint}: {value!r:.200}"
