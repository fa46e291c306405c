"""The glossary: each term with one sentence and the section that shows it."""

from html import escape

from splatscope.textbook.markdown import inline
from splatscope.textbook.terms import terms
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import Page
from splatscope.web.shell.pages import BY_NAME


def glossary(location: Location) -> Page:
    """Build the page."""
    rows = "".join(
        f'<div id="{term.anchor}"><dt>{escape(term.name)}</dt><dd>{inline(term.definition)} {_place(term.page)}</dd></div>'
        for term in terms()
    )
    html = f"""<article class="lesson"><div class="prose"><h1>Glossary</h1>
      <p>The words of the field as they are used here, each with the section that shows it.</p></div>
      <dl class="glossary">{rows}</dl></article>"""
    return Page(page="glossary", html=html)


def _place(page: str) -> str:
    entry = BY_NAME[page]
    return f'<a href="{entry.address}">{escape(entry.title)}</a>'
