"""The document with which a section opens: its words and its figure, the same for all visitors, who need no session to read it.

The browser draws the page from it (`shell/sections.js`). Other pages, and those of a walk, come with their session.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import jinja2
import panel as pn
from bokeh.core.templates import MACROS
from cachetools import LRUCache

from splatscope.paths import BUNDLE, PACKAGE
from splatscope.textbook.contents import lesson_names, text_of
from splatscope.web.assets import Asset, address, scripts
from splatscope.web.component import style_sheet
from splatscope.web.lesson_page.section_view import SectionView, build, view_of
from splatscope.web.shell.pages import BY_NAME, entry_of, groups
from splatscope.web.shell.router import RESERVED, read_inputs
from splatscope.web.shell.shell import Shell, public, title

SESSION = "session"  # in an address: the page stands already and lacks its session
TEMPLATES = jinja2.Environment(loader=jinja2.FileSystemLoader(PACKAGE / "web" / "shell"), trim_blocks=True, lstrip_blocks=True)


def reads(path: str) -> bool:
    """Return whether browsers read sections without a session, in the app at this path.

    They do not if the app asks for each session whether its user may have it, or if its addresses are not relative to the server's.
    """
    return pn.config.authorize_callback is None and "/" not in path.strip("/") and bool(scripts())


def variables(page: str, words: str) -> dict[str, Any]:
    """Return what `shell.html` says of a page, with or without its session."""
    return {"css": style_sheet(), "groups": groups(), "current": entry_of(page), "scripts": scripts(), "first": words}


def session_variables(shell: Shell) -> dict[str, Any]:
    """Return what `shell.html` says of a session's first page."""
    words = shell.view.first if shell.view else _words(shell.page, text_of(shell.page))
    return variables(shell.page, words) | {"reads": shell.reads}


async def section_document(query: Mapping[str, str]) -> Asset | None:
    """Return the document for an address, or None if its page comes with its session."""
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
    """Return the document of a section, with what it shows if its inputs are the first ones."""
    known: dict[str, Any] = {"entries": [public(entry) for entry in BY_NAME.values()]}
    preload = ""
    if view is not None:
        preload = view.described["values"]["preload"]
        values = view.described["values"] | {"html": ""}  # stands in the document
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
    """Return a section's words for the document. What follows its name only tells whether known ones are current."""
    lesson = build(page, {})
    lesson.page.close()
    return lesson.page.first
