"""Walks through the book for a class: pages, steps and speaker notes in order, from lessons/walks/NAME.md.

A stop begins with a heading that is a link, `## [Title](?page=NAME&count=8&press=3&show=claim-order) 2 min`, followed by its notes.
`press` is the number of times that → is pressed once the figure is recorded, which leads to the same moment on every device. `show`
is what to scroll into view: `figure`, or a block by its kind and name. All other parameters are inputs of the page.

Notes say what to **Say:**, **Do:** and **Ask:**. Someone who reads a walk alone sees them reworded for a reader, without the
paragraphs that begin with **Class:**.

A block `::: sections` stands for the stops of all sections, in the order of the book. A section's stops are in walk.md beside its
text, where links do not name the page.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from splatscope.paths import lesson_folder, lesson_folders
from splatscope.textbook.contents import sections
from splatscope.textbook.front_matter import front_matter
from splatscope.textbook.markdown import parse as parse_blocks
from splatscope.web.shell.pages import BY_NAME

_LABELS = {"**Say:** ": "", "**Do:** ": "**Try it:** ", "**Ask:** ": "**Think:** "}  # their wording for a lone reader
_STOP = re.compile(r"^## +\[(?P<title>[^\]]+)\]\(\?(?P<query>[^)]*)\) +(?P<minutes>\d+(?:\.\d+)?) min$")


@dataclass(frozen=True)
class WalkStop:
    """A stop of a walk: a page in a certain state. A `Stepper`'s stops are something else: steps of one recording.

    Attributes:
        title: Its heading.
        page: Its page.
        inputs: The page's inputs, as a query string.
        press: How often → is pressed; -1 to leave the figure as it is.
        show: What to scroll into view; "" for nothing.
        minutes: Its planned length.
        notes: The speaker's notes, Markdown.
    """

    title: str
    page: str
    inputs: str
    press: int
    show: str
    minutes: float
    notes: str

    @property
    def words(self) -> str:
        """The notes as shown to someone who reads alone."""
        text = "\n\n".join(paragraph for paragraph in self.notes.split("\n\n") if not paragraph.startswith("**Class:**"))
        for label, words in _LABELS.items():
            text = text.replace(label, words)
        return text


@dataclass(frozen=True)
class Walk:
    """A walk: its name in the address, its title and description on the home page, and its stops."""

    name: str
    title: str
    description: str
    stops: tuple[WalkStop, ...]

    @property
    def minutes(self) -> float:
        """The planned length of all stops together, in minutes."""
        return sum(stop.minutes for stop in self.stops)

    @property
    def address(self) -> str:
        """The walk's address, relative to the app."""
        return f"?walk={self.name}"


def walks() -> list[Walk]:
    """Return all walks, sorted by name. Raises ValueError if one is malformed, or if two have the same name."""
    return [parse(name, path.read_text(encoding="utf-8")) for name, path in sorted(_files().items())]


def _files() -> dict[str, Path]:
    files: dict[str, Path] = {}
    for path in (path for folder in lesson_folders() for path in folder.glob("walks/*.md")):
        if path.stem in files:
            raise ValueError(f"{path}: there is a walk {path.stem} already. Rename the file.")
        files[path.stem] = path
    return files


@cache
def find(name: str) -> Walk | None:
    """Return the walk of this name, or None if there is none."""
    return next((walk for walk in walks() if walk.name == name), None)


def parse(name: str, text: str) -> Walk:
    """Return the walk that a text describes.

    Raises:
        ValueError: A heading is malformed, a page is not in the book, or there are no stops. The message names the file and line.
    """
    where, stops = f"walks/{name}.md", []
    for block in parse_blocks(text, kinds=("sections",)):
        stops += section_stops() if block.kind == "sections" else parse_stops(where, block.text)
    if not stops:
        raise ValueError(f"{where} has no stops: each begins with a line ## [Title](?page=NAME) 2 min")
    head = front_matter(text)
    return Walk(name, head.get("title", name), head.get("description", ""), tuple(stops))


def section_stops() -> list[WalkStop]:
    """Return the stops of all sections, in the order of the book. Raises ValueError."""
    stops = []
    for section in sections():
        file = lesson_folder(section.name) / "walk.md"
        if file.is_file():
            stops += parse_stops(f"{section.name}/walk.md", file.read_text(encoding="utf-8"), section.name)
    return stops


def parse_stops(where: str, text: str, page: str = "") -> list[WalkStop]:
    """Return the stops in a text. If `page` is given, all stops are on that page and links do not name one. Raises ValueError."""
    stops: list[WalkStop] = []
    for line in text.split("\n"):
        if line.startswith("## "):
            stops.append(_stop(where, line, page))
        elif stops:
            stops[-1] = replace(stops[-1], notes=f"{stops[-1].notes}\n{line}")
    return [replace(stop, notes=stop.notes.strip()) for stop in stops]


def _stop(where: str, line: str, page: str) -> WalkStop:
    match = _STOP.match(line.strip())
    if match is None:
        raise ValueError(f"{where}: “{line}” is not a stop, which looks like ## [Title](?page=NAME) 2 min")
    query = dict(parse_qsl(match["query"]))
    if page and "page" in query:
        raise ValueError(f"{where}: “{line}” names its page: leave page= out here")
    page, press, show = page or query.pop("page", ""), query.pop("press", "-1"), query.pop("show", "")
    if page not in BY_NAME:
        raise ValueError(f"{where}: “{line}” does not name a page of the book")
    if not press.removeprefix("-").isdecimal():
        raise ValueError(f"{where}: “{line}”: press must be a number, how often → is pressed")
    return WalkStop(match["title"], page, urlencode(query), int(press), show, float(match["minutes"]), "")
