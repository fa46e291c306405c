"""Cases for a served app, each made from a seed and its number: requests, and talks on a page's socket."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar
from urllib.parse import quote, urlencode

import param

from helpers.page_socket import PageSocket
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.web.assets import FILES
from splatscope.web.runtime.component import Component
from splatscope.web.runtime.receivers import Receiver, receivers
from splatscope.web.serving.gate import MOST_BODY, MOST_HEADERS
from splatscope.web.shell.pages import PAGES
from splatscope.web.shell.router import RESERVED

from .forger import Forger, encoded
from .mutate import damaged

MARK = "fuzzmark7"  # is in every payload, and in nothing that the app has
PAYLOADS = (
    f'"><{MARK}>',
    f"'><{MARK}>",
    f"</script><{MARK}>",
    f"</textarea></title><{MARK}>",
    f'" on{MARK}="1',
    f"' on{MARK}='1",
    f"javascript:{MARK}",
    f'";{MARK}//',
    f"{{{{ '{MARK}'|upper }}}}",
    f"\r\nX-{MARK}: 1",
    f"<!--<script>{MARK}",
    f"&lt;{MARK}&gt;",
)
Pairs = tuple[tuple[str, str], ...]
TALK = 60  # messages of a talk


@dataclass(frozen=True)
class Request:
    """A request. A malformed one may end before it is complete, and need not be answered.

    Attributes:
        number: The case's.
        kind: What it tries, in a word.
        query: Names and values, which `raw` quotes.
        bare: The characters of the query that are not quoted.
        chunked: Whether the body is sent in chunks.
        damage: Seed of what is changed in its bytes; 0 for nothing.
    """

    number: int
    kind: str
    method: str
    path: str
    query: Pairs = ()
    headers: Pairs = ()
    body: bytes = b""
    bare: str = ""
    chunked: bool = False
    damage: int = 0
    weight: ClassVar[int] = 1

    @property
    def is_malformed(self) -> bool:
        """Whether the server may close the connection without an answer: what comes is broken, or too long."""
        return bool(self.damage) or len(self.raw(0)) - len(self.body) > MOST_HEADERS or len(self.body) > MOST_BODY

    def raw(self, port: int) -> bytes:
        """Return the request's bytes."""
        pairs = [f"{_quoted(name, self.bare)}={_quoted(value, self.bare)}" for name, value in self.query]
        lines = [f"{self.method} {self.path}{'?' if pairs else ''}{'&'.join(pairs)} HTTP/1.1"]
        names = {name.lower() for name, _ in self.headers}
        lines += [] if "host" in names else [f"Host: localhost:{port}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        if self.chunked:
            lines.append("Transfer-Encoding: chunked")
        elif self.body or self.method in ("POST", "PUT", "PATCH"):
            lines.append(f"Content-Length: {len(self.body)}")
        body = self.body
        if self.chunked:
            body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:7], body[7:]) if part) + b"0\r\n\r\n"
        raw = "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + body
        return damaged(raw, random.Random(self.damage)) if self.damage else raw

    def words(self) -> str:
        """Return the request in one line."""
        return repr(self.raw(0))

    def smaller(self) -> Iterator["Request"]:
        """Yield requests with less in them."""
        if self.damage:
            return
        for pairs in ("query", "headers"):
            whole: Pairs = getattr(self, pairs)
            for at, (name, value) in enumerate(whole):
                yield replace(self, **{pairs: whole[:at] + whole[at + 1 :]})
                if len(value) > 1:
                    yield replace(self, **{pairs: (*whole[:at], (name, value[: len(value) // 2]), *whole[at + 1 :])})
        if self.body:
            yield replace(self, body=self.body[: len(self.body) // 2])
        if self.method != "GET":
            yield replace(self, method="GET", body=b"", chunked=False)


@dataclass(frozen=True)
class Talk:
    """Messages on the socket of a page.

    Attributes:
        number: The case's.
        query: The page's address.
        seed: Of the messages.
        chosen: The numbers of those that are sent.
    """

    number: int
    query: str
    seed: str
    chosen: tuple[int, ...] = tuple(range(TALK))
    kind: ClassVar[str] = "socket"

    @property
    def weight(self) -> int:
        """How many messages it sends."""
        return len(self.chosen)

    def words(self) -> str:
        """Return the talk in one line; its messages as the page at hand would get them, without their component."""
        return f"{self.query}, messages {self.chosen}: {[_message(self.seed, number, {})[1] for number in self.chosen[:2]]!r}"

    def smaller(self) -> Iterator["Talk"]:
        """Yield talks with fewer messages."""
        size = len(self.chosen) // 2
        while size:
            for at in range(0, len(self.chosen), size):
                if rest := self.chosen[:at] + self.chosen[at + size :]:
                    yield replace(self, chosen=rest)
            size //= 2

    def parts(self, visitor: PageSocket, rng: random.Random) -> Iterator[list[str | bytes]]:
        """Yield the parts of each message to the components of the page, by class, as Bokeh's protocol sends them."""
        known = {name: receivers(part) for name, part in _components().items() if name in visitor.numbers}
        for number in self.chosen:
            name, message = _message(self.seed, number, known)
            yield _parts(visitor.ids["model"], visitor.numbers.get(name, 10**6), message)
        if rng.random() < 0.2:
            yield rng.choice(_nonsense())


Case = Request | Talk


def case(seed: int, number: int) -> Case:
    """Return the case of a number."""
    rng = random.Random(f"{seed}/{number}")
    kinds = [(make, weight) for make, weight in KINDS.items()]
    (make,) = rng.choices([make for make, _ in kinds], [weight for _, weight in kinds])
    return make(rng, number)


def _document(rng: random.Random, number: int) -> Request:
    """A section's document, which needs no session."""
    page = rng.choice(lesson_names())
    query = [("page", page), *_pairs(rng, rng.randrange(4), [*_inputs(page), "step", *BOKEH])]
    return Request(number, "document", _method(rng), rng.choice(["/app", "/app", "/app/"]), tuple(query), bare=_bare(rng))


def _any_document(rng: random.Random, number: int) -> Request:
    """A page with a session."""
    names = [*RESERVED, *BOKEH, *_inputs(rng.choice(lesson_names())), "x", "y", "stage", "task"]
    pages = [entry.name for entry in PAGES if entry.name != "claims"] * 3 + [*PAYLOADS, ""]
    path = rng.choice(["/app"] * 8 + ["/app/autoload.js", "/app/metadata", "/"])
    query = [("page", rng.choice(pages)), *_pairs(rng, rng.randrange(4), names)]
    if rng.random() < 0.3:
        query += [("walk", rng.choice(["whole", _value(rng)])), (rng.choice(["class", "key", "notes"]), _value(rng))]
    return Request(number, "session", "GET", path, tuple(query), bare=_bare(rng))


def _section(rng: random.Random, number: int) -> Request:
    """A section's content, for inputs most of which are invalid."""
    stem = rng.choice(lesson_names())
    inputs = _pairs(rng, rng.randrange(3), [*_inputs(stem), "recorded", "page", "nothing"])
    query = [("inputs", urlencode(inputs, errors="surrogatepass"))]
    if rng.random() < 0.1:
        query.append(rng.choice([("inputs", _value(rng)), ("change", ""), ("v", _value(rng))]))
    return Request(number, "section", _method(rng), f"/sections/{stem}", tuple(query), bare=_bare(rng))


def _change(rng: random.Random, number: int) -> Request:
    """A change of a section's inputs, valid in some."""
    stem = rng.choice(lesson_names())
    if rng.random() < 0.3:
        name = rng.choice(_inputs(stem) or ["nothing"])
        deep = [f'{{"set": {{"{name}": {"[" * many}{"]" * many}}}}}' for many in (100, 900, 980, 5000)]
        change: Any = rng.choice(
            [_value(rng), "[" * 3000, '{"set":' * 500, "{}", "[]", "5", "null", '"set"', "NaN", "1" * 5000, *deep]
        )
    else:
        forger = Forger(f"change {number}")
        forger.names = _inputs(stem) or ["nothing"]
        change = json.dumps(rng.choice([forger.change(), {"set": forger.value()}, {"fix": True}]), default=str)
    query = (("inputs", urlencode(_pairs(rng, rng.randrange(2), _inputs(stem)), errors="surrogatepass")), ("change", change))
    return Request(number, "change", "GET", f"/sections/{stem}", query, bare=_bare(rng))


def _post(rng: random.Random, number: int) -> Request:
    """A request to run something, with a body that is seldom one."""
    body = rng.choice(
        [
            *(
                b"",
                b"{}",
                b"[]",
                b"5",
                b"null",
                b'{"run": -1}',
                b'{"run": 1e400}',
                b'{"run": "1"}',
                b'{"run": [1]}',
                b'{"run": true}',
            ),
            *(b"[" * rng.choice([10, 5000, 100_000]), b'{"a":' * 5000, b"1" * 6000, b'{"run": ' + b"9" * 5000 + b"}"),
            *(b"\xff\xfe", b'{"run": "\\ud800"}', b"\0" * 1000, _value(rng).encode("utf-8", "surrogatepass"), b"x" * 1_500_000),
        ]
    )
    path = rng.choice(
        [f"/sections/{rng.choice(lesson_names())}"] * 4 + ["/app", "/assets/x", "/app/ws", "/sections/none", "/search"]
    )
    headers = _headers(rng, rng.randrange(3), ["Content-Type", "Origin", "Sec-Fetch-Site", "Content-Encoding"])
    query = (("inputs", urlencode(_pairs(rng, rng.randrange(2), ["count", "seed"]), errors="surrogatepass")),)
    return Request(number, "post", rng.choice(["POST", "POST", "PUT"]), path, query, headers, body, chunked=rng.random() < 0.3)


def _file(rng: random.Random, number: int) -> Request:
    """A file or a recording."""
    name = rng.choice(list(FILES))
    paths = [
        *(f"/assets/{name}", "/assets/screenshot.png", f"/recordings/{rng.choice(lesson_names())}"),
        *(f"/recordings/{rng.getrandbits(64):016x}", "/static/js/bokeh.min.js", "/static/extensions/panel/panel.min.js"),
        *("/app/metadata", "/static/", "/favicon.ico", "/"),
    ]
    names = ["Range", "If-None-Match", "If-Modified-Since", "Accept-Encoding", "Accept", "If-Range"]
    query = tuple(_pairs(rng, rng.randrange(2), ["v", "x"]))
    return Request(number, "file", _method(rng), rng.choice(paths), query, _headers(rng, rng.randrange(3), names), bare=_bare(rng))


def _path(rng: random.Random, number: int) -> Request:
    """A path that leads nowhere, or out of the app."""
    roots = ["", "/app", "/assets", "/recordings", "/sections", "/static", "/static/extensions/panel", "/components", "/app/ws"]
    parts = [
        *(
            "..",
            "%2e%2e",
            "..%2f..%2fetc%2fpasswd",
            "%00",
            "%ff",
            "%",
            "%zz",
            "%ed%a0%80",
            "%25%32%65",
            "\\..\\",
            ".",
            "",
            "a" * 3000,
        ),
        *(
            "undo",
            "undo.js",
            "%22%3E%3C" + MARK + "%3E",
            "<" + MARK + ">",
            "panel.io.server",
            "index.js",
            "%C3%A9",
            "é",
            "__esm__",
            "*",
        ),
    ]
    path = rng.choice(roots) + "".join(f"/{rng.choice(parts)}" for _ in range(rng.randrange(1, 5)))
    return Request(number, "path", _method(rng), path, tuple(_pairs(rng, rng.randrange(2), [*RESERVED, *BOKEH])))


def _headed(rng: random.Random, number: int) -> Request:
    """A page or a section with headers that browsers do not send, or send otherwise."""
    made = rng.choice([_document, _section, _file])(rng, number)
    if rng.random() < 0.03:
        more: Pairs = rng.choice([(("X-Long", "a" * 70_000),), tuple((f"X-{at}", "a") for at in range(500))])
    else:
        more = _headers(rng, rng.randrange(1, 5), HEADERS)
    return replace(made, kind="headers", headers=made.headers + more)


def _damaged(rng: random.Random, number: int) -> Request:
    """A request with damaged bytes."""
    made = rng.choice([_document, _section, _post, _file, _headed])(rng, number)
    return replace(made, kind="malformed", damage=rng.randrange(1, 2**31))


def _talk(rng: random.Random, number: int) -> Talk:
    pages = ["home", "train", "train", "debugger", "debugger", "exercises", "glossary", "claims" if rng.random() < 0.1 else "home"]
    walk = f"walk=whole&page={rng.choice(['undo', 'home', 'debugger', 'exercises'])}"
    walks = [walk, f"{walk}&key=key", f"{walk}&key=key&notes=1", f"{walk}&class=aaaa-bbbb-cccc"]
    return Talk(number, rng.choice([*(f"page={page}" for page in pages), *walks]), str(rng.getrandbits(64)))


BOKEH = (
    *(
        "bokeh-absolute-url",
        "bokeh-app-path",
        "bokeh-autoload-element",
        "bokeh-session-id",
        "bokeh-token",
        "bokeh-protocol-version",
    ),
    *("Bokeh-Session-Id", "resources", "theme", "dist_url", "nonce", "next", "state", "code"),
)
HEADERS = (
    *("Accept", "Accept-Encoding", "Accept-Language", "Authorization", "Bokeh-Session-Id", "Connection", "Content-Type", "Cookie"),
    *(
        "Expect",
        "Host",
        "If-Modified-Since",
        "If-None-Match",
        "Origin",
        "Range",
        "Referer",
        "Sec-Fetch-Site",
        "Upgrade",
        "User-Agent",
    ),
    *("Sec-WebSocket-Key", "Sec-WebSocket-Protocol", "Sec-WebSocket-Version", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host"),
    *("X-Forwarded-Prefix", "X-Forwarded-Proto", "X-Real-Ip", "X-Scheme", "X-HTTP-Method-Override"),
)
ODD_HEADERS = (
    *(
        "",
        "*",
        "gzip",
        "gzip;q=0",
        "gzip;q=nan",
        "identity;q=0, gzip;q=0",
        "br",
        "bytes=0-10",
        "bytes=-5",
        "bytes=5-2",
        "bytes=a-b",
    ),
    *("bytes=0-" + "9" * 400, "bytes=" + "0-1," * 1000, 'W/"x"', '"' + "a" * 3000, "Mon, 99 Foo 99999 99:99:99 GMT", "0", "-1"),
    *(
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "http://evil.example",
        "null",
        "evil.example:99999",
        "[::1",
        "localhost:",
        "127.0.0.1, 8.8.8.8",
    ),
    *(
        "https",
        "ftp",
        "Basic %%%",
        "Bearer a.b.c",
        "a=b; a=" + "c" * 3000,
        'a="\\777"; =;;',
        "websocket",
        "upgrade",
        "100-continue",
    ),
    *(
        "cross-site",
        "same-origin",
        "application/json",
        "multipart/form-data; boundary=",
        "bokeh, a.b",
        "13",
        "x" * 24,
        "é",
        "\udcff",
    ),
)


def _headers(rng: random.Random, many: int, names: tuple[str, ...] | list[str]) -> Pairs:
    plain = [payload for payload in PAYLOADS if "\n" not in payload]
    return tuple((rng.choice(list(names)), rng.choice([*ODD_HEADERS, *plain])) for _ in range(many))


def _method(rng: random.Random) -> str:
    return (
        "GET" if rng.random() < 0.9 else rng.choice(["HEAD", "HEAD", "OPTIONS", "DELETE", "PATCH", "TRACE", "PROPFIND", "GET" * 30])
    )


def _bare(rng: random.Random) -> str:
    """Return the characters that a query holds without quoting them."""
    return rng.choice(["", "", "", "%", "<>\"'%{}[]();:,/@!$*|\\^`", "&=+%"])


def _quoted(text: str, bare: str) -> str:
    return quote(text, safe=bare, errors="surrogatepass")


def _pairs(rng: random.Random, many: int, names: list[str]) -> list[tuple[str, str]]:
    """Return names with values, the same name twice now and then."""
    pairs = [(rng.choice(names) if rng.random() < 0.95 else _value(rng), _value(rng)) for _ in range(many)] if names else []
    return pairs + pairs[:1] if rng.random() < 0.05 else pairs


def _value(rng: random.Random) -> str:
    """Return a value of an address."""
    if rng.random() < 0.4:
        return rng.choice(PAYLOADS)
    long = rng.choice([100, 1100, 4000, 5000, 30_000])
    return rng.choice(
        [
            *(
                "[" * long,
                '{"a":' * min(long, 5000),
                "1" * long,
                "a" * long,
                "\0",
                "\ud800",
                "é😀",
                "%",
                "%zz",
                "%2522",
                "%c0%af",
                "+",
                " ",
            ),
            *(
                "",
                "0",
                "1",
                "-1",
                "1.5",
                "1e999",
                "NaN",
                "Infinity",
                "true",
                "null",
                "[]",
                "{}",
                '"x"',
                "0x10",
                "1_000",
                "١",
                "9" * 25,
            ),
            *("[1,2,3]", "1 2 3", "../../etc/passwd", "\n", "home", "a=b&c=d", "page=home"),
        ]
    )


@cache
def _inputs(stem: str) -> list[str]:
    """Return the names of a section's inputs."""
    lesson = find_lesson(stem)
    return [name for name in lesson.param if name != "name" and isinstance(lesson.param[name], param.Parameter)]


@cache
def _components() -> dict[str, type[Component]]:
    for entry in PAGES:
        entry.load()

    def below(base: type[Component]) -> Iterator[type[Component]]:
        for part in base.__subclasses__():
            yield part
            yield from below(part)

    return {part.__name__: part for part in below(Component)}


def _message(seed: str, number: int, known: dict[str, dict[str, Receiver]]) -> tuple[str, dict[str, Any]]:
    """Return the class of a component and a message to it."""
    forger = Forger(f"{seed}/{number}")
    forger.names = ["size", "blobs", "seed", "kernels", "iterations", "sample", "picture", "recording", "array:keys", "count"]
    named = sorted(known) or [""]
    name = forger.random.choice([part for part in named if known.get(part)] or named) if forger.random.random() < 0.8 else ""
    name = name or forger.random.choice(named)
    message = forger.message(known.get(name, {}))
    if name == "Router" and message["type"] == "go" and forger.random.random() < 0.7:
        pixel = {part: forger.random.choice(["3", "300", "9" * 30, "x"]) for part in ("x", "y")}
        stage = {"stage": forger.random.choice(["blend", "sort", "none"])}
        message |= {"page": "train", "inputs": forger.random.choice([pixel, pixel | stage, {}]), "followed": True}
    if name == "KernelComparison" and forger.random.random() < 0.9:  # takes half a minute
        message["type"] = "measured"
    return name, message


def _parts(model: str, number: int, message: dict[str, Any]) -> list[str | bytes]:
    values = {"type": "map", "entries": [["model", {"id": model}], ["data", encoded({"id": number, "message": message})]]}
    data = {"type": "event", "name": "data_event", "values": values}
    content = {"events": [{"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": data}]}
    return [json.dumps({"msgid": "m", "msgtype": "PATCH-DOC"}), "{}", json.dumps(content)]


def _nonsense() -> list[list[str | bytes]]:
    """Return what is no message. The server closes the connection."""
    head = json.dumps({"msgid": "m", "msgtype": "PATCH-DOC"})
    return [
        *([part] for part in ("", "[" * 100_000, "5", "null", "{}", b"\0" * 100, '{"msgtype": 5}', '{"msgid": []}')),
        *([head, "{}", part] for part in ("{}", '{"events": 5}', "1" * 5000, '{"events": [{"kind": "MessageSent"}]}', "[" * 5000)),
        *([json.dumps({"msgid": "m", "msgtype": kind}), "{}", "{}"] for kind in ("PUSH-DOC", "ACK", "OK", "ERROR", "x" * 9999)),
        [json.dumps({"msgid": "m", "msgtype": "PATCH-DOC", "num_buffers": 10**9}), "{}", "{}", b"x"],
        _parts("p99999999", 1, {"type": "go"}),
    ]


KINDS = {
    _document: 30.0,
    _section: 17.0,
    _change: 2.0,
    _post: 4.0,
    _file: 22.0,
    _path: 10.0,
    _headed: 10.0,
    _damaged: 4.0,
    _any_document: 1.0,
    _talk: 0.4,
}
