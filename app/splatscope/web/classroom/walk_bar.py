"""The walk bar of a session, which reads a walk alone, follows a class, or presents to it."""

import re
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import param
import segno

from splatscope.textbook.markdown import html_of
from splatscope.web.classroom.classroom import classroom, code_of
from splatscope.web.classroom.walks import Walk, find
from splatscope.web.component import Component
from splatscope.web.shell.pages import BY_NAME
from splatscope.web.shell.router import read_inputs, read_step

# Seconds between two students' requests for a page, so that they do not delay the presenter's: a section is the same for all, any
# other page is made for each.
SECTION_SPREAD, SPREAD = 0.01, 0.05
MAX_INPUTS = 4000  # characters of inputs that a presenter's page may send
_CODE = re.compile(r"^[a-z2-7]{4}(-[a-z2-7]{4}){2}$")


class WalkBar(Component):
    """The bar above the pages of a walk, or the notes in a presenter's second window.

    A presenter's browser sends its location (`lead`), which is passed on to the students' browsers. Only a session that has the
    key can lead. Students do not receive the notes.
    """

    walk = param.String(doc="The walk's name, as in the address")
    title = param.String(doc="The walk's title")
    stops = param.List(default=[], item_type=dict, doc="Each `WalkStop` as a dict, without its notes")
    notes = param.List(
        default=[], item_type=str, doc="The notes of each stop, for a lone reader its words, HTML; none for students"
    )
    role = param.Selector(default="alone", objects=["alone", "follow", "present"])
    window = param.Selector(default="page", objects=["page", "notes"], doc="The content of this window")
    code = param.String(doc="The class's code; empty without a class")
    start = param.Integer(default=0, bounds=(0, None), doc="The stop at which this session begins")
    teaches = param.Boolean(default=True, doc="Whether there is a server over which to present; without one, the notes are open")
    link = param.String(doc="The students' link, for a presenter")
    qr = param.String(doc="The link as a QR code, SVG")

    def __init__(self, walk: Walk, code: str = "", key: str = "", **params: Any):
        stops = [{name: value for name, value in vars(stop).items() if name != "notes"} for stop in walk.stops]
        super().__init__(walk=walk.name, title=walk.title, stops=stops, role="follow" if code or key else "alone", **params)
        self._walk = walk
        self._watched: list[Any] = []
        self.code = code_of(key) if key else code
        self.room = classroom(self.code) if self.code else None
        if key:
            self._present(key)
        elif not self.code:
            self._give_notes()

    def begins(self, page: str, step: int, inputs: dict[str, str]) -> tuple[str, int, dict[str, str]]:
        """Return the page, step and inputs to begin with: those of the address, else of the presenter, else of the first stop."""
        if page:
            return page, step, inputs
        if self.room and self.room.where:
            where = self.room.where
            return where["page"], where["step"], read_inputs(dict(parse_qsl(where["inputs"])))
        stop = self._walk.stops[min(self.start, len(self._walk.stops) - 1)]
        return stop.page, 0, dict(parse_qsl(stop.inputs))

    def is_at(self, page: str, step: int) -> None:
        """Take in where this session is, for the presenter's numbers."""
        if self.room and self.role == "follow":
            self.room.attendance.is_at(self, page, step)

    def close(self) -> None:
        """Leave the class."""
        for watcher in self._watched:
            self.room.param.unwatch(watcher)
        self._watched.clear()
        if self.room and self.role == "follow":
            self.room.count(self, None)

    def _handle_msg(self, message: dict[str, Any]) -> None:
        room, kind = self.room, message.get("type")
        if room is None:
            return
        if kind == "join":
            self._join(str(message.get("key") or ""), str(message.get("base") or ""))
        elif kind == "apart" and self.role == "follow":
            room.count(self, bool(message.get("apart")))
        elif kind == "answered" and self.role == "follow":
            room.attendance.answered(self, str(message.get("page")), str(message.get("question")), message.get("right") is True)
        elif kind == "marked" and self.role == "follow":
            heading = str(message.get("heading") or "")
            room.attendance.marked(self, str(message.get("task")), message.get("passed") is True, heading)
        elif self.role == "present" and kind == "look":
            self._send_msg({"type": "class", "class": room.attendance.summary(room.where)})
        elif self.role == "present" and kind == "lead":
            room.lead(_valid(message, len(self.stops)))
        elif self.role == "present" and kind == "ask":
            room.ask(_stop(message.get("stop"), len(self.stops)))
        elif self.role == "present" and kind == "clock":
            room.start_clock()

    def _join(self, key: str, base: str) -> None:
        """Join the class when the page has loaded. The browser sends the key if it remembers one."""
        if key and self.role != "present" and code_of(key) == self.code:
            self._present(key)
        if self.role == "present" and base.startswith(("http://", "https://")):
            self.link = f"{reachable(base[:500])}?walk={self.walk}&class={self.code}"
            self.qr = segno.make(self.link, error="m", micro=False).svg_inline(border=2, omitsize=True, dark="#000", light="#fff")
        if not self._watched:
            follow = self.role == "follow"
            self._watched.append(self.room.param.watch(self._send, ["where"] if follow else ["where", "heads", "began", "asked"]))
            if follow:
                self.room.count(self, False)
        self._send_msg({"type": "joined", "role": self.role, **self._class()})

    def _present(self, key: str) -> None:
        self.role = "present"
        self._give_notes()

    def _give_notes(self) -> None:
        alone = self.role == "alone"
        self.notes = [html_of(stop.words if alone else stop.notes) for stop in self._walk.stops]

    def _send(self, *events: Any) -> None:
        for event in events:
            if event.name == "asked" and event.new < 0:
                continue
            said = {"type": event.name, event.name: event.new}
            if event.name == "where":
                each = SECTION_SPREAD if BY_NAME[event.new["page"]].is_section else SPREAD
                said["spread"] = each * self.room.heads["follow"]
            self._send_msg(said)

    def _class(self) -> dict[str, Any]:
        room = self.room
        if self.role == "follow":
            return {"where": room.where}
        return {"where": room.where, "heads": room.heads, "began": room.began}


def join(query: Mapping[str, str]) -> WalkBar | None:
    """Return the walk bar for an address with `walk` and perhaps `class`, `key`, `stop`, `notes`; None if there is no such walk."""
    walk = find(query.get("walk", ""))
    if walk is None:
        return None
    code, key = query.get("class", ""), query.get("key", "")
    return WalkBar(
        walk,
        code=code if _CODE.match(code) else "",
        key=key,
        start=_stop(query.get("stop"), len(walk.stops)),
        window="notes" if query.get("notes") and (code or key) else "page",
    )


def reachable(base: str) -> str:
    """Return an address with localhost replaced by this machine's network address, so that other machines can reach it."""
    parts = urlsplit(base)
    if parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        return base
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("10.255.255.255", 9))  # selects the network interface; nothing is sent
            host = probe.getsockname()[0]
    except OSError:
        return base
    return parts._replace(netloc=f"{host}:{parts.port}" if parts.port else host).geturl()


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
