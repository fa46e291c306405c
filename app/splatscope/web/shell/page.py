"""A page: HTML with places for live components, a title bar's actions, its keys, and what to free when it is left."""

import logging
from collections.abc import Callable
from html import escape
from typing import Any

import param
from panel.viewable import Children

from splatscope.web.component import Component
from splatscope.web.shell.pages import BY_NAME, PAGES, Entry, first_section

log = logging.getLogger(__name__)


class Page(Component):
    """The root element of a page, carrying `data-page`.

    `html` may hold elements with `data-slot="0"`, `data-slot="1"`, …: component number i of `slots` is placed in each.
    Components for which the HTML has no place follow it in order. `actions` go to the right of the top bar. All are
    given when the page is made; what changes afterwards belongs to a component in a slot.
    """

    page = param.String(doc="Name of the page in the registry and in the address")
    html = param.String(doc="The page's words")
    slots = Children(default=[], doc="Live components, in the order of their places")
    actions = Children(default=[], doc="Components in the top bar")
    keys = param.List(default=[], item_type=tuple, doc="(key, what it does) for the list that `?` opens")

    def __init__(self, **params: Any):
        super().__init__(**params)
        self._closers: list[Callable[[], None]] = []

    def on_close(self, closer: Callable[[], None]) -> None:
        """Registers what to do once, when the page is left or its session ends: cancel tasks, stop jobs, unwatch."""
        self._closers.append(closer)

    def close(self) -> None:
        """Frees what the page holds, last registered first. Calling it again does nothing."""
        while self._closers:
            try:
                self._closers.pop()()
            except Exception:
                log.exception("A part of the page %s could not be freed", self.page)


def coming(entry: Entry) -> Page:
    """A page that is not written yet: its title, its sentence, and what there is meanwhile."""
    start = first_section()
    there = [BY_NAME["train"], BY_NAME["home"]]
    if start.exists:
        there.insert(0, start)
    links = "".join(f'<li><a href="{e.address}">{escape(e.title)}</a> <span>{escape(e.description)}</span></li>' for e in there)
    html = f"""<article class="words coming">
      <h1>{escape(entry.title)}</h1>
      <p class="lede">{escape(entry.description)}.</p>
      <p>This page is coming. Meanwhile there is:</p>
      <ul class="there">{links}</ul>
    </article>"""
    return Page(page=entry.name, html=html)


def neighbours(entry: Entry) -> str:
    """The ways to the page before and the one after, for the end of a page; nothing for a tool as tall as the window."""
    if entry not in PAGES or entry.name == "debugger":
        return ""
    at = PAGES.index(entry)
    around = ((PAGES[at - 1] if at else None, "prev", "Previous"), (PAGES[at + 1] if at + 1 < len(PAGES) else None, "next", "Next"))
    links = [
        f'<a href="{other.address}" rel="{rel}"><small>{words}</small>{escape(other.title)}</a>'
        for other, rel, words in around
        if other is not None
    ]
    return f'<nav class="pn" aria-label="Previous and next">{"".join(links)}</nav>'
