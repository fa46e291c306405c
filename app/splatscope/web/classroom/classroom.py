"""The state that the sessions of one class share, such as where the presenter is.

A class exists in one server process as long as somebody is in it. Whoever has the key can present. The students' link contains a
code, a hash of the key from which the key cannot be derived.
"""

import base64
import hashlib
import time
from typing import Any
from weakref import WeakValueDictionary

import param

from splatscope.web.classroom.attendance import Attendance

MAX_KEY = 200  # characters


class Classroom(param.Parameterized):
    """The state shared by the presenter's and the students' sessions. Each session watches what it must send to its browser."""

    code = param.String(constant=True, doc="The code in the students' link")
    where = param.Dict(default={}, doc="The presenter's page, step, inputs, stop and show; empty at first")
    asked = param.Integer(default=-1, doc="The stop requested by the presenter's second window; -1 for none")
    heads = param.Dict(default={"follow": 0, "apart": 0}, doc="The number of students who `follow`, and of those `apart`")
    began = param.Number(default=0.0, doc="When the clock was started, in seconds since 1970; 0 if it was not")

    def __init__(self, code: str):
        super().__init__(code=code)
        self.attendance = Attendance()

    def lead(self, where: dict[str, Any]) -> None:
        """Set where the presenter is. Leaving the first stop starts the clock."""
        if where.get("stop") and not self.began:
            self.start_clock()
        self.where = where

    def start_clock(self) -> None:
        """Start or restart the clock."""
        self.began = time.time()

    def ask(self, stop: int) -> None:
        """Ask the presenter's page to go to a stop, even if it is the one last asked for."""
        with param.parameterized.discard_events(self):
            self.asked = -1
        self.asked = stop

    def count(self, student: object, apart: bool | None) -> None:
        """Count a student as following (False), apart (True), or gone (None)."""
        if apart is None:
            self.attendance.left(student)
        else:
            self.attendance.came(student, apart)
        self.heads = self.attendance.heads


_classes: WeakValueDictionary[str, Classroom] = WeakValueDictionary()


def classroom(code: str) -> Classroom:
    """Return the class with this code, the same object for all its sessions."""
    return _classes.get(code) or _classes.setdefault(code, Classroom(code))


def code_of(key: str) -> str:
    """Return the code of the class that a key belongs to: twelve letters and digits, 60 bits of the key's hash."""
    letters = base64.b32encode(hashlib.sha256(f"splatscope class {key[:MAX_KEY]}".encode()).digest()).decode().lower()
    return "-".join(letters[i : i + 4] for i in (0, 4, 8))
