"""Whether an answer contains what a request put into it, where a browser would take it for markup, script or a header."""

import json
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from typing import Any

from splatscope.web.runtime.component import Component

from .request_cases import MARK
from .wire_client import Answer


def injected(answer: Answer) -> str:
    """Return which part of an answer a request has written; "" for none."""
    if name := next((name for name in answer.headers if MARK in name.lower()), ""):
        return f"the header {name} is the request's"
    if MARK.encode() not in answer.body:
        return "" if MARK.upper().encode() not in answer.body else "a template was evaluated"
    text, kind = answer.body.decode(errors="replace"), answer.headers.get("content-type", "")
    if "html" in kind:
        return _in_html(text)
    if "json" in kind:
        return next(filter(None, (_in_html(html) for line in text.splitlines() for html in _shown(_json(line)))), "")
    if "javascript" in kind:
        return _in_script(text)
    return ""


def _json(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:  # a stream that was left
        return None


@cache
def html_names() -> set[str]:
    """Return the names of the parameters that a browser shows as HTML."""
    classes = [Component, *_subclasses(Component)]
    documented = {name for part in classes for name in part.param if "HTML" in (part.param[name].doc or "")}
    return {"html", "caption", "question", "claim", "source", "sentences", "preload"} | documented


def _subclasses(base: type) -> Iterator[type[Component]]:
    for part in base.__subclasses__():
        yield part
        yield from _subclasses(part)


def _shown(value: Any, name: str = "") -> Iterator[str]:
    """Yield all texts that are shown as HTML."""
    if isinstance(value, str) and name in html_names():
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _shown(part, key)
    elif isinstance(value, list):
        for part in value:
            yield from _shown(part, name)


class _Reader(HTMLParser):
    """Looks for the mark in the names of tags and attributes, in addresses, and in scripts outside of their strings."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong = ""
        self._in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_script = tag == "script"
        if MARK in tag:
            self.wrong = f"the tag <{tag}>"
        for name, value in attrs:
            if MARK in name or (name in ("href", "src", "action") and re.match(rf"\s*javascript:.*{MARK}", value or "")):
                self.wrong = f"the attribute {name} of <{tag}>"

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script and (wrong := _in_script(data)):
            self.wrong = wrong


def _in_html(text: str) -> str:
    if MARK not in text:
        return ""
    reader = _Reader()
    reader.feed(text)
    return f"{reader.wrong} is the request's" if reader.wrong else ""


def _in_script(text: str) -> str:
    """Return whether the mark is outside of a script's strings, or ends the script."""
    outside = re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', '""', text)
    if MARK in outside or re.search(rf"</script[^>]*>[^<]*<{MARK}", text):
        return "a script outside of its strings"
    return ""
