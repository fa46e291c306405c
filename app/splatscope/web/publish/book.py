"""Write the book as files: a document for each page, and for each page and recording a script that documents load on demand.

The components, their style and their code are the app's. In place of a session, `session.ts` answers a change of inputs with what
was recorded here.

What fails, such as a kernel that runs out of time on a busy machine, is tried once more after everything else and with more time.
If it fails again, its place on the page says so to readers, and `Book.failed` says so to the publisher.
"""

import asyncio
import base64
import hashlib
import json
import re
import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from bokeh.settings import settings
from markupsafe import Markup

from splatscope import __version__
from splatscope.gpu.device import is_software
from splatscope.paths import ASSETS, BUNDLE, FONTS, OPENING_KERNELS, STYLES, TRAINING_KERNELS
from splatscope.recordings.wire import lean
from splatscope.services.lessons import pixel_facts
from splatscope.splat.thumbnail import Thumbnail
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.textbook.input_grid import input_grid
from splatscope.textbook.lesson import PIXEL
from splatscope.textbook.pixel import PUBLISHED, SAMPLE
from splatscope.web.classroom.walk_bar import WalkBar
from splatscope.web.classroom.walks import Walk, walks
from splatscope.web.exercises.practise import practise
from splatscope.web.home.home import home
from splatscope.web.home.opening import GAUSSIANS, PICTURE, STAGES, Opening
from splatscope.web.home.program_map import ProgramMap
from splatscope.web.lesson_page.inputs import SHIPPED
from splatscope.web.lesson_page.lesson_bar import LessonBar
from splatscope.web.lesson_page.lesson_form import address_of
from splatscope.web.lesson_page.lesson_page import LessonPage
from splatscope.web.lesson_page.your_pixel import DRAWN, YourPixel
from splatscope.web.lesson_results.results import Claim, Quiz, Show
from splatscope.web.policy import policy, template_scripts
from splatscope.web.publish import exercises, tools
from splatscope.web.publish.addresses import document_of, in_book
from splatscope.web.publish.cards import card
from splatscope.web.publish.linked import linked_inputs
from splatscope.web.publish.live import LiveRender
from splatscope.web.publish.long_values import pack_value
from splatscope.web.publish.states import FILE, PageState, PublishedPage
from splatscope.web.reference import claims
from splatscope.web.reference.glossary import glossary
from splatscope.web.runtime.component import Component, components, flat
from splatscope.web.runtime.tree import described
from splatscope.web.search.index import search_index
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import Page, before_scripts
from splatscope.web.shell.pages import BY_NAME, PAGES, Entry, groups
from splatscope.web.shell.reading import reading
from splatscope.web.shell.shell import neighbours, public, title
from splatscope.web.single_page.single_page import today
from splatscope.web.stepper.stepper import Stepper
from splatscope.web.templates import TEMPLATES
from splatscope.web.training.browser_training import SAMPLES, BrowserTraining
from splatscope.web.training.challenge import Challenge
from splatscope.workers import worker_pool

SCRIPT = BUNDLE.with_name("book.js")
BOKEH = settings.bokehjs_path() / "js" / "bokeh.min.js"
AT_ONCE = 2  # sections that are recorded at the same time
MORE_TIME = 5  # factor on the time limit of each job in a second try
NO_DEVICE = "no device"  # shown if no device has recorded anything
LINK = re.compile(r'<a\b[^>]*href="\?page=(?P<page>[\w-]+)[^>]*>(?P<words>.*?)</a>', re.DOTALL)
# The script that adds the style sheet. Components read it from the same element as in the app.
STYLE = 'document.head.append(Object.assign(document.createElement("style"), {{id: "splatscope-css", textContent: {}}}))\n'
# For components with nothing to show: the message to readers, and the name of the missing part for the publisher.
MISSING: dict[type[Component], tuple[str, str]] = {
    Stepper: (
        "This figure could not be recorded when the book was published. Your own computer may record it: "
        "pip install 'splatscope[app]', then splatscope serve.",
        "the figure",
    ),
    Quiz: ("The answer could not be recorded when the book was published.", "a question"),
    Claim: ("This claim could not be tested when the book was published.", "a claim"),
    Show: ("This could not be run when the book was published.", "a result"),
    ProgramMap: ("The times could not be measured when the book was published.", "the times of the map"),
}


