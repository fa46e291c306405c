"""The app's only root component: the current page, and the messages by which the browser requests another."""

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from splatscope.web.runtime.component import Child, Component, Maybe, Typed
from splatscope.web.runtime.receivers import receives

UNNAMED = -1  # the step of an address without one: the page opens at a step of its own choice
MOST_STEP = 2**31 - 1
# Parameters of an address that are not inputs of a page: its place, its walk, and that it is for a projector.
RESERVED = ("page", "step", "session", "walk", "class", "key", "stop", "notes", "slide")


class Place(TypedDict):
    """A page at a step.

    Attributes:
        page: Its name.
        step: Event of its primary stepper, counted from 1; 0 before the first, UNNAMED if the address names none.
        inputs: As in the address, `count=16&seed=2`.
    """

    page: str
    step: int
    inputs: str


class PublicEntry(TypedDict):
    """A page in the table of contents."""

    name: str
    title: str
    group: str
    description: str
    section: bool


class Router(Component):
    """Shows `view`.

    The address belongs to `router.ts`: it pushes an entry for a page, replaces it for a step, follows Back and Forward, and sends
    Python a message. Python never writes the address.
    """

    view = Child(optional=True, doc="The page that is shown; None for a section, which needs no session")
    walk = Child(optional=True, doc="The strip of a walk, above the page")
    begin = Maybe(Place, doc="The place at which a walk begins; empty for that of the address")
    entries = Typed(list[PublicEntry], default=[], doc="Every page")

    def __init__(self, on_go: Callable[[str, int, dict[str, str], bool], None], **params: Any):
        super().__init__(**params)
        self._on_go = on_go

    @receives("go")
    def _go(self, inputs: dict[str, Any], page: str = "", step: float = UNNAMED, followed: bool = True) -> None:
        self._on_go(page or "home", read_step(step), read_inputs(inputs), followed)


def read_step(text: Any) -> int:
    """Return the step in an address or a message; UNNAMED for anything but a whole number from 0 to MOST_STEP."""
    try:
        return min(max(UNNAMED, int(text)), MOST_STEP)
    except (TypeError, ValueError, OverflowError):
        return UNNAMED


def read_inputs(query: Any) -> dict[str, str]:
    """Return the parameters of an address other than page and step, by name; {} for anything but a mapping to texts."""
    if not isinstance(query, Mapping):
        return {}
    return {str(name): value for name, value in query.items() if isinstance(value, str) and str(name) not in RESERVED}
