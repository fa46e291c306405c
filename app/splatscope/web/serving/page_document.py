"""The document of a page: its words, and those of a section with its first figure. It is the same for all visitors.

The browser draws a section from it, and for other pages requests a session (`carriers/stream.ts`). So a document costs the server
little more than its sending. Only the pages of a walk come with a session.
"""

import weakref
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from bokeh.document import Document
from cachetools import LRUCache
from markupsafe import Markup
from panel.io.document import MockSessionContext
from panel.io.state import set_curdoc

from splatscope.paths import BUNDLE, FONTS, STYLES
from splatscope.textbook.contents import lesson_names, written_of
from splatscope.web.assets import Asset, address, find, scripts
from splatscope.web.lesson_page.section_view import SectionView, build, view_of
from splatscope.web.shell.location import Location
from splatscope.web.shell.pages import BY_NAME, entry_of, groups
from splatscope.web.shell.router import RESERVED, read_inputs
from splatscope.web.shell.shell import Shell, build_page, public, title
from splatscope.web.templates import TEMPLATES
from splatscope.web.turnstile import turnstile

SESSION = "session"  # in an address: the page is already shown and only lacks its session


def variables(page: str, words: str) -> dict[str, Any]:
    """Return the variables of `shell.html` for a page, with or without a session. `words` is HTML."""
    styles = {"fonts": address(FONTS.name), "css": Markup(find(STYLES.name).body.decode())}
    return {**styles, "groups": groups(), "current": entry_of(page), "scripts": scripts(), "first": Markup(words)}


def session_variables(shell: Shell) -> dict[str, Any]:
    """Return the variables of `shell.html` for a session's first page."""
    words = shell.view.first if shell.view else _words(shell.page, _text(shell.page))
    return variables(shell.page, words) | {"reads": not shell.notes_only}


async def page_document(query: Mapping[str, str]) -> Asset | None:
    """Return the document for an address, or None if its page comes with a session. Raises ServerBusy."""
    page = query.get("page") or "home"
    if page not in BY_NAME or query.keys() & set(RESERVED) - {"page", "step"}:
        return None
    view = None if read_inputs(query) or page not in lesson_names() else await view_of(page, {})
    key = page, address(BUNDLE.name), address(STYLES.name), _text(page), view and view.page.version
    if key not in _documents:
        async with turnstile.turn():
            _documents[key] = _document(page, view)
    return _documents[key]


_documents: LRUCache[tuple, Asset] = LRUCache(64)


def _document(page: str, view: SectionView | None) -> Asset:
    """Return the document of a page. `view`, if given, is what the section shows for its first inputs."""
    first_view: dict[str, Any] = {"entries": [public(entry) for entry in BY_NAME.values()]}
    preload = ""
    if view is not None:
        preload = view.described["values"]["preload"]
        values = view.described["values"] | {"html": ""}  # it is in the document already
        first_view |= {"view": view.described | {"values": values}, "done": view.done}
    text = TEMPLATES.get_template("shell.html").render(
        variables(page, _words(page, _text(page))),
        title=title(entry_of(page)),
        bundle=address(BUNDLE.name),
        bokeh=scripts()[0],
        first_view=first_view,
        preload=preload,
        reads=True,
    )
    return Asset.of(text.encode(), "text/html; charset=utf-8")


def _text(page: str) -> tuple[str, ...]:
    """Return the texts that a section is made from; none for other pages."""
    return written_of(page) if page in lesson_names() else ()


@lru_cache(64)
def _words(page: str, _: tuple[str, ...]) -> str:
    """Return a page's words for the document. The second argument only keeps the cache current: the section's texts."""
    document = Document()
    # Of a session that never loads, so that what the page would do then is never done.
    context = MockSessionContext(document=document)
    document._session_context = weakref.ref(context)
    with set_curdoc(document):
        built = build(page, {}).page if page in lesson_names() else build_page(entry_of(page), Location(page=page))
    built.close()
    return built.first
