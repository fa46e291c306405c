"""What the search finds: every heading, paragraph, line of code, claim, term, exercise and page of the book, each with its place.

It is read from the pages themselves, as they are shown.
"""

from collections.abc import Collection, Iterator
from html.parser import HTMLParser
from typing import Literal, NamedTuple
from urllib.parse import urlencode

from splatscope.exercises.task import tasks
from splatscope.textbook.markdown import html_of, inline
from splatscope.textbook.terms import terms
from splatscope.web.lesson_page.lesson_page import lesson_page
from splatscope.web.runtime.tree import described
from splatscope.web.shell.pages import PAGES, Entry
from splatscope.web.shell.reading import reading

Kind = Literal["section", "tool", "heading", "text", "term", "code", "claim", "exercise"]

LEAST_CODE = 3  # characters of a line of code that is worth finding: no line of a brace alone
LEAST_TEXT = 3  # words of a text: not the name of a file


class SearchEntry(NamedTuple):
    """Something that can be found.

    Attributes:
        page: The name of its page.
        title: What is shown first: the name of a page, term or exercise; for a text, the heading above it; else "".
        words: The text itself; for a page, its description.
        place: What follows the page in its address, `&task=NAME` or `#term-NAME`; "" for a text, which is found by its words.
    """

    kind: Kind
    page: str
    title: str
    words: str
    place: str


def search_index(pages: Collection[str]) -> list[SearchEntry]:
    """Return all that these pages have, in the order of the book."""
    return [entry for page in PAGES if page.name in pages for entry in entries_of(page)]


def entries_of(page: Entry) -> Iterator[SearchEntry]:
    """Yield what one page has, beginning with the page itself."""
    yield SearchEntry("section" if page.is_section else "tool", page.name, page.title, page.description, "")
    if page.is_section:
        yield from _section(page.name)
    elif page.name == "glossary":
        for term in terms():
            yield SearchEntry("term", page.name, term.name, _text_in(inline(term.definition)), f"#{term.anchor}")
    elif page.name == "exercises":
        for task in tasks():
            words, place = _text_in(html_of(task.words)), f"&{urlencode({'task': task.name})}"
            yield SearchEntry("exercise", page.name, task.title, words, place)


def _section(name: str) -> Iterator[SearchEntry]:
    page = lesson_page(name, {}).page
    heading, known = "", set()
    for kind, words in _Blocks.of(reading(described(page))):
        if kind == "title":  # the page itself has it
            continue
        if kind == "heading":
            heading = words
        if (kind, words) not in known:
            known.add((kind, words))
            yield SearchEntry(kind, name, "" if kind == "heading" else heading, words, "")


def _text_in(html: str) -> str:
    return " ".join(words for _, words in _Blocks.of(f"<p>{html}</p>"))


_Block = Kind | Literal["title"]
_BLOCKS: dict[str, _Block] = {"h1": "title", "h2": "heading", "h3": "heading", "summary": "heading", "pre": "code"}
_BLOCKS |= {"p": "text", "li": "text", "figcaption": "text", "aside": "text", "dd": "text", "td": "text", "div": "text"}
_LEFT_OUT = {"svg", "nav", "style", "footer", "section", "names", "keys"}  # elements and classes; a section's links to exercises
_VOID = ("br", "hr", "img", "input", "wbr", "use")


class _Blocks(HTMLParser):
    """Reads the blocks of text in HTML, in order, as (kind, text). A block inside another is a block of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[tuple[_Block, str]] = []
        self._open: list[str] = []  # elements
        self._kinds: list[tuple[int, _Block]] = [(0, "text")]  # the blocks around this place: depth and kind
        self._words: list[str] = []
        self._left_out = 0  # depth of the element that is left out, 0 for none

    @classmethod
    def of(cls, html: str) -> list[tuple[_Block, str]]:
        """Return the blocks of some HTML."""
        parser = cls()
        parser.feed(html)
        parser.close()
        parser._end_block()
        return parser.blocks

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a block, or leave out what nobody reads as text."""
        if tag in _VOID:
            self._words.append(" ")
            return
        self._open.append(tag)
        attributes = dict(attrs)
        classes = (attributes.get("class") or "").split()
        if not self._left_out and ("hidden" in attributes or _LEFT_OUT & {tag, *classes}):
            self._left_out = len(self._open)
        if tag in _BLOCKS or "claimed" in classes:
            self._end_block()
            inside_claim = self._kinds[-1][1] == "claim"
            kind = "claim" if inside_claim or "claimed" in classes else _BLOCKS[tag]
            self._kinds.append((len(self._open), kind))

    def handle_endtag(self, tag: str) -> None:
        """End a block."""
        if tag in _VOID or tag not in self._open:
            return
        while self._open:
            depth, last = len(self._open), self._open.pop()
            if self._kinds[-1][0] == depth:
                self._end_block()
                self._kinds.pop()
            if self._left_out == depth:
                self._left_out = 0
            if last == tag:
                return

    def handle_data(self, data: str) -> None:
        """Add to the block."""
        if not self._left_out:
            self._words.append(data)

    def _end_block(self) -> None:
        text, kind = "".join(self._words), self._kinds[-1][1]
        self._words.clear()
        for line in text.splitlines() if kind == "code" else [text]:
            words = " ".join(line.replace("\u2060", "").split())
            least, length = (
                (LEAST_CODE, len(words)) if kind == "code" else (LEAST_TEXT if kind == "text" else 1, len(words.split()))
            )
            if length >= least:
                self.blocks.append((kind, words))
