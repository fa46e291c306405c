"""The terms of glossary.md, and links to them at their first mention in a section's prose."""

import re
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

from markdown_it.token import Token

TERMS = Path(__file__).with_name("glossary.md")
READING = Path(__file__).with_name("reading.md")  # works beside this book, a list in Markdown


@dataclass(frozen=True)
class Term:
    """A row of the glossary.

    `page` is the section that shows it. `linked` says where prose links to it: "everywhere", "here" (only on that page, for a word
    that means something else elsewhere) or "never".
    """

    name: str
    definition: str
    page: str
    linked: str = "everywhere"

    @property
    def anchor(self) -> str:
        """The id of the term on the glossary page."""
        return "term-" + "".join(c if c.isalnum() else "-" for c in self.name.lower())

    @property
    def form(self) -> str:
        """The name as used in a sentence, without the letter in parentheses."""
        return self.name.partition(" (")[0]


def rows(path: Path) -> list[list[str]]:
    """Return the rows of a file such as glossary.md, each split into its cells, the first of them without its asterisks."""
    lines = (line.split(" | ") for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    return [[name.strip("* "), *cells] for name, *cells in lines]


@cache
def terms() -> tuple[Term, ...]:
    """Return all rows of the glossary, in alphabetical order."""
    return tuple(Term(*row) for row in rows(TERMS))


class Links:
    """Links from one section's prose to the glossary, at the first mention of each term.

    Headings, code and links are unchanged.
    """

    def __init__(self, page: str):
        self.used: list[Term] = []
        self._left = {
            _key(term.form): term
            for term in terms()
            if term.linked == "everywhere" or (term.linked == "here" and term.page == page)
        }
        self._named = _pattern(tuple(self._left))

    def link(self, tokens: list[Token]) -> list[Token]:
        """Add links to the text of markdown-it's tokens."""
        heading = False
        for token in tokens:
            if token.type in ("heading_open", "heading_close"):
                heading = token.type == "heading_open"
            elif token.type == "inline" and not heading:
                token.children = self._inline(token.children or [])
        return tokens

    def definitions(self) -> str:
        """Return hidden HTML with the linked terms. Their definitions, without the term, describe the links to screen readers."""
        parts = "".join(
            f'<p><b>{escape(t.name)}</b> <span id="says-{t.anchor}">{_plain(t.definition)}</span></p>' for t in self.used
        )
        return f"<div hidden>{parts}</div>" if parts else ""

    def _inline(self, tokens: list[Token]) -> list[Token]:
        inside, linked = 0, []
        for token in tokens:
            inside += {"link_open": 1, "link_close": -1}.get(token.type, 0)
            linked += self._text(token) if token.type == "text" and not inside else [token]
        return linked

    def _text(self, token: Token) -> list[Token]:
        parts, end = [], 0
        for match in self._named.finditer(token.content):
            term = self._left.pop(_key(match["form"]), None)
            if term is None:
                continue
            self.used.append(term)
            word = (
                f'<a class="term" href="?page=glossary#{term.anchor}" aria-describedby="says-{term.anchor}">{escape(match[0])}</a>'
            )
            parts += [Token("text", "", 0, content=token.content[end : match.start()]), Token("html_inline", "", 0, content=word)]
            end = match.end()
        return [*parts, _words(token.content[end:])]


@cache
def _pattern(forms: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(forms, key=len, reverse=True)
    words = "|".join(re.escape(form).replace(r"\ ", "[ -]") for form in longest_first)  # also compare-and-swap
    return re.compile(rf"(?<![\w-])(?P<form>{words})(?:s|es)?(?![\w-])", re.IGNORECASE)


def _key(form: str) -> str:
    return form.casefold().replace("-", " ")


def _words(text: str) -> Token:
    return Token("text", "", 0, content=text)


def _plain(definition: str) -> str:
    return escape(definition.replace("`", "").replace("*", ""))
