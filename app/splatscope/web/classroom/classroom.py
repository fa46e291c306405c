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
    """`where` is told to each session in it by one small message."""

    code = param.String(constant=True, doc="As in the students' link")
    where = param.Dict(default={}, doc="page, step, inputs, stop and show of the presenter; empty before the first")
    asked = param.Integer(default=-1, doc="The stop that a presenter's second window asked for")
    heads = param.Dict(default={"follow": 0, "apart": 0}, doc="Students: how many `follow`, how many are `apart`")
    began = param.Number(default=0.0, doc="When the clock was started, in seconds since 1970; 0: not yet")

    def __init__(self, code: str):
        super().__init__(code=code)
        self._students: dict[object, bool] = {}

    def lead(self, where: dict[str, Any]) -> None:
        """The presenter stands here now. Equal to the last: nobody is told."""
        if where.get("stop") and not self.began:
            self.start_clock()
        self.where = where

    def start_clock(self) -> None:
        self.began = time.time()

    def ask(self, stop: int) -> None:
        """Asks the presenter's page for a stop, also for the one asked for last."""
        with param.parameterized.discard_events(self):
            self.asked = -1
        self.asked = stop

    def count(self, student: object, apart: bool | None) -> None:
        """A student is here, following or apart, or is gone (None)."""
        if apart is None:
            self._students.pop(student, None)
        else:
            self._students[student] = apart
        away = sum(self._students.values())
        self.heads = {"follow": len(self._students) - away, "apart": away}


_classes: WeakValueDictionary[str, Classroom] = WeakValueDictionary()


def classroom(code: str) -> Classroom:
    """The class of this code, the same for all who are in it."""
    return _classes.get(code) or _classes.setdefault(code, Classroom(code))


def code_of(key: str) -> str:
    """The class that a key may present to: twelve letters and digits, 60 bits of the key's hash."""
    letters = base64.b32encode(hashlib.sha256(f"splatscope class {key[:MOST_KEY]}".encode()).digest()).decode().lower()
    return "-".join(letters[i : i + 4] for i in (0, 4, 8))
