"""The walk bar of a session. The session reads a walk alone, follows a class, or presents to one."""

import re
import socket
import time
from collections.abc import Hashable, Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import panel as pn
import param
import segno
from tornado.ioloop import IOLoop

from splatscope.textbook.contents import lesson_names
from splatscope.textbook.markdown import html_of
from splatscope.web.classroom.classroom import classroom, code_of
from splatscope.web.classroom.walks import Walk, find
from splatscope.web.component import Component
from splatscope.web.lesson_page.section_view import asked_in
from splatscope.web.shell.pages import BY_NAME
from splatscope.web.shell.router import UNNAMED, read_inputs, read_step
from splatscope.workers.cluster import LOOPBACK

# Seconds between two students' requests for a page, so that they do not delay the presenter. A section is the same for all
# students; any other page is built for each.
SECTION_SPREAD, SPREAD = 0.01, 0.05
MAX_INPUTS = 4000  # characters of inputs that a presenter's page may send
MAX_BROWSER = 40  # characters of the name that a browser gives itself
CHECK = 1000  # ms between two checks whether the presenter's page is connected
SILENT = 90.0  # seconds without a message before it counts as gone; it sends one every 2, in the background every 60
_KERNEL = re.compile(r"#kernel=[\w-]{1,16000}", re.ASCII)  # as in the debugger's address
MOST_CODE = 40  # characters of a class's code; a valid one has 14
_UNKNOWN = re.compile("[^a-z0-9-]")  # characters that no code contains


