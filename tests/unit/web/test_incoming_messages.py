"""Of what a browser sends, messages to components are admitted; all else is refused before anything unpacks it."""

import base64
import gzip
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splatscope.web.serving.incoming_messages import MOST_BYTES, MOST_VALUES, RefusedError, admit

COMPONENT = {"id": "p1017"}


def message(data: Any, model: Any = COMPONENT) -> dict[str, Any]:
    values = {"type": "map", "entries": [["model", model], ["data", data]]}
    return {
        "kind": "MessageSent",
        "msg_type": "bokeh_event",
        "msg_data": {"type": "event", "name": "data_event", "values": values},
    }


def packed(data: bytes) -> dict[str, str]:
    return {"type": "bytes", "data": base64.b64encode(gzip.compress(data)).decode()}


def entries(**values: Any) -> dict[str, Any]:
    return {"type": "map", "entries": [[name, value] for name, value in values.items()]}


@pytest.mark.parametrize(
    "event",
    [
        message(entries(type="go", page="home", step=3625, inputs={"type": "map"}, followed=False)),
        message(entries(type="set", value={"type": "number", "value": "nan"}, list=[1, [2.5, None, "x"]])),
        message(entries(offset=0, total=2**20, data=packed(bytes(2**20)))),
        message(entries(offset=0, total=2**20, data={"type": "bytes", "data": {"id": "0"}})),
        {
            "kind": "MessageSent",
            "msg_type": "bokeh_event",
            "msg_data": {"type": "event", "name": "document_ready", "values": {"type": "map"}},
        },
    ],
)
def test_what_pages_send_is_admitted_as_it_is(event):
    assert admit("PATCH-DOC", {"events": [event]}) == {"events": [event]}


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "ModelChanged", "model": {"id": "p1003"}, "attr": "role", "new": "present"},
        {"kind": "ModelChanged", "model": {"id": "p1084"}, "attr": "timezone", "new": "UTC"},
        {"kind": "RootAdded", "model": {"type": "object", "name": "Plot", "id": "x"}},
        {"kind": "ColumnDataChanged"},
        {
            "kind": "MessageSent",
            "msg_type": "bokeh_event",
            "msg_data": {"type": "event", "name": "button_click", "values": {"type": "map"}},
        },
        "text",
    ],
)
def test_a_property_that_a_browser_changes_is_left_out(event):
    rest = message(entries(type="go"))
    assert admit("PATCH-DOC", {"events": [event, rest]}) == {"events": [rest]}


def within_each_other(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "event",
    [
        message(entries(data=packed(bytes(MOST_BYTES + 1)))),
        message(entries(data=[packed(bytes(MOST_BYTES // 2 + 1))] * 2)),
        message(entries(data={"type": "bytes", "data": "no base64"})),
        message(entries(data={"type": "bytes", "data": base64.b64encode(b"no gzip").decode()})),
        message(entries(data={"type": "bytes", "data": {"id": 5}})),
        message(entries(data=[0] * (MOST_VALUES + 1))),
        message(entries(data=within_each_other(100))),
        message(entries(data={"type": "object", "name": "Figure"})),
        message(entries(data={"type": "object", "id": "p1"})),
        message(entries(data={"type": "ndarray", "array": packed(b""), "shape": [2**40], "dtype": "float64", "order": "little"})),
        message(entries(data={"type": "range", "start": 0})),
        message(entries(data={"type": "number", "value": "1" * 10})),
        message(entries(data={"id": "p1003"})),
        message({"type": "map", "entries": [[["a"], 1]]}),
        message({"type": "map", "entries": [["a"]]}),
        message({"type": "map", "entries": 5}),
        message([["type", "go"]]),
        message("go"),
        message(1, model={"type": "object", "name": "Plot", "id": "x"}),
        message(1, model=None),
        {"kind": "MessageSent", "msg_type": "other", "msg_data": {}},
        {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": ["event"]},
    ],
)
def test_what_no_page_sends_is_refused_in_one_line(event):
    with pytest.raises(RefusedError) as refused:
        admit("PATCH-DOC", {"events": [event]})
    assert "\n" not in str(refused.value)


def test_a_message_of_another_kind_is_refused():
    for kind in ("PUSH-DOC", "OK", "", "x" * 10_000):
        with pytest.raises(RefusedError):
            admit(kind, {"doc": {}})


def test_what_unpacks_to_gigabytes_is_not_held():
    bomb = base64.b64encode(gzip.compress(bytes(2**27))).decode()
    tracemalloc.start()
    try:
        with pytest.raises(RefusedError, match="bytes"):
            admit("PATCH-DOC", {"events": [message(entries(data={"type": "bytes", "data": bomb}))]})
        assert tracemalloc.get_traced_memory()[1] < 4 * MOST_BYTES
    finally:
        tracemalloc.stop()


NAMES = st.sampled_from(["type", "id", "entries", "data", "value", "events", "kind"]) | st.text()
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(NAMES, inner, max_size=4)
        | st.lists(st.tuples(st.text(), inner).map(list), max_size=3).map(lambda pairs: {"type": "map", "entries": pairs})
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(VALUES, st.sampled_from(["PATCH-DOC", "PULL-DOC-REQ", "PUSH-DOC", "ERROR"]))
def test_any_content_is_admitted_or_refused(content, kind):
    try:
        admitted = admit(kind, content)
    except RefusedError:
        return
    assert kind != "PATCH-DOC" or admitted == {"events": []}


@settings(deadline=None)
@given(VALUES)
def test_any_data_of_a_message_is_admitted_as_it_is_or_refused(data):
    content = json.loads(json.dumps({"events": [message(entries(data=data))]}))
    try:
        admitted = admit("PATCH-DOC", content)
    except RefusedError:
        return
    assert repr(admitted) == repr(content)
