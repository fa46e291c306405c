"""The states of a page of the published book: for each set of inputs, the values that a session would have sent."""

import copy
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from splatscope.web.runtime.component import Described, flat
from splatscope.web.shell.page import Page

LONG = 2000  # characters from which a value goes into its own file
FILE = "$file"
LAZY = ("Show",)  # components whose long values are loaded when they come into view
SESSION_ONLY = ("busy",)  # values that only a session has


@dataclass
class PageState:
    """A page with one set of inputs, recorded or not.

    Attributes:
        make: Makes the page and records its contents.
        address: Its inputs as in an address.
        inputs: The inputs that differ from their defaults.
        view: Its contents; empty until it is made.
        failed: What could not be recorded, a line each.
    """

    make: Callable[[], Awaitable[Page]]
    address: str = ""
    inputs: dict[str, Any] = field(default_factory=dict)
    view: Described = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    @property
    def is_recorded(self) -> bool:
        """Whether it was made and nothing failed."""
        return bool(self.view) and not self.failed


@dataclass
class PublishedPage:
    """A page with its states, which are added one after another, beginning with the initial inputs.

    Attributes:
        figure: Whether it has a figure that can be embedded.
        defaults: The inputs and their defaults.
        fix: The inputs with which the recording's finding disappears.
        states: For each set of inputs its address, the inputs that differ from their defaults, and the values that differ from the
            first state's, as (number of the component, name, index into `values`).
    """

    figure: bool = False
    defaults: dict[str, Any] = field(default_factory=dict)
    fix: dict[str, Any] = field(default_factory=dict)
    view: Described = field(default_factory=dict)
    values: list[Any] = field(default_factory=list)
    states: list[dict[str, Any]] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)  # index into `values`, by a value's JSON

    def add(self, view: Described, address: str = "", inputs: dict[str, Any] | None = None) -> None:
        """Add the page's contents for some inputs.

        Raises:
            ValueError: The page has other components than in its first state.
        """
        if not self.view:
            self.view = view
        first, other = flat(self.view), flat(view)
        if [part["class"] for part in first] != [part["class"] for part in other]:
            raise ValueError("A published page cannot change the components that it holds")
        patch = {
            str(number): changed
            for number, (before, after) in enumerate(zip(first, other, strict=True))
            if (changed := self._changed(before["values"], after["values"]))
        }
        self.states.append({"address": address, "inputs": inputs or {}, "patch": patch})

    def as_json(self, write: Callable[[Any], str]) -> dict[str, Any]:
        """Return the JSON that `states.ts` reads. Long values go to files: `write` takes one and returns its file's name."""

        def short(value: Any) -> Any:
            return value if len(json.dumps(value, separators=(",", ":"))) < LONG else {FILE: write(value)}

        view = copy.deepcopy(self.view)
        for part in flat(view):
            if part["class"] in LAZY:
                part["values"] = {name: short(value) for name, value in part["values"].items()}
        attributes = {name: getattr(self, name) for name in ("figure", "defaults", "fix", "states")}
        return attributes | {"view": view, "values": [short(value) for value in self.values]}

    def _changed(self, before: dict[str, Any], after: dict[str, Any]) -> dict[str, int]:
        return {name: self._number(value) for name, value in after.items() if name not in SESSION_ONLY and value != before[name]}

    def _number(self, value: Any) -> int:
        key = repr(value)
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append(value)
        return self._numbers[key]
