"""Write the book as files: one document, and for each page and each recording a script that the document loads when it is needed.

The components, their style and their code are the app's. In the place of a session, `session.js` answers a change of inputs from
what was recorded here.
"""

import asyncio
import base64
import hashlib
import json
import re
import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import date
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from bokeh.core.templates import MACROS
from bokeh.settings import settings

from splatscope import __version__
from splatscope.paths import ASSETS, BUNDLE
from splatscope.recordings.wire import lean
from splatscope.splat.thumbnail import Thumbnail
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.textbook.grid import grid
from splatscope.web.classroom.walk_bar import WalkBar
from splatscope.web.classroom.walks import Walk, walks
from splatscope.web.component import Described, components, flat, style_sheet
from splatscope.web.first_document import TEMPLATES
from splatscope.web.home.home import GROWTH, home
from splatscope.web.home.live import LiveRender
from splatscope.web.home.program_map import ProgramMap
from splatscope.web.lesson_page.lesson_bar import LessonBar
from splatscope.web.lesson_page.lesson_form import address_of
from splatscope.web.lesson_page.lesson_page import SHIPPED, LessonPage
from splatscope.web.publish import exercises, tools
from splatscope.web.publish.linked import linked_inputs
from splatscope.web.publish.long_values import pack_value
from splatscope.web.publish.states import FILE, PublishedPage
from splatscope.web.reference.claims import Claims
from splatscope.web.reference.glossary import glossary
from splatscope.web.results.results import Claim, Show
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import Page
from splatscope.web.shell.pages import BY_NAME, PAGES, Entry, groups
from splatscope.web.shell.shell import neighbours, public, title
from splatscope.web.stepper.stepper import Stepper

SCRIPT = BUNDLE.with_name("book.js")
BOKEH = settings.bokehjs_path() / "js" / "bokeh.min.js"
AT_ONCE = 2  # sections that are recorded at the same time
LINK = re.compile(r'<a\b[^>]*href="\?page=(?P<page>[\w-]+)[^>]*>(?P<words>.*?)</a>', re.DOTALL)
# The style sheet for documents that load it: the components take it from the same element.
STYLE = 'document.head.append(Object.assign(document.createElement("style"), {{id: "splatscope-css", textContent: {}}}))\n'
Report = Callable[[str], None]


