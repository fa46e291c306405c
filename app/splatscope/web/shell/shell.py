"""One session's shell: the frame around the pages, and the page now shown in it."""

import logging
from html import escape
from pathlib import Path
from urllib.parse import urlencode

import jinja2
import panel as pn
import param

from splatscope.web.classroom.walk_bar import WalkBar, join
from splatscope.web.component import style_sheet
from splatscope.web.home.home import home
from splatscope.web.shell.page import Page, coming, neighbours
from splatscope.web.shell.pages import BY_NAME, Entry, sections
from splatscope.web.shell.router import Router, read_inputs, read_step

log = logging.getLogger(__name__)

TEMPLATE = Path(__file__).with_name("shell.html")


class Shell(param.Parameterized):
    """Builds pages as the address asks for them, and closes the one that is left."""

    page = param.String(default="home", constant=True, doc="Name in the address; may be one that no page has")
    step = param.Integer(default=0, bounds=(0, None), constant=True, doc="Step in the address; pages may watch it")

    inputs = param.Dict(default={}, constant=True, doc="What else stands in the address: a page's inputs, as texts by name")

    def __init__(self, page: str = "home", step: int = 0, inputs: dict[str, str] | None = None, walk: WalkBar | None = None):
        super().__init__(page=page, step=step, inputs=inputs or {})
        self.walk = walk
        self.view = self._built()
        begin = {"page": page, "step": step, "inputs": urlencode(self.inputs)} if walk else {}
        self.router = Router(self.go, view=self.view, walk=walk, begin=begin, entries=[_public(e) for e in BY_NAME.values()])

    def go(self, page: str, step: int = 0, inputs: dict[str, str] | None = None, followed: bool = True) -> None:
        """Shows another page, or another step or other inputs of this one.

        Inputs that nobody `followed` to are the page's own, as it put them into the address: it is not told of them, since it may
        have others by now.
        """
        other = page != self.page
        with param.edit_constant(self):
            if not followed and not other:
                with param.parameterized.discard_events(self):
                    self.param.update(inputs=inputs or {})
            self.param.update(page=page, step=step, inputs=inputs or {})
        if other:
            left, self.view = self.view, self._built()
            self.router.view = self.view
            left.close()

    def close(self) -> None:
        """Frees the page now shown, and leaves the class: the session has ended."""
        if self.walk:
            self.walk.close()
        self.view.close()

    def _built(self) -> Page:
        if self.walk and self.walk.window == "notes":
            return Page(page="notes")
        page = self._build()
        page.html += neighbours(BY_NAME.get(self.page, BY_NAME["home"]))
        return page

    def _build(self) -> Page:
        entry = BY_NAME.get(self.page)
        if entry is None:
            return home(self, missing=self.page)
        if not entry.exists:
            return coming(entry)
        try:
            return entry.load()(self)
        except Exception as error:  # one page that fails must not take the shell with it
            log.exception("The page %s could not be built", entry.name)
            return _failed(entry, error)


def serve() -> Shell:
    """Makes the shell of the session that is being created. Called by `app/main.py`, once for each."""
    asked = {name: values[0].decode(errors="replace") for name, values in pn.state.session_args.items() if values}
    shell = _asked(asked)
    shell.router.servable()
    document = pn.state.curdoc
    entry = BY_NAME.get(shell.page, BY_NAME["home"])
    document.title = title(entry)
    document.template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), trim_blocks=True, lstrip_blocks=True)
    document.template_variables.update(css=style_sheet(), sections=sections(), current=entry)
    pn.state.on_session_destroyed(lambda _: shell.close())
    return shell


def _asked(asked: dict[str, str]) -> Shell:
    page, step, inputs = asked.get("page", ""), read_step(asked.get("step")), read_inputs(asked)
    if "walk" not in asked:
        return Shell(page or "home", step, inputs)
    walk = join(asked)
    if walk is None:
        return Shell(f"walk={asked['walk']}")  # which home says there is none of
    return Shell(*walk.begins(page, step, inputs), walk)


def title(entry: Entry) -> str:
    """What the browser's tab says: `js/router.js` says the same after a change of page."""
    return "Splatscope" if entry.name == "home" else f"{entry.title} · Splatscope"


def _public(entry: Entry) -> dict[str, str | bool]:
    return {name: getattr(entry, name) for name in ("name", "title", "group", "description", "exists")}


def _failed(entry: Entry, error: Exception) -> Page:
    html = f"""<article class="words"><h1>{escape(entry.title)}</h1>
      <p class="lede">This page could not be built: {escape(str(error) or type(error).__name__)}</p>
      <p>Reload to try again, or go <a href="?page=home">home</a>. The server's log has the details.</p></article>"""
    return Page(page=entry.name, html=html)
