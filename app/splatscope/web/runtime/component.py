"""A component: a class with parameters, drawn in the browser from its description, whichever carrier brings it there."""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Generic, NewType, TypedDict, TypeVar

import param

from splatscope.web.runtime.receivers import deliver

Described = dict[str, Any]
Base64 = NewType("Base64", str)  # bytes as JSON has them; the published book has them as bytes
Value = TypeVar("Value")


class Typed(param.Parameter[Value], Generic[Value]):
    """A dict or list whose type is declared, for both sides: `tools/component_types.py` writes it in TypeScript.

    Any type will do that is made of JSON's, of `TypedDict`s and of `NamedTuple`s.
    """

    __slots__ = ("type",)

    def __init__(self, type: type[Value], *, default: Any, doc: str):
        super().__init__(default=default, doc=doc, instantiate=True)
        self.type = type

    def _validate(self, val: Any) -> None:
        super()._validate(val)
        expected = Mapping if isinstance(self.default, Mapping) else list | tuple
        if not isinstance(val, expected):
            raise ValueError(f"{self.name} must be of the type {self.type}, not {val!r:.80}")


class Nothing(TypedDict):
    """{}."""


class Maybe(Typed[Value | Nothing], Generic[Value]):
    """A dict of a declared type, or {} as long as there is none."""

    __slots__ = ()

    def __init__(self, type: type[Value], *, doc: str):
        super().__init__(type, default={}, doc=doc)


class Child(param.Parameter):
    """A component inside another; one that is `optional` may be None."""

    __slots__ = ("optional",)

    def __init__(self, *, optional: bool = False, doc: str):
        super().__init__(doc=doc)
        self.optional = optional


class Children(param.List):
    """Components inside another, in order."""


class Component(param.Parameterized):
    """A component drawn by the module of the same name in `index.ts`, from the parameters that a subclass declares.

    Methods with `receives` receive the messages that its module sends. A page's carrier decides what happens to those that
    `send` sends: without a session, nobody receives them.
    """

    def __init__(self, **params: Any):
        super().__init__(**params)
        self.sender: Callable[[Any], None] = _nobody

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message to the component's module in the browser."""
        self.sender(message)

    def receive(self, message: Any) -> None:
        """Pass a message of the module to the method that receives its kind."""
        deliver(self, message)


def _nobody(message: Any) -> None:
    """Receive the messages of a component that no session carries."""


@cache
def parameters_of(kind: type[Component]) -> tuple[list[str], list[str]]:
    """Return the names of a class's values, and of the parameters that hold other components."""
    own = [name for name in kind.param if name not in Component.param]
    holders = [name for name in own if isinstance(kind.param[name], Child | Children)]
    return [name for name in own if name not in holders], holders


def held_by(component: Component) -> Iterator[Component]:
    """Yield the components directly inside a component, in order."""
    for name in parameters_of(type(component))[1]:
        yield from as_list(getattr(component, name))


def as_list(held: Any) -> list[Any]:
    """Return the value of a `Child` or `Children` as a list."""
    return held if isinstance(held, list) else [] if held is None else [held]


def components(root: Component) -> list[Component]:
    """Return a component and everything in it, each before what is in it."""
    return [root, *(part for child in held_by(root) for part in components(child))]


def flat(described: Described) -> list[Described]:
    """Return the descriptions of a component and of everything in it, in the same order."""
    return [described, *(part for held in described["children"].values() for child in as_list(held) for part in flat(child))]


def plain(value: Any) -> Any:
    """Return a parameter's value as JSON types. Bytes are left out.

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
