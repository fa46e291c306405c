"""What a stranger sends through a page's socket moves nobody else, and ends at most his own connection."""

import base64
import gzip
import json
from contextlib import suppress
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener, urlopen

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
    works = "Router" in visitor.numbers
    visitor.socket.close()
    return works


def test_a_student_cannot_take_over_a_walk(server):
    async def attack() -> list[str]:
        follow = f"walk=whole&class={code_of(KEY)}"
        student, other = await PageSocket.come(f"{server}/app", follow), await PageSocket.come(f"{server}/app", follow)
        for one in (student, other):
            await one.say("WalkBar", JOIN)
        await other.heard(1)
        await student.set(role="present", code=code_of("a key of his own"))
        await student.set(tree={})
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
        stranger.ids["model"] = "p9999999"
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


def directives(answer) -> dict[str, list[str]]:
    """Return the content security policy of an answer: its sources, by directive."""
    return {name: sources for name, *sources in (line.split() for line in answer.headers["Content-Security-Policy"].split(";"))}


def test_a_page_loads_from_its_own_server_and_runs_what_that_server_wrote(server):
    with urlopen(f"{server}/app?page=train", timeout=60) as answer:
        policy = directives(answer)
    assert policy["default-src"] == ["'none'"]
    assert policy["frame-ancestors"] == ["'self'"]
    assert all(source == "'self'" or source.startswith("'sha256-") for source in policy["script-src"])
    assert not [source for sources in policy.values() for source in sources if "/" in source and not source.startswith("'sha256-")]


@pytest.mark.parametrize("path", ["sections/undo", "assets/bokeh.min.js", "recordings/undo", "nowhere", "static/nowhere"])
def test_an_answer_that_is_no_page_runs_nothing(server, path):
    request = Request(f"{server}/{path}", method="GET")
    try:
        answer = build_opener(NoRedirect).open(request, timeout=60)
    except HTTPError as error:
        answer = error
    with answer:
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert directives(answer).keys() == {"default-src", "base-uri", "form-action", "frame-ancestors"}
        assert directives(answer)["default-src"] == ["'none'"]


class NoRedirect(HTTPRedirectHandler):
    """Leaves an answer as it is that leads elsewhere."""

    def redirect_request(self, *_):
        """Go nowhere."""


ATTACK = "document.documentElement.dataset.reached = 'yes'"
WAYS = {
    "an inline script": f"<script>{ATTACK}</script>",
    "a handler": f'<img src="data:," onerror="{ATTACK}">',
    "a script in an address": f'<script src="data:text/javascript,{ATTACK}"></script>',
    "a document in a frame": f'<iframe srcdoc="<script>parent.{ATTACK}</script>"></iframe>',
}


# in a task of its own: what a test evaluates itself may evaluate more
EVALUATES = """new Promise((resolve) => setTimeout(() => {
  try { resolve(Function("return 'ran'")()) } catch (error) { resolve(error.name) }
}))"""


@pytest.mark.parametrize("query", ["page=undo", "page=train"])
def test_markup_that_gets_into_a_page_runs_nothing(server, chromium, query):
    page = chromium.new_context().new_page()  # which may complain
    page.goto(f"{server}/app?{query}")
    page.locator("[data-page]").first.wait_for()
    for way, markup in WAYS.items():
        page.evaluate("(markup) => document.body.append(document.createRange().createContextualFragment(markup))", markup)
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.dataset.reached ?? ''") == "", way
    assert page.evaluate(EVALUATES) == "EvalError"
    page.context.close()


@pytest.mark.parametrize("query", ["page=home", "walk=whole"])
def test_a_link_runs_no_script_and_loads_none_from_elsewhere(server, chromium, query):
    page = chromium.new_context().new_page()
    hosts: set[str | None] = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).hostname))
    attack = quote(f'"><script>{ATTACK}</script>')
    for address in (attack, "http://elsewhere.example/app"):
        page.goto(f"{server}/app?{query}&bokeh-absolute-url={address}")
        assert page.locator("script", has_text=ATTACK).count() == 0
        assert page.evaluate("document.documentElement.dataset.reached ?? ''") == ""
    assert hosts - {None} == {urlsplit(server).hostname}
    page.context.close()


def test_an_address_with_too_long_a_number_is_refused(server):
    with pytest.raises(HTTPError, match="414"):
        urlopen(f"{server}/app?page=train&step={'1' * 5000}", timeout=60)
