"""Walks through the book for a class: pages, steps and speaker notes in order, from lessons/walks/NAME.md.

A stop begins with a heading that is a link, `## [Title](?page=NAME&count=8&press=3&show=claim-order) 2 min`, and its notes follow.
`press` is how often → is pressed once the figure is recorded, which is the same moment on every device; `show` is what is brought
into view: `figure`, or a block by its kind and name. All else are inputs of the page.

A block `::: sections` stands for the stops of all sections, in the order of the book. A section has its own in walk.md beside its
text, where links name no page.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from urllib.parse import parse_qsl, urlencode

from splatscope.paths import LESSONS
from splatscope.textbook.contents import sections
from splatscope.textbook.front_matter import front_matter
from splatscope.textbook.markdown import parse as parse_blocks
from splatscope.web.shell.pages import BY_NAME

FOLDER = LESSONS / "walks"
_STOP = re.compile(r"^## +\[(?P<title>[^\]]+)\]\(\?(?P<query>[^)]*)\) +(?P<minutes>\d+(?:\.\d+)?) min$")


@dataclass(frozen=True)
class Stop:
    """Where a walk rests. `inputs` is a query string; `press` is -1 where the figure stays as it is; `notes` are Markdown."""

    title: str
    page: str
    inputs: str
    press: int
    show: str
    minutes: float
    notes: str


@dataclass(frozen=True)
class Walk:
    """A walk by its name in the address, with what the home page says of it."""

    name: str
    title: str
    description: str
    stops: tuple[Stop, ...]

    @property
    def minutes(self) -> float:
        """The minutes of all stops together."""
        return sum(stop.minutes for stop in self.stops)

    @property
    def address(self) -> str:
        """The walk's address, relative to the app's."""
        return f"?walk={self.name}"


def walks() -> list[Walk]:
    """Return all walks, sorted by name."""
    return [parse(path.stem, path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.md"))]


@cache
def find(name: str) -> Walk | None:
    """Return the walk of this name, None where there is none."""
    return next((walk for walk in walks() if walk.name == name), None)


def parse(name: str, text: str) -> Walk:
    """Return the walk that a text describes.

    Raises:
        ValueError: a heading is no stop, a page is not in the book, or there are no stops. Names the file and the line.
    """
    where, stops = f"walks/{name}.md", []
    for block in parse_blocks(text, kinds=("sections",)):
        stops += section_stops() if block.kind == "sections" else parse_stops(where, block.text)
    if not stops:
        raise ValueError(f"{where} has no stops: each begins with a line ## [Title](?page=NAME) 2 min")
    head = front_matter(text)
    return Walk(name, head.get("title", name), head.get("description", ""), tuple(stops))


def section_stops() -> list[Stop]:
    """Return the stops of all sections in the order of the book. Raises ValueError as `parse` does."""
    stops = []
    for section in sections():
        file = LESSONS / section.name / "walk.md"
        if file.is_file():
            stops += parse_stops(f"{section.name}/walk.md", file.read_text(encoding="utf-8"), section.name)
    return stops


def parse_stops(where: str, text: str, page: str = "") -> list[Stop]:
    """Return the stops of a text; what stands before the first is left out. With `page`, links name no page: all stop there."""
    stops: list[Stop] = []
    for line in text.split("\n"):
        if line.startswith("## "):
            stops.append(_stop(where, line, page))
        elif stops:
            stops[-1] = replace(stops[-1], notes=f"{stops[-1].notes}\n{line}")
    return [replace(stop, notes=stop.notes.strip()) for stop in stops]


def _stop(where: str, line: str, page: str) -> Stop:
    found = _STOP.match(line.strip())
    if found is None:
        raise ValueError(f"{where}: “{line}” is no stop, which looks like ## [Title](?page=NAME) 2 min")
    query = dict(parse_qsl(found["query"]))
    if page and "page" in query:
        raise ValueError(f"{where}: “{line}” names its page, which it is anyway: leave page= out")
    page, press, show = page or query.pop("page", ""), query.pop("press", "-1"), query.pop("show", "")
    if page not in BY_NAME:
        raise ValueError(f"{where}: “{line}” names no page of the book")
    if not press.removeprefix("-").isdecimal():
        raise ValueError(f"{where}: “{line}”: press is how often → is pressed")
    return Stop(found["title"], page, urlencode(query), int(press), show, float(found["minutes"]), "")