class WalkBar(Component):
    """The bar above the pages of a walk, or the notes in a presenter's second window.

    A presenter's browser sends its location (`lead`), which is passed on to the students' browsers. Only a session with the key can
    lead. Students do not receive the notes.
    """

    walk = param.String(doc="The walk's name, as in the address")
    title = param.String(doc="The walk's title")
    stops = param.List(default=[], item_type=dict, doc="Each `WalkStop` as a dict, without its notes")
    notes = param.List(
        default=[], item_type=str, doc="The notes of each stop, in a version for readers if alone, as HTML; none for students"
    )
    role = param.Selector(default="alone", objects=["alone", "follow", "present"])
    window = param.Selector(default="page", objects=["page", "notes"], doc="The content of this window")
    code = param.String(doc="The class's code; empty without a class")
    start = param.Integer(default=0, bounds=(0, None), doc="The stop at which this session begins")
    teaches = param.Boolean(default=True, doc="Whether there is a server, which presenting needs; without one, the notes are open")
    link = param.String(doc="The students' link, for a presenter")
    qr = param.String(doc="The link as a QR code, SVG")
    unreachable = param.String(doc="Why other machines cannot open the link, and the command that helps; empty if they can")

    def __init__(self, walk: Walk, code: str = "", key: str = "", **params: Any):
        stops = [{name: value for name, value in vars(stop).items() if name != "notes"} for stop in walk.stops]
        super().__init__(walk=walk.name, title=walk.title, stops=stops, role="follow" if code or key else "alone", **params)
        self._walk = walk
        self._watched: list[Any] = []
        self._student: Hashable = object()  # until the browser sends its name
        self._place = ("", 0, "")
        self._heard = 0.0
        self._has_ended = False
        self.code = code_of(key) if key else code
        self.room = classroom(self.code) if self.code else None
        if key:
            self._present(key)
        elif not self.code:
            self._give_notes()

    def begins(self, page: str, step: int, inputs: dict[str, str]) -> tuple[str, int, dict[str, str]]:
        """Return the page, step and inputs to begin with: the address's, else the presenter's, else a stop's."""
        if page:
            return page, step, inputs
        where = self.room.where if self.room else {}
        if where and (where["page"] != "debugger" or self.room.kernel):
            return where["page"], where["step"], read_inputs(dict(parse_qsl(where["inputs"])))
        stop = self._walk.stops[min(where.get("stop", self.start), len(self._walk.stops) - 1)]
        return stop.page, UNNAMED, dict(parse_qsl(stop.inputs))

    def is_at(self, page: str, step: int, inputs: Mapping[str, str]) -> None:
        """Note where this session is, for the presenter's numbers."""
        self._place = (page, step, urlencode(inputs))
        if self._watched and self.role == "follow":
            self.room.attendance.is_at(self._student, *self._place)

    def close(self) -> None:
        """Leave the class."""
        for watcher in self._watched:
            self.room.param.unwatch(watcher)
        self._watched.clear()
        if self.room and self.role == "follow":
            self.room.count(self._student, self, None)
        elif self.room:
            self.room.is_connected(self, False)

    def _handle_msg(self, message: dict[str, Any]) -> None:
        room, kind = self.room, message.get("type")
        if room is None:
            return
        self._heard = time.monotonic()
        if kind == "join":
            self._join(str(message.get("key") or ""), str(message.get("base") or ""), str(message.get("browser") or ""))
        elif kind == "apart" and self.role == "follow":
            room.count(self._student, self, bool(message.get("apart")))
        elif kind == "answered" and self.role == "follow":
            self._answered(*(str(message.get(name) or "") for name in ("page", "question", "option", "inputs")))
        elif kind == "marked" and self.role == "follow":
            heading = str(message.get("heading") or "")
            room.attendance.marked(self._student, str(message.get("task")), message.get("passed") is True, heading)
        elif self.role == "present" and kind == "look":
            self._send_msg({"type": "class", "class": room.attendance.summary(room.where)})
        elif self.role == "present" and kind == "lead":
            room.lead(_valid(message, len(self.stops)))
        elif self.role == "present" and kind == "kernel":
            kernel = str(message.get("kernel") or "")
            room.kernel = kernel if _KERNEL.fullmatch(kernel) else ""
        elif self.role == "present" and kind == "ask":
            room.ask(_stop(message.get("stop"), len(self.stops)), "exercises" if message.get("page") == "exercises" else "")
        elif self.role == "present" and kind == "end" and self.window == "page":
            self._has_ended = True
            room.end(self)
        elif self.role == "present" and kind == "clock":
            room.start_clock()

    def _answered(self, page: str, question: str, option: str, inputs: str) -> None:
        """Count an answer or a bet, if it is one of the options that this server has offered for these inputs."""
        if page not in lesson_names() or len(inputs) > MAX_INPUTS:
            return
        asked = asked_in(page, read_inputs(dict(parse_qsl(inputs, keep_blank_values=True))), question)
        if asked is not None:
            self.room.attendance.answered(self._student, page, question, option, asked)

    def _join(self, key: str, base: str, browser: str) -> None:
        """Join the class when the page has loaded. The browser sends the key if it remembers one.

        `browser` identifies a student's browser, so that one with two tabs is counted once. It grants no rights.
        """
        if key and self.role != "present" and code_of(key) == self.code:
            self._present(key)
        if self.role == "present" and base.startswith(("http://", "https://")):
            self.link = f"{reachable(base[:500])}?walk={self.walk}&class={self.code}"
            self.qr = segno.make(self.link, error="m", micro=False).svg_inline(border=2, omitsize=True, dark="#000", light="#fff")
            self.unreachable = _unreachable(base)
        if not self._watched:
            follow, shared, own = self.role == "follow", ["kernel", "where", "present", "ended"], ["heads", "began", "asked"]
            self._watched.append(self.room.param.watch(self._send, [*shared, *([] if follow else own)]))
            if follow:
                self._student = browser[:MAX_BROWSER] or self._student
                self.room.count(self._student, self, False)
                self.room.attendance.is_at(self._student, *self._place)
            elif self.window == "page":
                self._watch_connection()
        self._send_msg({"type": "joined", "role": self.role, **self._class()})

    def _watch_connection(self) -> None:
        """Keep the class informed whether this presenter's page is connected. A session outlives its page by about 20 seconds."""
        self.room.is_connected(self, True)
        document = pn.state.curdoc
        if document is None or document.session_context is None:
            return
        session = document.session_context.session

        def check() -> None:
            if not self._has_ended:  # the session outlives its page
                self.room.is_connected(self, session.connection_count > 0 and time.monotonic() - self._heard < SILENT)

        pn.state.add_periodic_callback(check, period=CHECK)

    def _present(self, key: str) -> None:
        self.role = "present"
        self._give_notes()

    def _give_notes(self) -> None:
        alone = self.role == "alone"
        self.notes = [html_of(stop.words if alone else stop.notes) for stop in self._walk.stops]

    def _send(self, *events: Any) -> None:
        for event in events:
            if event.name == "asked" and not event.new:
                continue
            said = {"type": event.name, event.name: event.new}
            if event.name in ("where", "kernel"):
                each = SECTION_SPREAD if event.name == "where" and BY_NAME[event.new["page"]].is_section else SPREAD
                said["spread"] = each * self.room.heads["follow"]
            self._send_msg(said)

    def _class(self) -> dict[str, Any]:
        room = self.room
        shared = {"where": room.where, "kernel": room.kernel, "present": room.present, "ended": room.ended}
        return shared if self.role == "follow" else shared | {"heads": room.heads, "began": room.began}


