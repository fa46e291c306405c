"""The page of words: each with one sentence and the section that shows it."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from .page import Page
from .pages import BY_NAME
from .prose import inline

if TYPE_CHECKING:
    from .shell import Shell

TERMS = Path(__file__).with_name("glossary.md")


def terms() -> list[tuple[str, str, str]]:
    """(term, one sentence, name of a page), in the order of the alphabet."""
    rows = [line.split(" | ") for line in TERMS.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [(term.strip("* "), sentence, page) for term, sentence, page in rows]


def glossary(shell: Shell) -> Page:
    """Builds the page."""
    rows = "".join(
        f'<div id="{_anchor(term)}"><dt>{escape(term)}</dt><dd>{inline(says)} {_place(page)}</dd></div>'
        for term, says, page in terms()
    )
    html = f"""<article class="lesson"><div class="prose"><h1>Glossary</h1>
      <p>The words of the field as they are used here, each with the section that shows it.</p></div>
      <dl class="glossary">{rows}</dl></article>"""
    return Page(page="glossary", html=html)


def _place(page: str) -> str:
    entry = BY_NAME[page]
    return f'<a href="{entry.address}">{escape(entry.title)}</a>' if entry.exists else ""


def _anchor(term: str) -> str:
    return "term-" + "".join(c if c.isalnum() else "-" for c in term.lower())
