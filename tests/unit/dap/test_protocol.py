"""The protocol's layer: framing, dispatch, and what a client may not send."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splatscope.dap.protocol import (
    MOST_BYTES,
    Arguments,
    Connection,
    FramingError,
    Reply,
    RequestError,
    frame,
    read_message,
    request,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


class Echo:
    """A session that has two requests."""

    has_ended = False

    @request("echo")
    def _echo(self, arguments: Arguments) -> Reply:
        return Reply({"said": arguments.text("say")}, (("echoed", {}),))

    @request("stumble")
    def _stumble(self, arguments: Arguments) -> Reply:
        raise KeyError("two\nlines")

    @request("end")
    def _end(self, arguments: Arguments) -> Reply:
        self.has_ended = True
        return Reply()


def answers_to(*contents: bytes) -> list[dict]:
    """What a session sends for messages with these contents."""
    writing = io.BytesIO()
    reading = io.BytesIO(b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(content), content) for content in contents))
    Connection(reading, writing).serve(Echo())
    writing.seek(0)
    return [json.loads(content) for content in iter(lambda: read_message(writing), None)]


def ask(command: str, arguments: object = None, seq: object = 7) -> bytes:
    return json.dumps({"seq": seq, "type": "request", "command": command, "arguments": arguments}).encode()


@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_a_message_is_read_as_it_was_framed(message):
    stream = io.BytesIO(frame(message) * 2)
    for _ in range(2):
        content = read_message(stream)
        assert content is not None
        assert json.loads(content) == message
    assert read_message(stream) is None


def test_content_type_may_be_given_and_lines_may_end_without_a_return():
    assert read_message(io.BytesIO(b"Content-Type: utf8\r\ncontent-length:2\r\n\r\n{}")) == b"{}"
    assert read_message(io.BytesIO(b"Content-Length: 2\n\n{}")) == b"{}"


@pytest.mark.parametrize(
    "stream",
    [
        b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",  # what a web page may send to a port
        b"Host: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}",
        b"Content-Length: -2\r\n\r\n{}",
        b"Content-Length: two\r\n\r\n{}",
        b"Content-Length: 99999999999999999999\r\n\r\n{}",
        b"Content-Length: %d\r\n\r\n{}" % (MOST_BYTES + 1),
        b"Content-Length: 3\r\n\r\n{}",
        b"Content-Length: 2",
        b"Content-Type: a\r\n" * 9,
        b"\r\n\r\n",
        b"x" * 10_000,
    ],
)
def test_what_is_no_message_ends_the_connection(stream):
    with pytest.raises(FramingError):
        read_message(io.BytesIO(stream))
    writing = io.BytesIO()
    Connection(io.BytesIO(stream), writing).serve(Echo())
    assert b'"category":"stderr"' in writing.getvalue()


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_the_end_or_refused(stream):
    try:
        content = read_message(io.BytesIO(stream))
    except FramingError:
        return
    assert content is None or content in stream


def test_a_request_is_answered_before_its_events():
    response, event = answers_to(ask("echo", {"say": "hello", "unheard": [1]}))
    assert response == {
        "seq": 1, "type": "response", "request_seq": 7, "success": True, "command": "echo", "body": {"said": "hello"}
    }  # fmt: skip
    assert event == {"seq": 2, "type": "event", "event": "echoed", "body": {}}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (ask("shout"), "There is no request “shout” here."),
        (ask("_echo"), "There is no request “_echo” here."),
        (ask("echo"), "“say” must be a text."),
        (ask("echo", ["say"]), "“arguments” must be an object."),
        (ask("echo", {"say": 1}), "“say” must be a text."),
        (ask("stumble"), "This could not be answered: KeyError: 'two\\nlines'"),
    ],
)
def test_a_request_that_cannot_be_answered_fails_in_one_line(content, words):
    [response] = answers_to(content)
    assert response["success"] is False
    assert response["message"] == words
    assert set(response["body"]["error"]) == {"id", "format", "showUser"}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"1", b"\xff", b"[" * 100_000, ask("echo", {}, "7"), b'{"type":"request"}'])
def test_what_is_no_request_is_told_and_the_next_is_answered(content):
    output, response, _ = answers_to(content, ask("echo", {"say": "still here"}))
    assert output["event"] == "output"
    assert response["body"] == {"said": "still here"}


def test_nothing_is_read_after_the_end():
    assert [message["command"] for message in answers_to(ask("end"), ask("echo", {"say": ""}))] == ["end"]


@pytest.mark.parametrize("value", [-1, True, 1.5, "1", [1], 2**60])
def test_a_whole_number_is_one(value):
    with pytest.raises(RequestError):
        Arguments({"line": value}).whole("line")
    assert Arguments({"line": None}).whole("line", 3) == 3
