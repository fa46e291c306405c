"""The document of a section: its words and its first figure. It is the same for all visitors and needs no session.

The browser draws the page from it (`shell/sections.js`). Other pages, and all pages of a walk, come with a session.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import jinja2
import panel as pn
from bokeh.core.templates import MACROS
from cachetools import LRUCache

from splatscope.paths import BUNDLE, FONTS, PACKAGE
from splatscope.textbook.contents import lesson_names, text_of
from splatscope.web.assets import Asset, address, scripts
from splatscope.web.component import style_sheet
from splatscope.web.lesson_page.section_view import SectionView, build, view_of
from splatscope.web.shell.pages import BY_NAME, entry_of, groups
from splatscope.web.shell.router import RESERVED, read_inputs
from splatscope.web.shell.shell import Shell, public, title

SESSION = "session"  # in an address: the page is already shown and only lacks its session
TEMPLATES = jinja2.Environment(loader=jinja2.FileSystemLoader(PACKAGE / "web" / "shell"), trim_blocks=True, lstrip_blocks=True)


def reads(path: str) -> bool:
    """Return whether browsers read sections without a session, in the app at this path.

    They do not if the app authorizes each session, or if it is served below another path.
    """
    return pn.config.authorize_callback is None and "/" not in path.strip("/") and bool(scripts())


def variables(page: str, words: str) -> dict[str, Any]:
    """Return the variables of `shell.html` for a page, with or without a session."""
    styles = {"fonts": address(FONTS.name), "css": style_sheet()}
    return {**styles, "groups": groups(), "current": entry_of(page), "scripts": scripts(), "first": words}


def session_variables(shell: Shell) -> dict[str, Any]:
    """Return the variables of `shell.html` for a session's first page."""
    words = shell.view.first if shell.view else _words(shell.page, text_of(shell.page))
    return variables(shell.page, words) | {"reads": shell.reads}


async def section_document(query: Mapping[str, str]) -> Asset | None:
    """Return the document for an address, or None if its page comes with a session."""
    page = query.get("page", "")
    if page not in lesson_names() or query.keys() & set(RESERVED) - {"page", "step"}:
        return None
    view = None if read_inputs(query) else await view_of(page, {})
    key = page, address(BUNDLE.name), style_sheet(), text_of(page), view and view.page.version
    if key not in _documents:
        _documents[key] = _document(page, view)
    return _documents[key]


_documents: LRUCache[tuple, Asset] = LRUCache(64)


def _document(page: str, view: SectionView | None) -> Asset:
    """Return the document of a section. `view`, if given, is what the section shows for its first inputs."""
    known: dict[str, Any] = {"entries": [public(entry) for entry in BY_NAME.values()]}
    preload = ""
    if view is not None:
        preload = view.described["values"]["preload"]
        values = view.described["values"] | {"html": ""}  # it is in the document already
        known |= {"view": view.described | {"values": values}, "done": view.done}
    text = TEMPLATES.get_template("shell.html").render(
        variables(page, _words(page, text_of(page))),
        title=title(entry_of(page)),
        bundle=address(BUNDLE.name),
        bokeh=scripts()[0],
        first_view=json.dumps(known, separators=(",", ":")).replace("<", "\\u003c"),
        preload=preload,
        reads=True,
        docs=[],
        macros=MACROS,
    )
    return Asset.of(text.encode(), "text/html; charset=utf-8")


@lru_cache(64)
def _words(page: str, _: str) -> str:
    """Return a section's words for the document. The second argument only keeps the cache current: it is the section's text."""
    lesson = build(page, {})
    lesson.page.close()
    return lesson.page.first
