"""What a document says of its page, from which the browser draws it without a session."""

import asyncio
import json
import re

import numpy as np
import pytest

from helpers.book import SHIPPED
from splatscope.web.component import plain
from splatscope.web.lesson_page import first_recording
from splatscope.web.serving.section_document import section_document


def opened(name, **query):
    """The recording that ships for a section, and the document with which its page opens."""

    async def open_both():
        document = await section_document({"page": name} | query)
        return await first_recording.prepare(name), document and document.body.decode()

    return asyncio.run(open_both())


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
def test_what_depends_on_the_visitor_comes_with_a_session(query):
    assert opened("bitonic-sort", **query)[1] is None


@pytest.mark.parametrize("name", ["home", "train", "", "../lessons"])
def test_only_sections_open_with_such_a_document(name):
    assert opened(name) == (None, None)


@pytest.mark.parametrize("value", [float("nan"), np.float32(1), np.arange(3), {1: "one"}, object()])
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises(TypeError, match="JSON cannot hold"):
        plain([value])


def test_what_json_holds_stays_as_bokeh_would_send_it():
    assert plain({"a": (1, 2.5, None), "b": [True, "text"], "c": b"bytes"}) == {"a": [1, 2.5, None], "b": [True, "text"], "c": None}
