"""The walk bar of a session. The session reads a walk alone, follows a class, or presents to one."""

import re
import socket
import time
from collections.abc import Hashable, Mapping
from ipaddress import ip_address
from typing import Any, TypedDict
from urllib.parse import parse_qsl, urlencode, urlsplit

import panel as pn
import param
import segno
from bokeh.server.contexts import BokehSessionContext
from tornado.ioloop import IOLoop
from tornado.platform.asyncio import BaseAsyncIOLoop

from splatscope.exercises.marking import Mark
from splatscope.textbook.markdown import html_of
from splatscope.web.classroom.classroom import Classroom, classroom, code_of
from splatscope.web.classroom.walks import Walk, find
from splatscope.web.lesson_page.inputs import Inputs
from splatscope.web.lesson_results.offer import Offer
from splatscope.web.runtime.component import Component, Typed
from splatscope.web.runtime.receivers import receives
from splatscope.web.shell.pages import BY_NAME, entry_of
from splatscope.web.shell.router import UNNAMED, read_inputs, read_step
from splatscope.workers.cluster import LOOPBACK

# Seconds between two students' requests for a page, so that they do not delay the presenter. A section is the same for all
# students; any other page is built for each.
SECTION_SPREAD, SPREAD = 0.01, 0.05
MOST_SPREAD = 5.0  # seconds, however many students there seem to be
MAX_INPUTS = 4000  # characters of inputs that a presenter's page may send
MAX_BASE = 500  # characters of the address at which a presenter's browser sees the app
MAX_BROWSER = 40  # characters of the name that a browser gives itself
CHECK = 1000  # ms between two checks whether the presenter's page is connected
SILENT = 90.0  # seconds without a message before it counts as gone; it sends one every 2, in the background every 60
_KERNEL = re.compile(r"#kernel=[\w-]{1,16000}", re.ASCII)  # as in the debugger's address
# What a session may send, by its role.
MESSAGES = {
    "alone": (),
    "follow": ("join", "apart", "answered"),
    "present": ("join", "look", "here", "lead", "kernel", "ask", "clock", "end"),
}
STORED = ("join", "answered", "lead", "kernel", "clock", "end")  # those that change what outlives the server
MOST_CODE = 40  # characters of a class's code; a valid one has 14
_UNKNOWN = re.compile("[^a-z0-9-]")  # characters that no code contains


class PublicStop(TypedDict):
    """A `WalkStop` without its notes.

    Attributes:
        press: How often → is pressed; -1 for not at all.
        show: What to scroll into view; "" for the top.
    """

    title: str
    page: str
    inputs: str
    press: int
    show: str
    minutes: float


