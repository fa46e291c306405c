"""What a document says of its page, from which the browser draws it without a session."""

import asyncio
import json
import re

import numpy as np
import panel as pn
import pytest

from helpers.book import SHIPPED
from splatscope.web.lesson_page import first_recording
from splatscope.web.runtime.component import plain
from splatscope.web.serving.page_document import page_document
from splatscope.web.shell.page import Page
from splatscope.web.shell.pages import BY_NAME, Entry


def opened(name, **query):
    """The recording that ships for a section, and the document with which its page opens."""

    async def open_both():
        document = await page_document({"page": name} | query)
        return await first_recording.prepare(name), document and document.body.decode()

    return asyncio.run(open_both())


def document_of(name, **query):
    """The document of a page, None if it comes with a session."""
    document = asyncio.run(page_document({"page": name} | query))
    return document and document.body.decode()


def said(document):
    """What a document says of its page."""
    return json.loads(re.search(r'<script type="application/json" id="first-view">([^<]+)</script>', document)[1])


@pytest.mark.parametrize("name", [name for name, shipped in SHIPPED if shipped == "software"])
def test_every_section_that_ships_a_recording_opens_with_a_document_that_holds_its_figure(name):
    recording, document = opened(name, step="3")
    view = said(document)["view"]
    assert view["class"] == "Page"
    stepper = next(child for child in view["children"]["slots"] if child["class"] == "Stepper")
    address = first_recording.address(name, recording)
    assert stepper["values"]["file"] == view["values"]["preload"] == address
    assert f'href="{address}"' in document
    assert stepper["values"]["meta"]["recording"] == recording.packed.meta["recording"]
    assert stepper["values"]["stops"] == recording.stops
    assert stepper["values"]["recording"] is None


@pytest.mark.parametrize("query", [{"seed": "3"}, {"recorded": "1"}])
def test_with_inputs_in_its_address_a_section_opens_with_its_words_alone(query):
    _, document = opened("bitonic-sort", **query)
    assert said(document).keys() == {"entries"}
    assert "<h1>Bitonic sort</h1>" in document


@pytest.mark.parametrize("query", [{"walk": "lecture"}, {"session": "1"}])
@pytest.mark.parametrize("name", ["bitonic-sort", "train"])
def test_what_depends_on_the_visitor_comes_with_a_session(name, query):
    assert document_of(name, **query) is None


@pytest.mark.parametrize("name", [name for name, entry in BY_NAME.items() if not entry.is_section])
def test_the_home_page_and_the_tools_open_with_their_words_and_ask_for_a_session_themselves(name):
    document = document_of(name)
    assert said(document).keys() == {"entries"}
    words = document.partition('<div id="first" class="page">')[2].partition("</main>")[0]
    assert len(words) > 200
    assert "data-page=" not in words, "no page is drawn yet"
    assert '"token"' not in document


@pytest.mark.parametrize("name", ["no-such-page", "../lessons", "bokeh-session-id"])
def test_the_message_about_an_unknown_page_comes_with_a_session(name):
    assert document_of(name) is None


def test_the_app_without_a_page_is_the_home_page():
    assert document_of("") == document_of("home")


@pytest.mark.parametrize("value", [float("nan"), np.float32(1), np.arange(3), {1: "one"}, object()])
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises(TypeError, match="JSON cannot hold"):
        plain([value])


def test_what_json_holds_stays_as_bokeh_would_send_it():
    assert plain({"a": (1, 2.5, None), "b": [True, "text"], "c": b"bytes"}) == {"a": [1, 2.5, None], "b": [True, "text"], "c": None}


def test_a_page_begins_no_work_for_its_document(monkeypatch):
    begun = []

    def build(location):
        pn.state.onload(lambda: begun.append(location.page))
        return Page(page=location.page, html="<p>Idle words</p>")

    monkeypatch.setitem(BY_NAME, "idle", Entry("idle", "Idle", "Tools", "A page with work to do", ""))
    monkeypatch.setattr(Entry, "load", lambda entry: build)
    assert "Idle words" in document_of("idle")
    assert begun == []
