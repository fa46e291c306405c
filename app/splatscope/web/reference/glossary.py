"""The glossary: each term with one sentence and the section that shows it, and further reading."""

from html import escape
from itertools import groupby

from splatscope.textbook.markdown import html_of, inline
from splatscope.textbook.terms import READING, Term, terms
from splatscope.web.runtime.component import Component
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import Page
from splatscope.web.shell.pages import BY_NAME


class GlossarySearch(Component):
    """A search field that hides all terms but those that contain its words."""


def glossary(location: Location) -> Page:
    """Build the page."""
    letters = [(letter, list(group)) for letter, group in groupby(terms(), key=_letter)]
    index = "".join(f'<a href="#letter-{letter}">{letter}</a>' for letter, _ in letters)
    html = f"""<article class="lesson"><div class="prose"><h1>Glossary</h1>
      <p>The terms of the field as used here, each with the section that shows it. Further reading is at the end.</p></div>
      <div data-slot="search"></div>
      <nav class="letters" aria-label="Letters">{index}</nav>
      <div class="glossary">{"".join(_group(letter, group) for letter, group in letters)}</div>
      <section class="prose reading" aria-labelledby="further-reading"><h2 id="further-reading">Further reading</h2>
        {html_of(READING.read_text(encoding="utf-8"))}</section></article>"""
    return Page(page="glossary", html=html, slots={"search": GlossarySearch()})


def _letter(term: Term) -> str:
    """Return the letter under which a term is listed. Signs and Greek letters are listed together."""
    first = term.name[0].upper()
    return first if "A" <= first <= "Z" else "#"


def _group(letter: str, group: list[Term]) -> str:
    rows = "".join(
        f'<div id="{term.anchor}"><dt>{escape(term.name)}</dt><dd>{inline(term.definition)} {_place(term.page)}</dd></div>'
        for term in group
    )
    return f'<section><h2 id="letter-{letter}">{letter}</h2><dl>{rows}</dl></section>'


def _place(page: str) -> str:
    entry = BY_NAME[page]
    return f'<a href="{entry.address}">{escape(entry.title)}</a>'