class WalkBar(Component):
    """The bar above the pages of a walk, or the notes in a presenter's second window.

    A presenter's browser sends its location (`lead`), which is passed on to the students' browsers. Only a session with the key can
    lead. Students do not receive the notes.
    """

    walk = param.String(doc="The walk's name, as in the address")
    title = param.String(doc="The walk's title")
    stops = Typed(list[PublicStop], default=[], doc="The stops in order")
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
        self._student: Hashable | None = None  # who is counted for this session
        self._place = ("", 0, "")
        self._read: tuple[str, dict[str, str]] = ("", {})  # the page and query whose inputs are known
        self._inputs = ""
        self._heard = 0.0
        self._has_ended = False
        self.code = code_of(key) if key else code
        self.room = classroom(self.code) if self.code else None
        if key:
            self._present(key)
        elif not self.code:
            self._give_notes()

    @property
    def _class(self) -> Classroom:
        """The class that this session follows or presents to."""
        assert self.room is not None
        return self.room

    def begins(self, page: str, step: int, inputs: dict[str, str]) -> tuple[str, int, dict[str, str]]:
        """Return the page, step and inputs to begin with: the address's, else the presenter's, else a stop's."""
        if page:
            return page, step, inputs
        where = self.room.where if self.room else {}
        if where and (where["page"] != "debugger" or self._class.kernel):
            return where["page"], where["step"], read_inputs(dict(parse_qsl(where["inputs"])))
        stop = self._walk.stops[min(where.get("stop", self.start), len(self._walk.stops) - 1)]
        return stop.page, UNNAMED, dict(parse_qsl(stop.inputs))

    def is_at(self, page: str, step: int, inputs: Mapping[str, str]) -> None:
        """Note where this session is, for the presenter's numbers."""
        name = entry_of(page).name
        if (name, inputs) != self._read:
            self._read = name, dict(inputs)
            self._inputs = Inputs.of(name, inputs).address if BY_NAME[name].is_section else ""
        self._place = name, step, self._inputs
        if self._student is not None:
            self._class.attendance.is_at(self._student, *self._place)

    def marked(self, mark: Mark) -> None:
        """Note how a kernel was marked that this session has sent, for the presenter's numbers."""
        if self._student is not None:
            self._class.attendance.marked(self._student, mark)
            self._class.store()

    def close(self) -> None:
        """Leave the class."""
        self._leave()
        if self.room:
            self.room.is_connected(self, False)

    def _leave(self) -> None:
        for watcher in self._watched:
            self._class.param.unwatch(watcher)
        self._watched.clear()
        if self._student is not None:
            self._class.count(self._student, self, None)
        self._student = None

    def receive(self, message: Any) -> None:
        """Receive a message of a kind that this role may send."""
        self._heard = time.monotonic()
        kind = message.get("type") if isinstance(message, dict) else None
        if kind in MESSAGES[self.role]:
            super().receive(message)
            if kind in STORED:
                self._class.store()

    @receives("join")
    def _join(self, key: str = "", base: str = "", browser: str = "") -> None:
        """Join the class when the page has loaded. The browser sends the key if it remembers one.

        `browser` identifies a student's browser, so that one with two tabs is counted once. It grants no rights.
        """
        if key and self.role != "present" and code_of(key) == self.code:
            self._leave()
            self._present(key)
        if self.role == "present" and (address := app_address(base)):
            link = f"{reachable(address)}?walk={self.walk}&class={self.code}"
            if link != self.link:
                code = segno.make(link, error="m", micro=False)
                self.link, self.qr = link, code.svg_inline(border=2, omitsize=True, dark="#000", light="#fff")
            self.unreachable = _unreachable(address)
        if not self._watched:
            follow, shared, own = self.role == "follow", ["kernel", "where", "present", "ended"], ["began", "asked"]
            self._watched.append(self._class.param.watch(self._send, [*shared, *([] if follow else own)]))
            if follow:
                self._student = browser[:MAX_BROWSER] or object()
                self._class.count(self._student, self, False)
                self._class.attendance.is_at(self._student, *self._place)
            elif self.window == "page":
                self._watch_connection()
        self.send({"type": "joined", "role": self.role, **self._state()})

    @receives("apart")
    def _go_apart(self, apart: bool) -> None:
        if self._student is not None:
            self._class.count(self._student, self, apart)

    @receives("answered")
    def _answer(self, option: str, offer: str) -> None:
        """Count an answer or a bet, if it is one of the options that a server with this key has offered."""
        opened_offer = Offer.opened(offer)
        if opened_offer is not None and self._student is not None:
            self._class.attendance.answered(self._student, option, opened_offer)

    @receives("here")
    def _stay(self) -> None:
        """Note nothing but that the page is connected: it is in the background."""

    @receives("look")
    def _look(self) -> None:
        students = self._class.attendance
        self.send({"type": "class", "class": students.summary(self._class.where), "heads": students.heads})

    @receives("lead")
    def _lead(self, page: str, step: Any = UNNAMED, inputs: str = "", stop: Any = 0) -> None:
        """Tell the class where the presenter is. What the stop shows is shown on its own page only."""
        name, number = entry_of(page).name, _stop(stop, len(self.stops))
        walk_stop = self._walk.stops[number]
        self._class.lead(
            {
                "page": name,
                "step": read_step(step),
                "inputs": _address(name, inputs),
                "stop": number,
                "show": walk_stop.show if name == walk_stop.page else "",
            }
        )

    @receives("kernel")
    def _open(self, kernel: str = "") -> None:
        self._class.kernel = kernel if _KERNEL.fullmatch(kernel) else ""

    @receives("ask")
    def _ask(self, stop: Any = 0, page: str = "") -> None:
        self._class.ask(_stop(stop, len(self.stops)), "exercises" if page == "exercises" else "")

    @receives("clock")
    def _start_clock(self) -> None:
        self._class.start_clock()

    @receives("end")
    def _end(self) -> None:
        if self.window == "page":
            self._has_ended = True
            self._class.end(self)

    def _watch_connection(self) -> None:
        """Keep the class informed whether this presenter's page is connected. A session outlives its page by about 20 seconds."""
        self._class.is_connected(self, True)
        document = pn.state.curdoc
        context = document.session_context if document else None
        session = context.session if isinstance(context, BokehSessionContext) else None
        if session is None:
            return

        def check() -> None:
            if not self._has_ended:  # the session outlives its page
                self._class.is_connected(self, session.connection_count > 0 and time.monotonic() - self._heard < SILENT)

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
            message = {"type": event.name, event.name: event.new}
            if event.name in ("where", "kernel"):
                spread = SECTION_SPREAD if event.name == "where" and BY_NAME[event.new["page"]].is_section else SPREAD
                message["spread"] = min(MOST_SPREAD, spread * self._class.attendance.heads["follow"])
            self.send(message)

    def _state(self) -> dict[str, Any]:
        room = self._class
        shared = {"where": room.where, "kernel": room.kernel, "present": room.present, "ended": room.ended}
        return shared if self.role == "follow" else shared | {"heads": room.attendance.heads, "began": room.began}


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


def app_address(base: str) -> str:
    """Return the address of the app from what a browser says it is, without anything that only looks like it; "" if it is none."""
    try:
        parts = urlsplit(base[: MAX_BASE + 1])
        _ = parts.port
    except ValueError:
        return ""
    if len(base) > MAX_BASE or not base.isascii() or parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


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
    files = [file for file, _ in loop.handlers.values()] if isinstance(loop, BaseAsyncIOLoop) else []
    sockets = [file for file in files if isinstance(file, socket.socket)]
    listening = [sock for sock in sockets if sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)]
    hosts = [sock.getsockname()[0] for sock in listening if sock.family in (socket.AF_INET, socket.AF_INET6)]
    return bool(hosts) and all(ip_address(host).is_loopback for host in hosts)


def _stop(text: Any, count: int) -> int:
    return min(max(0, read_step(text)), count - 1)


def _address(page: str, inputs: str) -> str:
    """Return the inputs of a page as in its address, from those that a presenter's browser has sent."""
    query = read_inputs(dict(parse_qsl(inputs, keep_blank_values=True))) if len(inputs) <= MAX_INPUTS else {}
    return Inputs.of(page, query).address if BY_NAME[page].is_section else urlencode(query)
