"""What a request says reaches no document unescaped, wherever in it somebody puts it, and no header at all."""

import http.client
import os
import re
import sys
from collections.abc import Iterator
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest

from helpers.patience import PATIENCE
from helpers.serving import QUIET, ROOT, serving
from splatscope.web.shell.router import RESERVED

MARK = "probe17"
# Breaks out of an attribute, an element, a script, a template and a header; a product that is worked out is a template that ran.
PAYLOAD = f"""{MARK}"'`></script></style></title></textarea><x-{MARK}>{{{{191*193}}}}${{191*193}}javascript:0//\r\nX-{MARK}: 1"""
WORKED_OUT = str(191 * 193)
DOCUMENTS = {
    "home": "page=home",
    "section": "page=undo",
    "section with a session": "page=undo&session=1",
    "tool": "page=train",
    "walk": "walk=whole",
    "class": "walk=whole&key=a-teacher",
    "notes": "walk=whole&notes=1",
    "unknown page": "page=nowhere",
}
# Each of these alone chooses another document or is refused. All others are tried at once.
CHOOSING = ("page", "walk", "session", "bokeh-session-id", "bokeh-token")
BOKEH = ("bokeh-absolute-url", "bokeh-app-path", "bokeh-autoload-element", "bokeh-protocol-version")
OTHERS = ({*RESERVED} - {*CHOOSING}).union(BOKEH, ("theme", "resources", "task", "seed", "recorded", "unheard-of", PAYLOAD))
HEADERS = (
    "Bokeh-Session-Id",
    "Forwarded",
    "Host",
    "Origin",
    "Referer",
    "User-Agent",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-Prefix",
    "X-Forwarded-Proto",
    "X-Original-URL",
    "X-Scheme",
)
PLACES = ("", "app/", "app/metadata", "app/autoload.js", "app/ws", "assets/", "components/", "recordings/", "sections/", "static/")
METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a served app, as others reach it."""
    command = [sys.executable, "-m", "panel", "serve", "app"]  # the app alone: at the root of several, Panel has a page of its own
    with serving(command, tmp_path_factory.mktemp("reflection") / "log", ROOT, os.environ | QUIET) as address:
        yield urlsplit(address).netloc


def ask(
    server: str, path: str, method: str = "GET", headers: dict[str, str] | None = None, body: str | None = None
) -> tuple[int, str]:
    """Return the status and the text of an answer, which must hold nothing that could be taken for markup or for a header."""
    connection = http.client.HTTPConnection(server, timeout=PATIENCE)
    connection.request(method, path, body=body, headers=headers or {})
    answer = connection.getresponse()
    text = answer.read().decode(errors="replace") if not path.startswith("/sections/undo") else ""
    connection.close()
    assert not [name for name, value in answer.getheaders() if MARK in name.lower() or "<" in value], path
    kind = answer.getheader("Content-Type") or ""
    if "html" in kind or "javascript" in kind or "svg" in kind or not kind:
        wrong = re.search(rf"<x-{MARK}|{MARK}[\"'`]", text)
        assert not wrong, f"{method} {path}: {text[max(0, wrong.start() - 80) : wrong.end() + 80]}"
        assert WORKED_OUT not in text, path
    if answer.status == 400 and not text:
        return answer.status, text  # Tornado's own, for what is no request
    assert answer.getheader("X-Content-Type-Options") == "nosniff", path
    assert kind.startswith("text/plain") or answer.getheader("Content-Security-Policy", "").startswith("default-src 'none'"), path
    return answer.status, text


@pytest.mark.parametrize("query", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_no_argument_of_an_address_reaches_a_document_unescaped(server, query):
    assert ask(server, f"/app?{query}")[0] == 200
    chosen = dict(parse_qsl(query))
    for names in (OTHERS, *({name} for name in CHOOSING)):
        ask(server, f"/app?{urlencode({name: PAYLOAD for name in names} | {name: chosen[name] for name in chosen.keys() - names})}")


def test_the_words_of_a_request_are_looked_for_where_a_page_shows_them(server):
    status, text = ask(server, f"/app?{urlencode({'page': PAYLOAD})}")
    assert status == 200
    assert MARK in text  # “There is no section named …”


@pytest.mark.parametrize("query", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_no_header_reaches_a_document_unescaped(server, query):
    value = PAYLOAD.partition("\r")[0]
    ask(server, f"/app?{query}", headers={name: value for name in HEADERS if name != "Host"} | {"Cookie": f"{MARK}={value}"})
    ask(server, f"/app?{query}", headers={"Host": value})


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("method", METHODS)
def test_no_path_reaches_an_answer_unescaped(server, place, method):
    payload = quote(PAYLOAD, safe="/:;@!$'()*,=&`<>")  # also characters that a browser would not leave as they are
    for path in (place + payload, f"{place}?{payload}", f"{place}{payload}/{payload}.js"):
        ask(server, f"/{path}".replace(" ", "%20"), method, body="" if method in ("PATCH", "POST", "PUT") else None)


def test_no_body_reaches_an_answer_unescaped(server):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    body = urlencode({name: PAYLOAD for name in (*OTHERS, *CHOOSING)})
    for query in DOCUMENTS.values():
        for method in ("GET", "POST"):
            ask(server, f"/app?{query}", method, form, body)
    ask(server, "/sections/nowhere", "POST", {"Content-Type": "application/json"}, PAYLOAD)


def test_an_address_that_is_too_long_is_not_repeated(server):
    assert ask(server, f"/app?{urlencode({'page': PAYLOAD * 40})}")[0] == 414
