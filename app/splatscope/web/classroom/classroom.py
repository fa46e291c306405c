"""The state that the sessions of one class share, such as where the presenter is.

A class exists in one server process as long as somebody is in it, and for some hours in a file, so that it goes on after a restart.
Anyone with the key can present. The students' link contains a code: a hash of the key, from which the key cannot be derived.
"""

import base64
import hashlib
import json
import logging
import time
from collections.abc import Hashable
from typing import Any
from weakref import WeakValueDictionary

import param

from splatscope.web.classroom.attendance import Attendance
from splatscope.web.durable_files import DurableFiles
from splatscope.web.shell.pages import BY_NAME

log = logging.getLogger(__name__)

MAX_KEY = 200  # characters
VERSION = 1  # of a class's file
MOST_STORED, MOST_STORED_BYTES = 64, 32 * 2**20
STORED = ("where", "kernel", "ended", "began")


class Classroom(param.Parameterized):
    """The state shared by the presenter's and the students' sessions. Each session watches the parts that its browser needs."""

    code = param.String(constant=True, doc="The code in the students' link")
    where = param.Dict(default={}, doc="The presenter's page, step, inputs, stop and show; empty at first")
    kernel = param.String(default="", doc="The presenter's kernel, as in the debugger's address; empty if it does not fit into one")
    asked = param.Dict(default={}, doc="The `stop` that the presenter's second window requests, or a `page` beside it; else empty")
    present = param.Boolean(default=False, doc="Whether a presenter's page is connected")
    ended = param.Boolean(default=False, doc="Whether the presenter has stopped and not returned")
    began = param.Number(default=0.0, doc="When the clock was started, in seconds since 1970; 0 if it was not")

    def __init__(self, code: str):
        super().__init__(code=code)
        self.attendance = Attendance()
        self._presenters: set[object] = set()
        self._sessions: dict[Hashable, set[object]] = {}  # by student, the sessions of their tabs

    def lead(self, where: dict[str, Any]) -> None:
        """Set where the presenter is. Leaving the first stop starts the clock."""
        if where.get("stop") and not self.began:
            self.start_clock()
        self.where = where

    def start_clock(self) -> None:
        """Start or restart the clock."""
        self.began = time.time()

    def ask(self, stop: int, page: str = "") -> None:
        """Ask the presenter's page to go to a stop, or to a page outside the walk, even if it is the one last asked for."""
        with param.parameterized.discard_events(self):
            self.asked = {}
        self.asked = {"stop": stop, "page": page}

    def is_connected(self, presenter: object, connected: bool) -> None:
        """Note whether the page of a presenter's session is connected."""
        (self._presenters.add if connected else self._presenters.discard)(presenter)
        self.param.update(present=bool(self._presenters), ended=self.ended and not self._presenters)

    def end(self, presenter: object) -> None:
        """Note that a presenter has stopped. The class has ended unless another one presents."""
        self._presenters.discard(presenter)
        self.param.update(present=bool(self._presenters), ended=not self._presenters)

    def count(self, student: Hashable, session: object, apart: bool | None) -> None:
        """Count a student as following (False), apart (True), or gone (None).

        A student has a session for each tab, and briefly one more while a tab reloads. A student is gone when all of them have
        ended. Of several tabs, the one that sent a message last counts.
        """
        sessions = self._sessions.setdefault(student, set())
        if apart is not None:
            sessions.add(session)
            self.attendance.came(student, apart)
        else:
            sessions.discard(session)
        if not sessions:
            del self._sessions[student]
            self.attendance.left(student)

    def store(self) -> None:
        """Have the class outlive the server, once it has begun."""
        if self.where:
            durable.save(self.code, self._described)

    def _described(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in STORED}
        return {"version": VERSION, **values, "attendance": self.attendance.described()}

    def _restore(self, described: dict[str, Any]) -> None:
        if described["version"] != VERSION or described["where"]["page"] not in BY_NAME:
            return
        self.param.update({name: described[name] for name in STORED})
        self.attendance.restore(described["attendance"])


_classes: WeakValueDictionary[str, Classroom] = WeakValueDictionary()
durable: DurableFiles[dict[str, Any]] = DurableFiles(
    "classes", lambda described: json.dumps(described).encode(), MOST_STORED, MOST_STORED_BYTES
)


def classroom(code: str) -> Classroom:
    """Return the class with this code, the same object for all its sessions."""
    return _classes.get(code) or _classes.setdefault(code, _restored(code))


def _restored(code: str) -> Classroom:
    """Return a class as it was before the server restarted, or else a new one."""
    room, stored = Classroom(code), durable.read(code)
    try:
        if stored is not None:
            room._restore(json.loads(stored))
    except (ValueError, LookupError, TypeError) as error:  # of another version, or incomplete
        log.warning("A class could not be restored: %s", type(error).__name__)
        return Classroom(code)
    return room


def code_of(key: str) -> str:
    """Return the code of the class that a key belongs to: twelve letters and digits, 60 bits of the key's hash."""
    letters = base64.b32encode(hashlib.sha256(f"splatscope class {key[:MAX_KEY]}".encode()).digest()).decode().lower()
    return "-".join(letters[i : i + 4] for i in (0, 4, 8))
