"""A published page: its states are what differs from the first, and each value is written once."""

import base64
import hashlib
import html
import json
import re

import pytest

from splatscope.web.publish import book
from splatscope.web.publish.states import PublishedPage
from splatscope.web.runtime.component import flat
from splatscope.web.shell.pages import BY_NAME


def view(steps, words="Begin", **values):
    """A page that holds a stepper, as components describe themselves."""
    stepper = {"class": "Stepper", "values": {"stops": steps, "busy": f"{len(steps)}", **values}, "children": {}}
    return {"class": "Page", "values": {"html": words}, "children": {"slots": [stepper], "actions": []}}


def test_a_state_holds_what_differs_from_the_first_and_nothing_that_only_a_session_has():
    page = PublishedPage(defaults={"count": 2})
    page.add(view([1, 2]))
    page.add(view([1, 2, 3]), "count=3", {"count": 3})
    page.add(view([1, 2, 3], "End"), "count=4", {"count": 4})
    assert [state["patch"] for state in page.states] == [{}, {"1": {"stops": 0}}, {"0": {"html": 1}, "1": {"stops": 0}}]
    assert page.values == [[1, 2, 3], "End"]
    assert page.as_json(str)["view"] == view([1, 2])


def test_long_values_are_written_to_files_of_their_own():
    page, files = PublishedPage(), []
    page.add(view([1]))
    page.add(view(list(range(1000))), "count=3", {"count": 3})
    page.add(view([2]), "count=4", {"count": 4})
    written = page.as_json(lambda value: files.append(value) or "values/1")
    assert written["values"] == [{"$file": "values/1"}, [2]]
    assert files == [list(range(1000))]


def test_truth_and_one_are_different_values():
    page = PublishedPage()
    for value in ("", 1, True):
        page.add(view([], value=value))
    assert [page.values[state["patch"]["1"]["value"]] for state in page.states[1:]] == [1, True]
    assert page.values[1] is True


def test_a_page_keeps_its_components():
    page = PublishedPage()
    page.add(view([1]))
    with pytest.raises(ValueError, match="components"):
        page.add(view([1])["children"]["slots"][0])


def test_components_are_numbered_from_the_outside_in():
    assert [one["class"] for one in flat(view([]))] == ["Page", "Stepper"]


@pytest.mark.parametrize(("name", "options"), [("home", {}), ("undo", {"alone": True, "base": "../"})])
def test_a_document_allows_its_own_inline_scripts_and_no_others(tmp_path, name, options):
    text = book._document(book.Book(tmp_path, ["home", "undo", "glossary"]), BY_NAME[name], **options)
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1])
    allowed = re.search(r"script-src ([^;]+)", policy)[1].split()
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert scripts
    for script in scripts:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in allowed
    assert not [source for source in allowed if source.startswith("'unsafe")]
    assert "frame-ancestors" not in policy  # a browser complains of it in a document
    entries = json.loads(re.search(r'id="entries">([^<]+)<', text)[1])
    assert [entry["name"] for entry in entries] == ["home", "undo", "glossary"]
    assert f'<script src="{options.get("base", "")}style.js"></script>' in text