@dataclass
class Book:
    """A book that is being written into a folder.

    Attributes:
        folder: Where it is written.
        names: The pages that it has.
        adapter: The device that recorded it, known from the first recording on.
        failed: What could not be recorded, a line each.
    """

    folder: Path
    names: list[str]
    adapter: str = ""
    failed: list[str] = field(default_factory=list)

    @property
    def walks(self) -> list[Walk]:
        """The walks whose pages the book has, all of them."""
        return [walk for walk in walks() if {stop.page for stop in walk.stops} <= {*self.names}]

    def neighbours(self, name: str) -> str:
        """Return the links to the pages of the book before and after one."""
        return neighbours(BY_NAME[name], [entry for entry in PAGES if entry.name in self.names])

    def about(self) -> str:
        """Return the words at the end of each page: what was recorded where, and what a device is needed for."""
        where = f"Recorded on {escape(self.adapter)}" if self.adapter else "Made on"
        made = f"{where}{',' if self.adapter else ''} {date.today():%-d %B %Y}, by Splatscope {__version__}"
        return f"""<footer class="published"><p>{made}. This book needs no server: it shows what was recorded; your browser blends
          the pictures of Gaussians. To run its kernels with any inputs, to train on a picture, or to debug a kernel:</p>
          {tools.COMMANDS}</footer>"""

    def linked(self, value: Any) -> Any:
        """Return a component's value with links to the pages of the book alone: what would lead elsewhere is plain text."""
        if isinstance(value, str):
            return LINK.sub(lambda found: found[0] if found["page"] in self.names else found["words"], value)
        if isinstance(value, dict):
            return {name: self.linked(one) for name, one in value.items()}
        return [self.linked(one) for one in value] if isinstance(value, list) else value

    def write_script(self, name: str, content: Any) -> None:
        """Write a file that the document loads, as `files.js` expects it."""
        path = self.folder / f"{name}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
        path.write_text(f"bookFile({json.dumps(name)},{text})\n", encoding="utf-8")

    def write_bytes(self, name: str, content: bytes) -> None:
        """Write a file that the document loads as bytes."""
        self.write_script(name, base64.b64encode(content).decode())

    def write_value(self, value: Any) -> str:
        """Write a long value, unless it is there already; return its file's name."""
        packed = pack_value(value)
        name = f"values/{hashlib.sha256(packed).hexdigest()[:24]}"
        if not (self.folder / f"{name}.js").exists():
            self.write_bytes(name, packed)
        return name

    def write_page(self, name: str, page: PublishedPage) -> None:
        """Write a page, and its long values beside it."""
        self.write_script(f"pages/{name}", page.as_json(self.write_value))

    def write_walk(self, walk: Walk) -> None:
        """Write a walk for who reads it alone: its stops, and the notes on them."""
        bar = WalkBar(walk, teaches=False).described()
        bar["values"]["notes"] = self.linked(bar["values"]["notes"])
        self.write_script(f"walks/{walk.name}", bar)

    def view_of(self, page: Page, mends: bool = False) -> Described:
        """Return what a page shows now, with the words at its end, and write the recordings that it has.

        Where it `mends` what a recording finds, it says what that does to the outputs; nothing else in the book shows these.
        """
        described = page.described()
        for component, part in zip(components(page), flat(described), strict=True):
            if isinstance(component, Stepper):
                part["values"] |= self._write_recording(component, mends) | {"sequence": 1, "busy": ""}
                self.adapter = self.adapter or component.meta.get("adapter", "")
            elif isinstance(component, LessonBar):
                part["values"]["debugger"] = ""  # its page needs a device
            elif isinstance(component, LiveRender):
                part["values"] |= {"ready": True, "picture": self._write_gaussians(component.picture)}
                if component.stills:
                    part["values"]["stills"] = f"assets/{GROWTH}"
            elif isinstance(component, Claim | Show):
                part["values"]["device"] = self.adapter
            part["values"] = {name: self.linked(value) for name, value in part["values"].items()}
            if error := part["values"].get("error"):
                self.failed.append(f"{page.page}: {error}")
        described["values"] |= {"html": described["values"]["html"] + self.neighbours(page.page) + self.about(), "preload": ""}
        return described

    def _write_gaussians(self, name: str) -> str:
        """Write the raw values of a trained picture, which the browser blends; return the file's name."""
        raw = Thumbnail.load(ASSETS / f"{name}.npz").raw.astype("<f4")
        self.write_bytes(f"pictures/{name}", raw.tobytes())
        return f"pictures/{name}"

    def _write_recording(self, stepper: Stepper, outputs: bool) -> dict[str, Any]:
        """Write a stepper's recording, if it has one, and its sources, which others share; return the values that name them."""
        if not stepper.meta:
            return {"sources": {}}
        data, sources = lean(stepper.packed.data, outputs=outputs)
        name = f"recordings/{hashlib.sha256(data).hexdigest()[:24]}"
        if not (self.folder / f"{name}.js").exists():
            self.write_bytes(name, data)
        return {"file": name, "sources": {FILE: self.write_value(sources)}}


async def publish(folder: Path, pages: Collection[str] = (), report: Report = print) -> Book:
    """Write the book into a folder, or some of its pages, with the home page and the glossary.

    Each section is recorded for all inputs of its grid, and for those that links and walks name.

    Raises:
        ValueError: There is no such page, or the folder holds something else.
        WorkerError: The worker was lost.
    """
    known = [name for name in BY_NAME if name in {*lesson_names(), *_VIEWS, "debugger", "exercises"}]  # others need a device
    if unknown := set(pages) - set(known):
        raise ValueError(f"A book has no page {sorted(unknown)[0]}. These are: {', '.join(known)}.")
    _empty(folder)
    book = Book(folder, [name for name in known if not pages or name in {*pages, "home", "glossary"}])
    names = [name for name in book.names if name in lesson_names()]
    places = asyncio.Semaphore(AT_ONCE)

    async def one(name: str) -> None:
        async with places:
            page = await _section(book, name)
        book.write_page(name, page)
        report(f"{name}: {len(page.states)} sets of inputs")

    await asyncio.gather(*map(one, names))
    if "debugger" in book.names:
        page = PublishedPage(defaults=tools.DEFAULTS, fix=tools.FIX)
        async for shown, address, inputs in tools.debugger():
            page.add(book.view_of(shown, mends=True), address, inputs)
        book.write_page("debugger", page)
        report(f"debugger: {len(page.states)} kernels")
    if "exercises" in book.names:
        page = PublishedPage(defaults=exercises.DEFAULTS)
        async for shown, address, inputs in exercises.exercises(book.names):
            page.add(book.view_of(shown), address, inputs)
        book.write_page("exercises", page)
        report(f"exercises: {len(page.states)} kernels and their list")
    for name in _VIEWS:
        if name in book.names:
            page = PublishedPage()
            page.add(await _VIEWS[name](book))
            book.write_page(name, page)
            report(name)
    for walk in book.walks:
        book.write_walk(walk)
    _write_documents(book)
    return book


