"""Two recordings side by side: a kernel as it was and with its fix, or one kernel on two devices."""

from typing import Any

import param

from splatscope.recordings.packed import PackedRecording
from splatscope.web.component import Component

# For the list of keys of a page that has a comparison. They act where no stepper is in view.
KEYS = [
    ("→ ←", "One event on, or back, in both"),
    ("Shift+→ Shift+←", "To the next or the last barrier"),
    ("Home End", "To the start, to the end"),
    ("D", "To the first difference"),
]


class Compare(Component):
    """Shows two recordings in lockstep, moved together, and where they part.

    `compare.wait("Recording both …")`, then `compare.show(first, second, names=("As it was", "With the fix"))`, each a
    PackedRecording of `services.recordings.record_source`; or `compare.fail("…")`. The browser looks, thread by thread in the order
    of the program, for the first event that differs, for the first value that does on the lines both sources have, and for the
    buffers that end up different; it opens at the first different value. `alignment` says what the two have in common at a moment:
    the number of the "event", or the "epoch" and the event's number in it.

    Root: `data-testid="compare"`, with `data-steps` once both are there, `data-step`, and `data-difference`: the first different
    event of each, counted from 1, "0,0" where there is none.
    """

    first = param.Bytes(default=b"", doc="What `recordings.wire.pack` made of the one")
    second = param.Bytes(default=b"", doc="… and of the other")
    first_meta = param.Dict(default={}, doc="Of the one: adapter, findings and the like")
    second_meta = param.Dict(default={}, doc="… and of the other")
    names = param.List(default=["First", "Second"], item_type=str, bounds=(2, 2), doc="What the two are called")
    alignment = param.Selector(default="epoch", objects=["event", "epoch"])
    sequence = param.Integer(default=0, doc="Number of the comparison, counted from 1")
    busy = param.String(default="", doc="What is waited for, in words")
    error = param.String(default="", doc="Why there is no comparison, in one line")

    def show(
        self, first: PackedRecording, second: PackedRecording, names: tuple[str, str] = ("First", "Second"), **params: Any
    ) -> None:
        """Shows two recordings, or the one line that says why one of them is missing."""
        wrong = first.meta.get("error", "") or second.meta.get("error", "")
        if wrong:
            self.fail(wrong)
            return
        params |= {"first": first.data, "first_meta": first.meta, "second": second.data, "second_meta": second.meta}
        self.param.update(busy="", error="", names=list(names), sequence=self.sequence + 1, **params)

    def wait(self, words: str = "Recording both …") -> None:
        """Says that recordings are being made."""
        self.param.update(busy=words, error="")

    def fail(self, words: str) -> None:
        """Says in one line why there is nothing to compare."""
        self.param.update(busy="", error=words)
