"""The words of the field: read from glossary.md, and linked where a section's prose first names them."""

import re
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

from markdown_it.token import Token

TERMS = Path(__file__).with_name("glossary.md")


@dataclass(frozen=True)
class Term:
    """One row of the glossary. `page` shows it; `linked` says where prose leads here: "everywhere", "here" (on that page
    alone, for a word that means something else elsewhere) or "never".
    """

    name: str
    says: str
    page: str
    linked: str = "everywhere"

    @property
    def anchor(self) -> str:
        return "term-" + "".join(c if c.isalnum() else "-" for c in self.name.lower())

    @property
    def form(self) -> str:
        """As a sentence has it: without the letter in brackets."""
        return self.name.partition(" (")[0]


@cache
def terms() -> tuple[Term, ...]:
    """All rows, in the order of the alphabet."""
    rows = [line.split(" | ") for line in TERMS.read_text(encoding="utf-8").splitlines() if line.strip()]
    return tuple(Term(name.strip("* "), says, page, *linked) for name, says, page, *linked in rows)


class Links:
    """Of one section's prose: the first time it names a term, that word becomes a link to the glossary.

    Not in headings, code and links, which keep their own meaning.
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
        """The same tokens of markdown-it, with links in their text."""
        heading = False
        for token in tokens:
            if token.type in ("heading_open", "heading_close"):
                heading = token.type == "heading_open"
            elif token.type == "inline" and not heading:
                token.children = self._inline(token.children or [])
        return tokens

    def says(self) -> str:
        """What the links describe themselves by: the definitions of the terms used, hidden."""
        parts = "".join(f'<span id="says-{t.anchor}"><b>{escape(t.name)}</b> {_plain(t.says)}</span>' for t in self.used)
        return f"<div hidden>{parts}</div>" if parts else ""

    def _inline(self, tokens: list[Token]) -> list[Token]:
        inside, linked = 0, []
        for token in tokens:
            inside += {"link_open": 1, "link_close": -1}.get(token.type, 0)
            linked += self._text(token) if token.type == "text" and not inside else [token]
        return linked

    def _text(self, token: Token) -> list[Token]:
        parts, done = [], 0
        for found in self._named.finditer(token.content):
            term = self._left.pop(_key(found["form"]), None)
            if term is None:
                continue
            self.used.append(term)
            word = (
                f'<a class="term" href="?page=glossary#{term.anchor}" aria-describedby="says-{term.anchor}">{escape(found[0])}</a>'
            )
            parts += [Token("text", "", 0, content=token.content[done : found.start()]), Token("html_inline", "", 0, content=word)]
            done = found.end()
        return [*parts, _words(token.content[done:])]


@cache
def _pattern(forms: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(forms, key=len, reverse=True)
    words = "|".join(re.escape(form).replace(r"\ ", "[ -]") for form in longest_first)  # also compare-and-swap
    return re.compile(rf"(?<![\w-])(?P<form>{words})(?:s|es)?(?![\w-])", re.IGNORECASE)


def _key(form: str) -> str:
    return form.casefold().replace("-", " ")


def _words(text: str) -> Token:
    return Token("text", "", 0, content=text)


def _plain(says: str) -> str:
    return escape(says.replace("`", "").replace("*", ""))
