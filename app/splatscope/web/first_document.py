"""The document with which a section opens: its words and its figure, the same for all visitors, and no session yet.

The browser draws the page from it, and asks for the session once the figure has been painted (`shell/first_view.js`). Other pages,
and sections with inputs in their address, come with their session.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
from bokeh.core.templates import MACROS

from splatscope.paths import BUNDLE
from splatscope.textbook.contents import text_of
from splatscope.web.assets import address, scripts
from splatscope.web.component import style_sheet
from splatscope.web.lesson_page import first_recording
from splatscope.web.shell.pages import entry_of, groups
from splatscope.web.shell.shell import Shell, title

SESSION = "session"  # in an address: the page stands already and lacks its session
TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "shell"), trim_blocks=True, lstrip_blocks=True
)


def variables(shell: Shell) -> dict[str, Any]:
    """Return what `shell.html` says of a page, with or without its session."""
    entry = entry_of(shell.page)
    return {"css": style_sheet(), "groups": groups(), "current": entry, "scripts": scripts(), "first": shell.view.first}


async def first_document(query: Mapping[str, str]) -> str:
    """Return the document for an address, or "" if its page comes with its session."""
    page = query.get("page", "")
    if query.keys() - {"page", "step"} or not scripts() or await first_recording.prepare(page) is None:
        return ""
    return _document(page, address(BUNDLE.name), style_sheet(), text_of(page))


@lru_cache(64)
def _document(page: str, bundle: str, *_: str) -> str:
    """Return the document of a section. What follows the bundle's address only tells whether a known one is current."""
    shell = Shell(page, live=False)
    view = shell.view.described()
    view["values"]["html"] = ""  # stands in the document
    first_view = json.dumps({"entries": shell.router.entries, "view": view}, separators=(",", ":")).replace("<", "\\u003c")
    text = TEMPLATES.get_template("shell.html").render(
        variables(shell),
        title=title(entry_of(page)),
        bundle=bundle,
        first_view=first_view,
        preload=shell.view.preload,
        macros=MACROS,
    )
    shell.close()
    return text
