"""What a page's components are described as comes to the browser unchanged, whichever carrier brings it."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import panel as pn
import pytest
from bokeh.core.serialization import Serializer
from bokeh.document import Document
from panel.io.state import set_curdoc

from helpers.declared import wrong
from splatscope.textbook.contents import lesson_names
from splatscope.web import publish
from splatscope.web.carriers.session import Session
from splatscope.web.lesson_page.lesson_page import LessonPage
from splatscope.web.publish.states import FILE, PublishedPage
from splatscope.web.runtime.component import Described, Typed, components, parameters_of, plain
from splatscope.web.runtime.tree import Tree, described
from splatscope.web.shell.location import Location
from splatscope.web.shell.page import Page
from splatscope.web.shell.pages import BY_NAME
from splatscope.web.widgets.frame import Frame

INDEX = Path(publish.__path__[0]) / "index.ts"
PUBLISHED = ("home", "claims", "glossary")  # pages of the book beside its sections


@pytest.fixture(autouse=True)
def unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what pages do once they have loaded."""
    monkeypatch.setattr(type(pn.state), "onload", lambda *_: None)


def page_of(name: str) -> Page:
    """Return a page as it is first built."""
    with set_curdoc(Document()):
        return LessonPage(name, {}).page if name in lesson_names() else BY_NAME[name].load()(Location(page=name))


def decoded(value: Any) -> Any:
    """Return what Bokeh's deserializer makes of a value in a browser, bytes as None."""
    match value:
        case {"type": "map"}:
            return {key: decoded(item) for key, item in value.get("entries", [])}
        case {"type": "bytes"}:
            return None
        case list():
            return [decoded(item) for item in value]
    return value


def by_session(page: Page) -> Described:
    """Return what a session sends of a page."""
    return decoded(Serializer().encode(Session(page).tree))


def by_stream(page: Page) -> Described:
    """Return what a stream sends of a page."""
    return json.loads(json.dumps(Tree(page, lambda *_: None).described()))


def by_file(page: Page) -> Described:
    """Return what the book writes of a page, with long values read from their files."""
    files: list[str] = []
    published = PublishedPage()
    published.add(described(page))
    written = json.loads(json.dumps(published.as_json(lambda value: str(files.append(json.dumps(value)) or len(files) - 1))))

    def read(value: Any) -> Any:
        match value:
            case dict() if FILE in value:
                return json.loads(files[int(value[FILE])])
            case dict():
                return {key: read(item) for key, item in value.items()}
            case list():
                return [read(item) for item in value]
        return value

    return read(written["view"])


@pytest.mark.parametrize("carried", [by_session, by_stream, by_file])
@pytest.mark.parametrize("name", BY_NAME)
def test_a_page_is_described_in_the_same_way_by_all_carriers(name, carried):
    page = page_of(name)
    assert carried(page) == described(page)
    page.close()


@pytest.mark.parametrize("name", [*lesson_names(), *PUBLISHED])
def test_the_published_book_has_a_module_for_each_component(name):
    listed = re.search(r"const MODULES[^{]*\{([^}]*)\}", INDEX.read_text(encoding="utf-8"))
    assert listed is not None
    page = page_of(name)
    assert {type(part).__name__ for part in components(page)} <= {*listed[1].replace(",", " ").split()}
    page.close()


@pytest.mark.parametrize("name", BY_NAME)
def test_the_values_of_a_page_have_the_types_that_the_browser_is_told(name):
    page = page_of(name)
    values = [(part.param[name], getattr(part, name)) for part in components(page) for name in parameters_of(type(part))[0]]
    typed = [(parameter, value) for parameter, value in values if isinstance(parameter, Typed) and value not in ({}, [])]
    assert [words for parameter, value in typed if (words := wrong(value, parameter.type, parameter.name or ""))] == []
    page.close()


def test_each_component_of_each_page_has_its_own_number():
    for name in BY_NAME:
        page = page_of(name)
        tree = Tree(page, lambda *_: None)
        assert [tree.number_of(part) for part in components(page)] == list(range(len(components(page))))
        page.close()


def test_what_changes_before_the_browser_has_drawn_is_sent_then_and_what_changes_together_is_sent_together(monkeypatch):
    async def sent() -> list[Any]:
        messages: list[Any] = []
        frame = Frame()
        page = Page(slots=[frame])
        session = Session(page)
        monkeypatch.setattr(session, "_send_msg", messages.append)
        frame.show(b"one", iteration=1)
        await asyncio.sleep(0)
        assert not messages
        session._handle_msg({"drawn": True})
        page.html, frame.alt = "<p>", "a picture"
        frame.send({"type": "hello"})
        await asyncio.sleep(0.01)
        session._handle_msg({"id": 1, "message": {"type": "drawn", "sequence": 1}})
        assert frame.idle
        return messages

    first, then = (message["changes"] for message in asyncio.run(sent()))
    assert [(change["id"], change["values"]["sequence"]) for change in first] == [(1, 1)]
    assert [list(plain({**change})) for change in then] == [["id", "values", "children"]] * 2 + [["id", "message"]]
    assert [change["id"] for change in then] == [0, 1, 1]


def test_a_component_that_replaces_another_has_a_number_of_its_own_and_the_old_one_is_heard_no_more():
    heard: list[tuple[int, list[str]]] = []
    old, new = Page(html="old"), Page(html="new")
    holder = Page(slots=[old])
    tree = Tree(holder, lambda number, names: heard.append((number, names)))
    holder.slots = [new]
    old.html, new.html = "older", "newer"
    assert heard == [(0, ["slots"]), (2, ["html"])]
    assert tree.part(1) is None
    assert tree.part(2) is new
