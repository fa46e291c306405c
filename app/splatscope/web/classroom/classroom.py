"""What the sessions of one class share: where its presenter is.

A class lives in one server process, as long as somebody is in it. Whoever holds the key presents; the students' link holds
the code made from it, from which the key cannot be found.
"""

import base64
import hashlib
import time
from typing import Any
from weakref import WeakValueDictionary

import param

MOST_KEY = 200  # characters


class Classroom(param.Parameterized):
    """The state that a presenter's and the students' sessions share; each watches what it has to send to its browser."""

    code = param.String(constant=True, doc="As in the students' link")
    where = param.Dict(default={}, doc="page, step, inputs, stop and show of the presenter; empty before the first")
    asked = param.Integer(default=-1, doc="The stop that a presenter's second window asked for")
    heads = param.Dict(default={"follow": 0, "apart": 0}, doc="Students: how many `follow`, how many are `apart`")
    began = param.Number(default=0.0, doc="When the clock was started, in seconds since 1970; 0: not yet")

    def __init__(self, code: str):
        super().__init__(code=code)
        self._students: dict[object, bool] = {}

    def lead(self, where: dict[str, Any]) -> None:
        """Set where the presenter is, and start the clock at the first stop after the first. Watchers are called if it differs."""
        if where.get("stop") and not self.began:
            self.start_clock()
        self.where = where

    def start_clock(self) -> None:
        """Start the clock, or start it anew."""
        self.began = time.time()

    def ask(self, stop: int) -> None:
        """Ask the presenter's page to go to a stop, also to the one asked for last."""
        with param.parameterized.discard_events(self):
            self.asked = -1
        self.asked = stop

    def count(self, student: object, apart: bool | None) -> None:
        """Count a student as following or apart, or as gone (None)."""
        if apart is None:
            self._students.pop(student, None)
        else:
            self._students[student] = apart
        away = sum(self._students.values())
        self.heads = {"follow": len(self._students) - away, "apart": away}


_classes: WeakValueDictionary[str, Classroom] = WeakValueDictionary()


def classroom(code: str) -> Classroom:
    """Return the class of this code, the same object for all sessions in it."""
    return _classes.get(code) or _classes.setdefault(code, Classroom(code))


def code_of(key: str) -> str:
    """Return the code of the class that a key may present to: twelve letters and digits, 60 bits of the key's hash."""
    letters = base64.b32encode(hashlib.sha256(f"splatscope class {key[:MOST_KEY]}".encode()).digest()).decode().lower()
    return "-".join(letters[i : i + 4] for i in (0, 4, 8))
