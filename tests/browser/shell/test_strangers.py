"""What a stranger sends through a page's socket moves nobody else, and ends at most his own connection."""

import base64
import gzip
import json
from contextlib import suppress
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from bokeh.util.token import generate_jwt_token
from tornado.websocket import WebSocketClosedError, websocket_connect

from helpers.page_socket import PageSocket, apart
from splatscope.web.classroom.classroom import code_of

KEY = "a-teacher-of-this-test"
LEAD = [["type", "lead"], ["page", "train"], ["step", 0], ["inputs", ""], ["stop", 3], ["show", ""]]
JOIN = [["type", "join"], ["key", ""], ["base", ""]]


async def answers(address: str) -> bool:
    """Return whether a new visitor's session works."""
    visitor = await PageSocket.come(address, "page=glossary")
    works = "Router" in visitor.models
    visitor.socket.close()
    return works


def test_a_student_cannot_take_over_a_walk(server):
    async def attack() -> list[str]:
        follow = f"walk=whole&class={code_of(KEY)}"
        student, other = await PageSocket.come(f"{server}/app", follow), await PageSocket.come(f"{server}/app", follow)
        for one in (student, other):
            await one.say("WalkBar", JOIN)
        await other.heard(1)
        await student.set("WalkBar", role="present")
        await student.set("WalkBar", code=code_of("a key of his own"))
        await student.say("WalkBar", [["type", "join"], ["key", "a key of his own"], ["base", ""]])
        await student.say("WalkBar", LEAD)
        parts = await other.heard(2)
        teacher = await PageSocket.come(f"{server}/app", f"walk=whole&key={KEY}")
        await teacher.say("WalkBar", JOIN)
        await teacher.say("WalkBar", LEAD)
        led = await other.heard(2)
        assert any('"train"' in part for part in led), "the teacher leads"
        return parts

    assert not [part for part in apart(attack()) if "train" in part]


@pytest.mark.parametrize(
    "value",
    [
        {"type": "bytes", "data": base64.b64encode(gzip.compress(bytes(2**27))).decode()},
        {"type": "object", "name": "Figure"},
        {"type": "ndarray", "shape": [2**40], "dtype": "float64", "order": "little", "array": {"type": "bytes", "data": ""}},
    ],
    ids=["a bomb", "a model", "an array"],
)
def test_a_value_that_no_page_sends_closes_the_connection(server, value):
    async def attack() -> bool:
        stranger = await PageSocket.come(f"{server}/app", "page=glossary")
        await stranger.say("Router", [["type", "go"], ["page", value]])
        return (await stranger.heard(20))[-1] is None and await answers(f"{server}/app")

    assert apart(attack())


@pytest.mark.parametrize("kind", ["another document", "many buffers", "a broken part"])
def test_what_is_no_message_closes_the_connection(server, kind):
    async def attack() -> bool:
        stranger = await PageSocket.come(f"{server}/app", "page=glossary")
        if kind == "another document":
            await stranger.send("PUSH-DOC", {"doc": {"roots": []}})
        elif kind == "a broken part":
            for part in ("[" * 100_000, "{}", "{}"):
                await stranger.socket.write_message(part)
        else:
            for part in ({"msgid": "1", "msgtype": "PATCH-DOC", "num_buffers": 1000}, {}, {"events": []}):
                await stranger.socket.write_message(json.dumps(part))
            with suppress(WebSocketClosedError):  # by the server, perhaps before the last
                for number in range(3):
                    await stranger.socket.write_message(json.dumps({"id": str(number)}))
                    await stranger.socket.write_message(bytes(2 * 2**20), binary=True)
        return (await stranger.heard(20))[-1] is None and await answers(f"{server}/app")

    assert apart(attack())


def test_an_error_says_nothing_of_the_server(server):
    async def attack() -> list[str]:
        stranger = await PageSocket.come(f"{server}/app", "page=glossary")
        stranger.models["Router"]["model"] = "p9999999"
        await stranger.say("Router", [["type", "go"]])
        return await stranger.heard(3)

    said = apart(attack())
    assert said
    assert not [part for part in said if part and ("Traceback" in part or ".py" in part)]


def test_a_session_that_the_server_did_not_make_is_not_opened(server):
    async def attack() -> object:
        token = generate_jwt_token("guess123", signed=False, expiration=3600)
        socket = await websocket_connect(f"{server.replace('http', 'ws', 1)}/app/ws", subprotocols=["bokeh", token])
        return await socket.read_message()

    assert apart(attack()) is None


def test_a_page_may_ask_its_own_server_alone(server):
    with urlopen(f"{server}/app?page=train", timeout=60) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'self'" in policy
    assert "://" not in policy
    assert "frame-ancestors" not in policy  # a course's page may show it


def test_an_address_with_too_long_a_number_is_refused(server):
    with pytest.raises(HTTPError, match="414"):
        urlopen(f"{server}/app?page=train&step={'1' * 5000}", timeout=60)