def _empty(folder: Path) -> None:
    """Make the folder, or take an earlier book out of it. Raises ValueError if it holds anything else."""
    if folder.exists() and any(folder.iterdir()) and not (folder / SCRIPT.name).is_file():
        raise ValueError(f"{folder} holds something else than a book. Name a new folder.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copyfile(SCRIPT, folder / SCRIPT.name)  # first: it tells a book that was not finished from something else


def _place(page: str, inputs: dict[str, str] | None = None) -> Location:
    return Location(page=page, inputs=inputs or {}, live=False)


async def _section(book: Book, name: str) -> PublishedPage:
    """Return a section with its states: its first inputs, those of its grid and of links to it, and the recording that ships."""
    kind = find_lesson(name)
    defaults = {key: value for key, value in kind().param.values().items() if key != "name"}
    published = PublishedPage(figure=True, defaults=defaults, fix=dict(kind.fix))
    own = grid(kind)
    for inputs in [*own, *(one for one in linked_inputs(name) if one not in own)]:
        address = address_of(kind(**inputs))
        await _add_state(book, published, name, address, inputs)
    bar = next(part for part in flat(published.view) if part["class"] == LessonBar.__name__)
    if bar["values"]["elsewhere"]:
        await _add_state(book, published, name, f"{SHIPPED}=1", {})
    return published


async def _add_state(book: Book, published: PublishedPage, name: str, address: str, inputs: dict[str, Any]) -> None:
    page = LessonPage(_place(name, dict(parse_qsl(address))))
    await page.fill()
    published.add(book.view_of(page.page, mends=bool(published.fix)), address, inputs)
    page.close()


async def _claims(book: Book) -> Described:
    claims = Claims([name for name in book.names if name in lesson_names()])
    await claims.all()
    return book.view_of(claims.page)


async def _train(book: Book) -> Described:
    return book.view_of(tools.train())


async def _glossary(book: Book) -> Described:
    return book.view_of(glossary(_place("glossary")))


async def _home(book: Book) -> Described:
    page = home(_place("home"), book.walks)
    for part in components(page):
        if isinstance(part, ProgramMap):
            await part.fill()
    while any(isinstance(part, Stepper) and not part.meta for part in components(page)):
        await asyncio.sleep(0.05)
    return book.view_of(page)


_VIEWS = {"home": _home, "train": _train, "claims": _claims, "glossary": _glossary}


def _write_documents(book: Book) -> None:
    """Write `index.html`, a document for each figure alone, and what they load first."""
    css, sections = style_sheet(), [entry for entry in PAGES if entry.name in book.names and entry.is_section]
    (book.folder / "embed").mkdir()
    (book.folder / "assets").mkdir()
    (book.folder / "index.html").write_text(_document(book, BY_NAME["home"], css=css), encoding="utf-8")
    for entry in sections:
        (book.folder / "embed" / f"{entry.name}.html").write_text(_document(book, entry, alone=True, base="../"), encoding="utf-8")
    (book.folder / "style.js").write_text(STYLE.format(json.dumps(css)), encoding="utf-8")
    shutil.copyfile(ASSETS / GROWTH, book.folder / "assets" / GROWTH)
    shutil.copyfile(BOKEH, book.folder / "assets" / "bokeh.js")


def _document(book: Book, entry: Entry, base: str = "", **variables: Any) -> str:
    entries = [public(one) for one in PAGES if one.name in book.names]
    known = [(group, [one for one in pages if one.name in book.names]) for group, pages in groups()]
    text = TEMPLATES.get_template("shell.html").render(
        published=True,
        policy="{policy}",
        base=base,
        bokeh=f"{base}assets/bokeh.js",
        bundle=base + SCRIPT.name,
        groups=[(group, pages) for group, pages in known if pages],
        current=entry,
        title=title(entry),
        entries=json.dumps(entries, separators=(",", ":")).replace("<", "\\u003c"),
        first="",
        macros=MACROS,
        **variables,
    )
    return text.replace("{policy}", _policy(text))


def _policy(text: str) -> str:
    """Return the content security policy of a document: its own scripts and those beside it, and no request elsewhere."""
    inline = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in inline)
    allowed = {
        "default-src": "'none'",
        "script-src": f"'self' {hashes}",
        "style-src": "'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in allowed.items())