def join(query: Mapping[str, str]) -> WalkBar | None:
    """Return the walk bar for an address with `walk` and perhaps `class`, `key`, `stop`, `notes`; None if there is no such walk."""
    walk = find(query.get("walk", ""))
    if walk is None:
        return None
    code, key = query.get("class", ""), query.get("key", "")
    return WalkBar(
        walk,
        code=_UNKNOWN.sub("", code.lower())[:MOST_CODE] or ("none" if code else ""),  # a wrong code is a class that nobody presents
        key=key,
        start=_stop(query.get("stop"), len(walk.stops)),
        window="notes" if query.get("notes") and (code or key) else "page",
    )


def reachable(base: str) -> str:
    """Return an address with localhost replaced by this machine's network address, so that other machines can reach it."""
    parts = urlsplit(base)
    if parts.hostname not in LOOPBACK:
        return base
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("10.255.255.255", 9))  # selects the network interface; nothing is sent
            host = probe.getsockname()[0]
    except OSError:
        return base
    return parts._replace(netloc=f"{host}:{parts.port}" if parts.port else host).geturl()


def _unreachable(base: str) -> str:
    """Return why other machines cannot open the page at an address, and what to do; empty if they can, or if a proxy answers."""
    parts = urlsplit(base)
    if parts.hostname not in LOOPBACK or not _listens_here_only():
        return ""
    port = f" --port {parts.port}" if parts.port else ""
    return f"Only this computer can open the link: the server listens on localhost. Serve it to others: splatscope serve{port}"


def _listens_here_only() -> bool:
    """Return whether this server listens only on addresses that no other machine can reach."""
    loop = IOLoop.current(instance=False)
    sockets = [file for file, _ in loop.handlers.values() if isinstance(file, socket.socket)] if loop else []
    listening = [one for one in sockets if one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)]
    hosts = [one.getsockname()[0] for one in listening if one.family in (socket.AF_INET, socket.AF_INET6)]
    return bool(hosts) and all(ip_address(host).is_loopback for host in hosts)


def _stop(text: Any, count: int) -> int:
    return min(max(0, read_step(text)), count - 1)


def _valid(message: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Return the location in a presenter's message, with invalid parts replaced."""
    page = str(message.get("page"))
    return {
        "page": page if page in BY_NAME else "home",
        "step": read_step(message.get("step")),
        "inputs": str(message.get("inputs") or "")[:MAX_INPUTS],
        "stop": _stop(message.get("stop"), count),
        "show": str(message.get("show") or "")[:200],
    }
