"""A page: HTML with slots for live components, actions in the top bar, keys, and what to close when it is left."""

import logging
import re
from collections.abc import Callable
from typing import Any

import param
from panel.viewable import Children

from splatscope.web.component import Component

log = logging.getLogger(__name__)


class Page(Component):
    """The root element of a page, carrying `data-page`.

    `html` may hold elements with `data-slot="0"`, `data-slot="1"`, …: each gets the component of that number in `slots`, in
    place of what stands in it until then. Components for which the HTML has no slot follow it in order. `actions` go to the right
    of the top bar. All are given when the page is made; what changes afterwards belongs to a component in a slot.
    """

    page = param.String(doc="Name of the page in the registry and in the address")
    html = param.String(doc="The page's text")
    slots = Children(default=[], doc="Live components, by the number of their slot")
    actions = Children(default=[], doc="Components in the top bar")
    preload = param.String(doc="Address of what the page's first figure is drawn from; empty if there is no such thing")
    keys = param.List(default=[], item_type=tuple, doc="(key, what it does) for the list that `?` opens")

    def __init__(self, **params: Any):
        super().__init__(**params)
        self._closers: list[Callable[[], None]] = []

    def on_close(self, closer: Callable[[], None]) -> None:
        """Register a function to call once, when the page is left or its session ends."""
        self._closers.append(closer)

    @property
    def first(self) -> str:
        """The page's HTML for the document itself, which browsers show until the scripts have run.

        Its marks are named otherwise, since no page is drawn yet: `sections.js` gives them their names.
        """
        return re.sub(r" data-(?=page|slot|block|testid|progress|start)", " data-first-", self.html)

    def close(self) -> None:
        """Call the registered functions, last first. A second call does nothing."""
        while self._closers:
            try:
                self._closers.pop()()
            except Exception:
                log.exception("A part of the page %s could not be freed", self.page)