@dataclass
class Progress:
    """The progress of publishing.

    Attributes:
        recordings: Sets of inputs that were recorded, or given up.
        all_recordings: All sets of inputs that are known so far.
        pages: Pages that were written.
        all_pages: All pages of the book.
        again: Whether failed parts are being tried once more.
    """

    recordings: int = 0
    all_recordings: int = 0
    pages: int = 0
    all_pages: int = 0
    again: bool = False


Report = Callable[[Progress, str], None]
"""Called after each recording with "", and after each page with a line about it."""


@dataclass
class Draft:
    """A page that is being made, with its states, none of which is recorded at first."""

    name: str
    states: list[PageState]
    figure: bool = False
    defaults: dict[str, Any] = field(default_factory=dict)
    fix: dict[str, Any] = field(default_factory=dict)

    def published(self) -> PublishedPage:
        """Return the page with the contents of its states."""
        page = PublishedPage(figure=self.figure, defaults=self.defaults, fix=self.fix)
        for state in self.states:
            page.add(state.view, state.address, state.inputs)
        return page


@dataclass
class Book:
    """A book that is being written into a folder.

    Attributes:
        folder: The folder it is written to.
        names: The names of its pages.
        adapter: The device that recorded it; known after the first recording.
        words: The text of each page that was written, as HTML for readers without scripts.
        failed: What could not be recorded, and what to do about it, a line each.
        told: The pixels of SAMPLE of which a page tells what the whole program does to them.
    """

    folder: Path
    names: list[str]
    adapter: str = ""
    words: dict[str, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    told: set[tuple[int, int]] = field(default_factory=set)

    @property
    def walks(self) -> list[Walk]:
        """The walks all of whose pages are in the book."""
        return [walk for walk in walks() if {stop.page for stop in walk.stops} <= {*self.names}]

    def neighbours(self, name: str) -> str:
        """Return the links to the previous and next page in the book."""
        return neighbours(BY_NAME[name], [entry for entry in PAGES if entry.name in self.names])

    def about(self) -> str:
        """Return the footer of each page: where the book was recorded, and what needs a device."""
        origin = f"Recorded on {escape(self.adapter)}" if self.adapter else "Made on"
        imprint = f"{origin}{',' if self.adapter else ''} {today()}, by Splatscope {__version__}"
        return f"""<footer class="published"><p>{imprint}. This book needs no server. It shows recordings, and your browser blends
          the pictures of Gaussians. To run its kernels with other inputs, train on a picture, or debug a kernel:</p>
          {tools.COMMANDS}</footer>"""

    def linked(self, value: Any) -> Any:
        """Return a component's value with the book's addresses, in which links to pages outside the book are plain text."""
        if isinstance(value, str):
            return in_book(LINK.sub(lambda match: match[0] if match["page"] in self.names else match["words"], value))
        if isinstance(value, dict):
            return {name: self.linked(member) for name, member in value.items()}
        return [self.linked(item) for item in value] if isinstance(value, list) else value

    def write_script(self, name: str, content: Any) -> None:
        """Write a file that the document loads, in the form that `files.ts` expects."""
        path = self.folder / f"{name}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
        path.write_text(f"bookFile({json.dumps(name)},{text})\n", encoding="utf-8")

    def write_bytes(self, name: str, content: bytes) -> None:
        """Write a file that the document loads as bytes."""
        self.write_script(name, base64.b64encode(content).decode())

    def write_value(self, value: Any) -> str:
        """Write a long value, unless it exists already. Return its file's name."""
        packed = pack_value(value)
        name = f"values/{hashlib.sha256(packed).hexdigest()[:24]}"
        if not (self.folder / f"{name}.js").exists():
            self.write_bytes(name, packed)
        return name

    def write_page(self, name: str, page: PublishedPage) -> None:
        """Write a page, and its long values beside it."""
        self.words[name] = reading(page.view)
        self.write_script(f"pages/{name}", page.as_json(self.write_value))

    def write_walk(self, walk: Walk) -> None:
        """Write a walk for readers on their own: its stops, and the notes on them."""
        bar = described(WalkBar(walk, teaches=False))
        bar["values"]["notes"] = self.linked(bar["values"]["notes"])
        self.write_script(f"walks/{walk.name}", bar)

    def capture_state(self, state: PageState, page: Page, mends: bool = False) -> None:
        """Store a page's current contents with the footer, and write its recordings.

        The outputs are only kept with `mends`, for a page that shows how a fix changes them.
        """
        state.view, state.failed = described(page), []
        for component, part in zip(components(page), flat(state.view), strict=True):
            if isinstance(component, Stepper):
                part["values"] |= self._write_recording(component, mends) | {"busy": ""}
                self.adapter = self.adapter or component.meta.get("adapter", "")
            elif isinstance(component, LessonBar):
                name = component.adapter or self.adapter  # a shipped recording's page does not know it
                part["values"] |= {"debugger": "", "adapter": name, "software": is_software(name)}  # the debugger needs a device
            elif isinstance(component, LiveRender):
                part["values"]["picture"] = self._write_gaussians(component.picture)
                if component.frame:  # for browsers without a GPU
                    part["values"] |= self._write_still(component)
            elif isinstance(component, YourPixel):
                self.told |= {*PUBLISHED} if component.story else set()
                name, width, height, _ = component.sample
                part["values"] |= {"sample": [name, width, height, f"assets/{DRAWN}"], "pixels": [list(at) for at in PUBLISHED]}
            elif isinstance(component, Opening):
                part["values"] |= self._write_opening()
            elif isinstance(component, BrowserTraining | Challenge):
                part["values"] |= self._write_training()
            elif isinstance(component, Claim | Show):
                part["values"]["device"] = self.adapter or NO_DEVICE
            part["values"] = {name: self.linked(value) for name, value in part["values"].items()}
            if (reason := _explain_missing(component)) is not None:
                message, missing = MISSING[type(component)]
                part["values"]["said" if isinstance(component, ProgramMap) else "error"] = message
                state.failed += [self._line(page.page, state.address, missing, reason)] if reason else []
        html = state.view["values"]["html"]
        if "exercises" not in self.names:
            html = html.replace(self.linked(practise(page.page)), "")
        html += in_book(self.neighbours(page.page)) + self.about()
        state.view["values"] |= {"html": html, "preload": ""}

    def _line(self, page: str, address: str, missing: str, reason: str) -> str:
        """Return the line for the publisher about something that failed."""
        place = f"?page={page}{'&' if address else ''}{address}"
        return (
            f"{place}, {missing}: {reason.partition('. ')[0].rstrip('.')}. Publish again when this machine has less to do; "
            "if it fails again, open that page with “splatscope serve”."
        )

    def _write_gaussians(self, name: str) -> str:
        """Write the raw values of a trained picture, which the browser blends. Return the file's name."""
        raw = Thumbnail.load(ASSETS / f"{name}.npz").raw.astype("<f4")
        self.write_bytes(f"pictures/{name}", raw.tobytes())
        return f"pictures/{name}"

    def _write_still(self, component: LiveRender) -> dict[str, Any]:
        """Write the picture that a component has of all its Gaussians. Return the values with which it shows that first."""
        name = f"pictures/{component.picture}.jpg"
        (self.folder / name).write_bytes(bytes(component.frame))
        return {"stills": name, "counts": [component.total], "sequence": 0}

    def _write_opening(self) -> dict[str, Any]:
        """Write what takes the first page's picture apart. Return the values that name the files."""
        self.write_script("opening/kernels", json.loads(OPENING_KERNELS.read_text(encoding="utf-8")))
        self.write_bytes("opening/gaussians", (ASSETS / GAUSSIANS).read_bytes())
        pictures = {"picture": f"assets/{PICTURE}", "stages": f"assets/{STAGES}"}
        return pictures | {"kernels": "opening/kernels", "gaussians": "opening/gaussians"}

    def _write_training(self) -> dict[str, Any]:
        """Write the kernels and the sample pictures of training in the browser. Return the values that name their files."""
        self.write_script("training/kernels", json.loads(TRAINING_KERNELS.read_text(encoding="utf-8")))
        samples = {name: f"training/{name}" for name in SAMPLES}
        for name, file in samples.items():
            self.write_bytes(file, (ASSETS / name).read_bytes())
        return {"kernels": "training/kernels", "samples": samples, "server": ""}

    def _write_recording(self, stepper: Stepper, outputs: bool) -> dict[str, Any]:
        """Write a stepper's recording, if it has one, and its sources, which recordings share. Return the values that name them."""
        if stepper.packed is None:
            return {"sources": {}}
        data, sources = lean(stepper.packed.data, outputs=outputs)
        name = f"recordings/{hashlib.sha256(data).hexdigest()[:24]}"
        if not (self.folder / f"{name}.js").exists():
            self.write_bytes(name, data)
        return {"file": name, "sources": {FILE: self.write_value(sources)}}


def _explain_missing(component: Component) -> str | None:
    """Return why a component has nothing to show, "" if its figure explains that, and None if it shows what it should."""
    match component:
        case Stepper() if component.error:
            return component.error
        case Claim() | Show() if component.error:
            return component.error
        case Claim() if not component.verdict:
            return ""
        case Show() if not component.results:
            return ""
        case Quiz() if not component.answer:
            return ""
        case ProgramMap() if not component.times:
            return component.said
    return None


async def publish(folder: Path, pages: Collection[str] = (), report: Report = lambda progress, line: None) -> Book:
    """Write the book into a folder, or only some of its pages with the home page and the glossary.

    Each section is recorded for all inputs of its grid, and for those in links and walks.

    Raises:
        ValueError: There is no such page, or the folder contains something other than a book.
    """
    publishable = [name for name in BY_NAME if name in {*lesson_names(), *_TOOLS}]  # the other pages need a device
    if unknown := set(pages) - set(publishable):
        raise ValueError(f"A book has no page {sorted(unknown)[0]}. These are: {', '.join(publishable)}.")
    _empty(folder)
    book = Book(folder, [name for name in publishable if not pages or name in {*pages, "home", "glossary"}])
    sections = [_section(name) for name in book.names if name in lesson_names()]
    tool_drafts = [draft(book) for name, draft in _TOOLS.items() if name in book.names]
    drafts = [*sections, *tool_drafts]
    progress = Progress(all_recordings=sum(len(draft.states) for draft in drafts), all_pages=len(drafts))

    async def record(draft: Draft) -> None:
        """Record the missing states of a page. Write the page if nothing failed, or if this was the last try."""
        for state in draft.states:  # a section adds one
            if not state.is_recorded:
                book.capture_state(state, await state.make(), mends=bool(draft.fix))
                progress.all_recordings += _add_shipped(draft)
                progress.recordings += state.is_recorded or progress.again
                report(progress, "")
        if progress.again or all(state.is_recorded for state in draft.states):
            book.write_page(draft.name, draft.published())
            book.failed += [line for state in draft.states for line in state.failed]
            progress.pages += 1
            sets = len(draft.states)
            report(progress, f"{draft.name}: {sets} set{'s' if sets > 1 else ''} of inputs")
            draft.states.clear()  # their views are long

    async def record_when_free(draft: Draft) -> None:
        async with semaphore:
            await record(draft)

    semaphore = asyncio.Semaphore(AT_ONCE)
    await asyncio.gather(*map(record_when_free, sections))
    for draft in tool_drafts:
        await record(draft)
    if failed := [draft for draft in drafts if draft.states]:
        progress.again, worker_pool.limit_factor = True, MORE_TIME
        try:
            for draft in failed:
                await record(draft)
        finally:
            worker_pool.limit_factor = 1.0
    for walk in book.walks:
        book.write_walk(walk)
    book.write_script("walks/index", [walk.name for walk in book.walks])
    book.write_script("search", search_index(book.names))
    for x, y in sorted(book.told):
        book.write_script(f"pictures/{SAMPLE}/{x},{y}", await pixel_facts(worker_pool, SAMPLE, (x, y)))
    _write_documents(book)
    return book


def _empty(folder: Path) -> None:
    """Make the folder, or remove an earlier book from it. Raises ValueError if it contains anything else."""
    if folder.exists() and any(folder.iterdir()) and not (folder / SCRIPT.name).is_file():
        raise ValueError(f"{folder} contains something other than a book. Choose a new folder.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copyfile(SCRIPT, folder / SCRIPT.name)  # first, so that an unfinished book can be recognized as a book


def _place(page: str, inputs: dict[str, str] | None = None) -> Location:
    return Location(page=page, inputs=inputs or {}, live=False)


def _section(name: str) -> Draft:
    """Return a section with its initial inputs, those of its grid, and those of links to it."""
    kind = find_lesson(name)
    unused = ("name",) if kind.from_pixel is not None else ("name", *PIXEL)
    defaults = {key: value for key, value in kind().param.values().items() if key not in unused}
    grid = input_grid(kind)
    states = [
        PageState(partial(_section_page, name, address), address, inputs)
        for inputs in [*grid, *(linked for linked in linked_inputs(name) if linked not in grid)]
        for address in [address_of(kind(**inputs))]
    ]
    return Draft(name, states, figure=True, defaults=defaults, fix=dict(kind.fix))


def _add_shipped(draft: Draft) -> bool:
    """Add the shipped recording to a section. Return False if it has it already, or if there is none."""
    address = f"{SHIPPED}=1"
    bars = [part for part in flat(draft.states[0].view) if part["class"] == LessonBar.__name__] if draft.figure else []
    if not any(bar["values"]["elsewhere"] for bar in bars) or draft.states[-1].address == address:
        return False
    draft.states.append(PageState(partial(_section_page, draft.name, address), address))
    return True


async def _section_page(name: str, address: str) -> Page:
    page = LessonPage(name, dict(parse_qsl(address)))
    await page.fill()
    return page.page


async def _claims_page(book: Book) -> Page:
    view = claims.Claims([name for name in book.names if name in lesson_names()])
    await view.all()
    device = f"on {escape(book.adapter)}, " if book.adapter else ""
    view.page.html = view.page.html.replace(
        claims.WORDS,
        f"""<h1>Claims</h1>
        <p>What is said about programs like this one, and what they do when they run. Each claim was tested {device}on
        {today()}, by running the kernels of its section.</p>""",
    )
    return view.page


async def _train_page() -> Page:
    return await tools.train()


async def _glossary_page() -> Page:
    return glossary(_place("glossary"))


async def _home_page(book: Book) -> Page:
    page = home(_place("home"), book.names, book.walks)
    for part in components(page):
        if isinstance(part, ProgramMap):
            await part.fill()
    while any(isinstance(part, Stepper) and not (part.meta or part.error) for part in components(page)):
        await asyncio.sleep(0.05)
    return page


_TOOLS: dict[str, Callable[[Book], Draft]] = {
    "debugger": lambda book: Draft("debugger", tools.debugger(), defaults=tools.DEFAULTS, fix=tools.FIX),
    "exercises": lambda book: Draft("exercises", exercises.exercises(book.names), defaults=exercises.DEFAULTS),
    "home": lambda book: Draft("home", [PageState(partial(_home_page, book))]),
    "train": lambda book: Draft("train", [PageState(_train_page)]),
    "claims": lambda book: Draft("claims", [PageState(partial(_claims_page, book))]),
    "glossary": lambda book: Draft("glossary", [PageState(_glossary_page)]),
}


def _write_documents(book: Book) -> None:
    """Write a document for each page and for each figure to embed, and what these load first. The last is `index.html`."""
    css = STYLES.read_text(encoding="utf-8")
    (book.folder / "embed").mkdir()
    (book.folder / "assets" / "cards").mkdir(parents=True)
    (book.folder / STYLES.name).write_text(css, encoding="utf-8")
    (book.folder / "style.js").write_text(STYLE.format(json.dumps(css)), encoding="utf-8")
    for entry in (BY_NAME[name] for name in reversed(book.names)):
        picture = f"assets/cards/{entry.name}.jpg"
        (book.folder / picture).write_bytes(card(entry))
        words = Markup(before_scripts(book.words[entry.name]))
        document = _document(book, entry, first=words, file=document_of(entry.name), picture=picture)
        (book.folder / document_of(entry.name)).write_text(in_book(document), encoding="utf-8")
        if entry.is_section:
            (book.folder / "embed" / f"{entry.name}.html").write_text(
                _document(book, entry, alone=True, base="../"), encoding="utf-8"
            )
    for name in (PICTURE, STAGES, DRAWN):
        shutil.copyfile(ASSETS / name, book.folder / "assets" / name)
    shutil.copyfile(FONTS, book.folder / FONTS.name)
    shutil.copyfile(BOKEH, book.folder / "assets" / "bokeh.js")


def _document(book: Book, entry: Entry, base: str = "", **variables: Any) -> str:
    book_groups = [(group, [page for page in pages if page.name in book.names]) for group, pages in groups()]
    return TEMPLATES.get_template("shell.html").render(
        published=True,
        policy=_policy(),
        base=base,
        bokeh=f"{base}assets/bokeh.js",
        bundle=base + SCRIPT.name,
        fonts=base + FONTS.name,
        groups=[(group, pages) for group, pages in book_groups if pages],
        current=entry,
        title=title(entry),
        entries=[public(page) for page in PAGES if page.name in book.names],
        **variables,
    )


def _policy() -> str:
    """Return the content security policy of a document: it may load the scripts next to it, and nothing else.

    It stands in the document itself, since no server may send it. There it cannot limit who shows the document in a frame.
    """
    return policy(
        script_src=f"'self' {template_scripts()}",
        style_src="'self' 'unsafe-inline'",
        font_src="data:",
        img_src="'self' data: blob:",
    )
