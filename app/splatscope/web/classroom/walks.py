"""Walks through the book for a class: pages, steps and speaker notes in order, from lessons/walks/NAME.md.

A stop begins with a heading that is a link, `## [Title](?page=NAME&count=8&press=3&show=claim-order) 2 min`, and its notes follow.
`press` is how often → is pressed once the figure is recorded, which is the same moment on every device; `show` is what is brought
into view: `figure`, or a block by its kind and name. All else are inputs of the page.
"""

import re
from dataclasses import dataclass
from functools import cache
from urllib.parse import parse_qsl, urlencode

from splatscope.paths import LESSONS
from splatscope.textbook.front_matter import front, without_front
from splatscope.web.shell.pages import BY_NAME

FOLDER = LESSONS / "walks"
_STOP = re.compile(r"^## +\[(?P<title>[^\]]+)\]\(\?(?P<query>[^)]*)\) +(?P<minutes>\d+(?:\.\d+)?) min$")


@dataclass(frozen=True)
class Stop:
    """Where a walk rests: `inputs` is a query string; `press` is -1 where the figure stays as it is; `notes` are Markdown."""

    title: str
    page: str
    inputs: str
    press: int
    show: str
    minutes: float
    notes: str


@dataclass(frozen=True)
class Walk:
    name: str
    title: str
    says: str
    stops: tuple[Stop, ...]

    @property
    def minutes(self) -> float:
        return sum(stop.minutes for stop in self.stops)

    @property
    def address(self) -> str:
        return f"?walk={self.name}"


def walks() -> list[Walk]:
    """All there are, by name."""
    return [parse(path.stem, path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.md"))]


@cache
def find(name: str) -> Walk | None:
    """The walk of this name, None where there is none."""
    return next((walk for walk in walks() if walk.name == name), None)


def parse(name: str, text: str) -> Walk:
    """Raises ValueError, with the line, for a heading that is no stop, a page that is not in the book or a walk without stops."""
    says, stops, notes = front(text), [], []
    for line in without_front(text).split("\n"):
        if not line.startswith("## "):
            if stops:
                notes.append(line)
            continue
        _end(stops, notes)
        stops.append(_stop(name, line))
    _end(stops, notes)
    if not stops:
        raise ValueError(f"walks/{name}.md has no stops: each begins with a line ## [Title](?page=NAME) 2 min")
    return Walk(name, says.get("title", name), says.get("says", ""), tuple(stops))


def _stop(name: str, line: str) -> Stop:
    found = _STOP.match(line.strip())
    if found is None:
        raise ValueError(f"walks/{name}.md: “{line}” is no stop, which looks like ## [Title](?page=NAME) 2 min")
    query = dict(parse_qsl(found["query"]))
    page, press, show = query.pop("page", ""), query.pop("press", "-1"), query.pop("show", "")
    if page not in BY_NAME:
        raise ValueError(f"walks/{name}.md: “{line}” names no page of the book")
    if not press.removeprefix("-").isdecimal():
        raise ValueError(f"walks/{name}.md: “{line}”: press is how often → is pressed")
    return Stop(found["title"], page, urlencode(query), int(press), show, float(found["minutes"]), "")


def _end(stops: list[Stop], notes: list[str]) -> None:
    """Gives the last stop the lines read since."""
    if stops:
        stops[-1] = Stop(**vars(stops[-1]) | {"notes": "\n".join(notes).strip()})
    notes.clear()
