"""The addresses of the book's pages: each is a document of its own, `NAME.html`, with its inputs and step in the query."""

import re

_LINK = re.compile(r"""(?P<before>\A|\bhref=")\?page=(?P<page>[\w-]+)(?:&(?:amp;)?(?P<query>[^"#]+))?""")


def document_of(page: str) -> str:
    """Return the file of a page."""
    return "index.html" if page == "home" else f"{page}.html"


def in_book(text: str) -> str:
    """Return an address or HTML of the app with the book's addresses: `?page=cas&step=3` becomes `cas.html?step=3`."""

    def address(link: re.Match[str]) -> str:
        return f"{link['before']}{document_of(link['page'])}{'?' + link['query'] if link['query'] else ''}"

    return _LINK.sub(address, text)
