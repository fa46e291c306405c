"""A page: HTML with slots for live components, actions in the top bar, keys, and cleanup for when it is left."""

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import param

from splatscope.web.runtime.component import Children, Component, Typed

log = logging.getLogger(__name__)


class KeyWords(NamedTuple):
    """Keys, as in "Shift+→ Shift+←", and what they do."""

    keys: str
    words: str


class Page(Component):
    """The root element of a page, carrying `data-page`.

    `html` may contain elements with `data-slot="NAME"`: the content of each is replaced by the component of that name in `slots`.
    Those of a list are named by their numbers, from 0. Components without a slot follow the HTML in order. `actions` go to the
    right of the top bar. All are given when the page is made; anything that changes later belongs in a component.
    """

    page = param.String(doc="Name of the page in the registry and in the address")
    html = param.String(doc="The page's text")
    slots = Children(default=[], doc="Live components")
    slot_names = param.List(default=[], item_type=str, doc="The names of their slots")
    actions = Children(default=[], doc="Components in the top bar")
    preload = param.String(doc="Address of the recording from which the page's first figure is drawn; empty for none")
    keys = Typed(list[KeyWords], default=[], doc="For the list that `?` opens")

    def __init__(self, slots: Mapping[str, Any] | Iterable[Any] = (), **params: Any):
        named = slots if isinstance(slots, Mapping) else {str(number): part for number, part in enumerate(slots)}
        super().__init__(slots=list(named.values()), slot_names=list(named), **params)
        self._closers: list[Callable[[], None]] = []

    def on_close(self, closer: Callable[[], None]) -> None:
        """Register a function to call once, when the page is left or its session ends."""
        self._closers.append(closer)

    @property
    def first(self) -> str:
        """The page's HTML for the document itself, which browsers show until the scripts have run."""
        return before_scripts(self.html)

    def close(self) -> None:
        """Call the registered functions, last first. A second call does nothing."""
        while self._closers:
            try:
                self._closers.pop()()
            except Exception:
                log.exception("A part of the page %s could not be freed", self.page)


def before_scripts(html: str) -> str:
    """Return a page's HTML for the document itself, with other names for its data attributes, because no page is drawn yet.

    `stream.ts` restores the names.
    """
    return re.sub(r" data-(?=page|slot|block|testid|progress|start)", " data-first-", html)
