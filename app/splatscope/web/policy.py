"""What a browser may do with an answer of the server: content security policies.

A document runs the scripts next to it, and the inline scripts of its template, which are the same on all pages and allowed by
their hashes. Markup that gets into a document from anywhere else runs nothing.
"""

import base64
import hashlib
import os
import re
from functools import cache

from splatscope.web.templates import source_of

FRAMES = "SPLATSCOPE_FRAMES"  # an environment variable: sites that may show the app in a frame, separated by spaces, or `*`
_SITE = re.compile(r"\*|https?://[\w.*-]+(:\d+)?")
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def policy(**sources: str) -> str:
    """Return a content security policy that forbids everything but these sources: `policy(img_src="data:")`."""
    allowed = {"default_src": "'none'", "base_uri": "'none'", "form_action": "'none'"} | sources
    return "; ".join(f"{name.replace('_', '-')} {value}" for name, value in allowed.items())


def hash_of(script: str) -> str:
    """Return the source that allows an inline script of exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@cache
def template_scripts() -> str:
    """Return the sources that allow the inline scripts of a document.

    They are read from the templates, never from a document, in which there might be scripts of somebody else.
    """
    return " ".join(hash_of(script) for name in ("shell.html", "connect.html") for script in _INLINE.findall(source_of(name)))


def frames() -> str:
    """Return the sites that may show the app in a frame: this one, and those that the operator names.

    Raises:
        ValueError: One of them is not the address of a site.
    """
    sites = os.environ.get(FRAMES, "").split()
    if invalid := [site for site in sites if not _SITE.fullmatch(site)]:
        raise ValueError(f"{FRAMES} names sites like https://example.org, separated by spaces, or *. This is none: {invalid[0]}")
    return " ".join(["'self'", *sites])


@cache
def document_policy() -> str:
    """Return the policy of the server's documents. Raises ValueError as `frames` does."""
    return policy(
        script_src=f"'self' {template_scripts()}",
        style_src="'self' 'unsafe-inline'",  # drawings and components have style attributes, and Bokeh adds style sheets
        img_src="'self' data: blob:",
        font_src="'self' data:",
        connect_src="'self'",
        frame_ancestors=frames(),
    )


@cache
def answer_policy(document: bool) -> str:
    """Return the policy of an answer that has none of its own. Raises ValueError as `frames` does.

    It loads and runs nothing, unless it is a document: then it is one of Panel's, such as a login page.
    """
    return f"frame-ancestors {frames()}" if document else policy(frame_ancestors=frames())
