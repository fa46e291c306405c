"""One session's shell: the frame around the pages, and the current page."""

import logging
from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

import param

from splatscope.web.runtime.component import Component
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import Page
from splatscope.web.shell.pages import BY_NAME, PAGES, Entry, entry_of
from splatscope.web.shell.router import UNNAMED, PublicEntry, Router

log = logging.getLogger(__name__)


class Shell(Location):
    """Builds the page that the address names, and closes the previous one.

    `walk` is the strip above the pages of a walk. With `notes_only`, the window shows the walk's notes and no page.
    Sections have no page here: they are streamed (`carriers/stream.ts`).
    """

    def __init__(
        self,
        page: str = "home",
        step: int = UNNAMED,
        inputs: dict[str, str] | None = None,
        walk: Component | None = None,
        notes_only: bool = False,
    ):
        super().__init__(page=page, step=step, inputs=inputs or {})
        self.notes_only = notes_only
        self.view = self._build()
        begin = {"page": page, "step": step, "inputs": urlencode(self.inputs)} if walk else {}
        self.router = Router(self.go, view=self.view, walk=walk, begin=begin, entries=[public(e) for e in BY_NAME.values()])

    def go(self, page: str, step: int = UNNAMED, inputs: dict[str, str] | None = None, followed: bool = True) -> None:
        """Show another page, or another step or other inputs of this one.

        With `followed` False, the page itself put the inputs into the address. It is not notified, because it may have other inputs
        by now.
        """
        is_other_page = page != self.page
        with param.edit_constant(self):
            if not followed and not is_other_page:
                with param.parameterized.discard_events(self):
                    self.param.update(inputs=inputs or {})
            self.param.update(page=page, step=step, inputs=inputs or {})
        if is_other_page:
            previous, self.view = self.view, self._build()
            self.router.view = self.view
            if previous is not None:
                previous.close()

    def close(self) -> None:
        """Close the current page, since the session has ended."""
        if self.view is not None:
            self.view.close()

    def _build(self) -> Page | None:
        if self.notes_only:
            return Page(page="notes")
        entry = entry_of(self.page)
        return None if entry.is_section else build_page(entry, self)


def build_page(entry: Entry, location: Location) -> Page:
    """Return a page. If it cannot be built, it says so, and the shell remains."""
    try:
        page = entry.load()(location)
    except Exception as error:
        log.exception("The page %s could not be built", entry.name)
        page = _failed(entry, error)
    page.html += neighbours(entry)
    return page


def title(entry: Entry) -> str:
    """Return the title of the browser's tab. `router.ts` sets the same title after a change of page."""
    return "Splatscope" if entry.name == "home" else f"{entry.title} · Splatscope"


def public(entry: Entry) -> PublicEntry:
    """Return the part of an entry that browsers get."""
    return {
        "name": entry.name,
        "title": entry.title,
        "group": entry.group,
        "description": entry.description,
        "section": entry.is_section,
    }


def neighbours(entry: Entry, pages: Sequence[Entry] = PAGES) -> str:
    """Return links to the pages before and after, for the end of a page; none for a tool as tall as the window."""
    if entry not in pages or entry.name == "debugger":
        return ""
    i = pages.index(entry)
    candidates = ((pages[i - 1] if i else None, "prev", "Previous"), (pages[i + 1] if i + 1 < len(pages) else None, "next", "Next"))
    links = [
        f'<a href="{neighbour.address}" rel="{rel}"><small>{label}</small>{escape(neighbour.title)}</a>'
        for neighbour, rel, label in candidates
        if neighbour is not None
    ]
    # hidden until progress.ts marks it as finished
    done = f'<p class="section-done" role="status" data-section="{entry.name}">Section finished</p>' if entry.is_section else ""
    return f'{done}<nav class="pn" aria-label="Previous and next">{"".join(links)}</nav>'


def _failed(entry: Entry, error: Exception) -> Page:
    html = f"""<article class="words"><h1>{escape(entry.title)}</h1>
      <p class="lede">This page could not be built: {escape(str(error) or type(error).__name__)}</p>
      <p>Reload to try again, or go <a href="?page=home">home</a>. The server's log has the details.</p></article>"""
    return Page(page=entry.name, html=html)
