"""The inputs that the book's own links and walks use, which are recorded too."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

from splatscope.textbook.contents import find_lesson, lesson_names, text_of
from splatscope.web.classroom.walks import walks
from splatscope.web.lesson_page.lesson_form import address_of, set_from_address

_LINK = re.compile(r"\]\(\?page=(?P<page>[\w-]+)&(?P<inputs>[^)\s]+)\)")


def linked_inputs(name: str) -> list[dict[str, Any]]:
    """Return the inputs of a section in links and walk stops, each as the parameters that differ from their defaults."""
    distinct = []
    for address in _addresses(name):
        lesson = find_lesson(name)()
        defaults = {key: value for key, value in lesson.param.values().items() if key != "name"}
        set_from_address(lesson, dict(parse_qsl(address)))
        inputs = {key: value for key, value in lesson.param.values().items() if key in defaults and value != defaults[key]}
        if address_of(lesson) and inputs not in distinct:
            distinct.append(inputs)
    return distinct


def _addresses(name: str) -> Iterator[str]:
    for section in lesson_names():
        yield from (link["inputs"] for link in _LINK.finditer(text_of(section)) if link["page"] == name)
    yield from (stop.inputs for walk in walks() for stop in walk.stops if stop.page == name and stop.inputs)
