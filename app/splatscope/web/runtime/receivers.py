"""The messages that a component receives from its browser.

A method declares which kinds of messages it receives; its parameters declare the fields that it takes, and their types. Whatever a
browser may send beside that is refused in one line of the log.
"""

import inspect
import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, TypeVar, get_origin, get_type_hints

log = logging.getLogger(__name__)
Method = TypeVar("Method", bound=Callable[..., None])
MOST_WHOLE = 2**53 - 1  # Number.MAX_SAFE_INTEGER


def receives(*kinds: str) -> Callable[[Method], Method]:
    """Let a component's method receive the messages of these kinds.

    A parameter takes the field of its name: one with a default may be missing or null; `Any` admits every value, and `float` whole
    numbers too. A parameter `kind` takes the kind, and `message` the whole message.
    """

    def declare(method: Method) -> Method:
        vars(method)["kinds"] = kinds
        return method

    return declare


@dataclass(frozen=True)
class Receiver:
    """A method that receives messages.

    Attributes:
        name: The method's name.
        fields: The type of each field.
        required: The fields that a message must have.
    """

    name: str
    fields: Mapping[str, Any]
    required: frozenset[str]

    def arguments(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the method's arguments. Raises TypeError if a field is missing or of another type."""
        fields = {**message, "kind": message["type"], "message": message}
        arguments = {name: fields[name] for name in self.fields if fields.get(name) is not None}
        if missing := self.required - arguments.keys():
            raise TypeError(f"it has no {min(missing)}")
        for name, value in arguments.items():
            if not _is(value, self.fields[name]):
                raise TypeError(f"its {name} is a {type(value).__name__}")
        return arguments


@cache
def receivers(component: type) -> dict[str, Receiver]:
    """Return what receives the messages to a class of components, by their kind."""
    methods = [member for base in reversed(component.__mro__) for member in vars(base).values() if inspect.isfunction(member)]
    return {kind: _receiver(method) for method in methods for kind in getattr(method, "kinds", ())}


def _receiver(method: FunctionType) -> Receiver:
    parameters = list(inspect.signature(method).parameters.values())[1:]
    types = get_type_hints(method)
    required = frozenset(parameter.name for parameter in parameters if parameter.default is parameter.empty)
    return Receiver(method.__name__, {parameter.name: types[parameter.name] for parameter in parameters}, required)


def deliver(component: object, message: Any) -> None:
    """Pass a message to the method of a component that receives its kind. Log in one line why none does."""
    message = legible(message)
    kind = message.get("type") if isinstance(message, dict) else None
    receiver = receivers(type(component)).get(kind) if isinstance(kind, str) else None
    try:
        if receiver is None:
            raise TypeError("nothing receives this kind")
        arguments = receiver.arguments(message)
    except TypeError as error:
        log.debug("%s refused a message %.40r: %s.", type(component).__name__, kind, error)
        return
    getattr(component, receiver.name)(**arguments)


def legible(value: Any) -> Any:
    """Return a value as a browser could have meant it, so that it can be computed with, stored and sent back.

    Whole numbers beyond `MOST_WHOLE` become floats, as they are in a browser. Half of a surrogate pair becomes a question mark.
    """
    match value:
        case bool():
            return value
        case int() if abs(value) > MOST_WHOLE:
            try:
                return float(value)
            except OverflowError:
                return math.inf if value > 0 else -math.inf
        case str():
            return value.encode(errors="replace").decode()
        case list():
            return [legible(part) for part in value]
        case dict():
            return {legible(name): legible(part) for name, part in value.items()}
    return value


def _is(value: Any, expected: Any) -> bool:
    if expected is Any:
        return True
    if isinstance(value, bool):
        return expected is bool
    return isinstance(value, int | float if expected is float else get_origin(expected) or expected)
