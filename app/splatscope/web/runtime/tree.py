"""A page's components with a number for each, by which its two sides name them, and what changes in them."""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from typing import Any

from splatscope.web.runtime.component import Component, Described, as_list, components, parameters_of, plain

Changed = Callable[[int, list[str]], None]
Sent = Callable[[int, Any], None]


def described(root: Component) -> Described:
    """Return a component and everything in it as plain JSON types. Raises TypeError if a value has none."""
    tree = Tree(root, lambda *_: None)
    try:
        return tree.described()
    finally:
        tree.close()


class Tree:
    """A component and everything in it.

    A number is never used twice. Those of the components that a tree begins with are the order in which `components` returns them.

    Args:
        root: The outermost component.
        changed: Called with a component's number and the names of its parameters that have changed.
        sent: Called with a component's number and a message to its module.
        encode: Makes a value ready for the carrier; by default JSON types.
    """

    def __init__(self, root: Component, changed: Changed, sent: Sent | None = None, encode: Callable[[Any], Any] = plain):
        self.root = root
        self._changed, self._sent, self._encode = changed, sent, encode
        self._next = count()
        self._parts: dict[int, Component] = {}
        self._numbers: dict[int, int] = {}  # by the component's id
        self._watchers: dict[int, Any] = {}
        self._add(root)

    def part(self, number: Any) -> Component | None:
        """Return the component with a number, None if there is none."""
        return self._parts.get(number)

    def number_of(self, component: Component) -> int:
        """Return a component's number. Raises KeyError if it is not in the tree."""
        return self._numbers[id(component)]

    def parts(self) -> list[Component]:
        """Return all components."""
        return list(self._parts.values())

    def described(self, component: Component | None = None) -> Described:
        """Return a component, by default the root, as the browser draws it: {id, class, values, children}.

        Raises:
            TypeError: The carrier cannot hold a value.
        """
        component = component or self.root
        values, holders = parameters_of(type(component))
        number = self.number_of(component)
        return {
            "id": number,
            "class": type(component).__name__,
            "values": self.values(number, values),
            "children": {name: self.held(component, name) for name in holders},
        }

    def values(self, number: int, names: Iterable[str]) -> dict[str, Any]:
        """Return some values of the component with a number, by name."""
        return {name: self._encode(getattr(self._parts[number], name)) for name in names}

    def held(self, component: Component, name: str) -> Any:
        """Return the descriptions of what a parameter holds."""
        held = getattr(component, name)
        if isinstance(held, list):
            return [self.described(part) for part in held]
        return None if held is None else self.described(held)

    def close(self) -> None:
        """Forget all components."""
        self._forget(self.root)

    def _add(self, component: Component) -> None:
        for part in components(component):
            number = next(self._next)
            self._parts[number], self._numbers[id(part)] = part, number
            values, holders = parameters_of(type(part))
            self._watchers[number] = part.param.watch(partial(self._note, number), [*values, *holders])
            if self._sent is not None:
                part.sender = partial(self._sent, number)

    def _forget(self, component: Component) -> None:
        for part in components(component):
            number = self._numbers.pop(id(part))
            part.param.unwatch(self._watchers.pop(number))
            del self._parts[number]

    def _note(self, number: int, *events: Any) -> None:
        holders = parameters_of(type(self._parts[number]))[1]
        for event in events:
            if event.name in holders:
                for part in as_list(event.old):
                    self._forget(part)
                for part in as_list(event.new):
                    self._add(part)
        self._changed(number, [event.name for event in events])
