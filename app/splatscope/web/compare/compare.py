"""Two recordings side by side: a kernel before and after a fix, or one kernel on two devices."""

from typing import Any

import param

from splatscope.recordings.packed import Meta, PackedRecording
from splatscope.web.runtime.component import Component, Typed

# The list of keys for a page with a comparison. They act when no stepper is in view.
KEYS = [
    ("→ ←", "One event forward or back, in both"),
    ("Shift+→ Shift+←", "To the next or the previous barrier"),
    ("Home End", "To the start or the end"),
    ("D", "To the first difference"),
]


class Compare(Component):
    """Shows two recordings that are stepped together, and where they differ.

    The browser compares them thread by thread in program order. It finds the first event that differs, the first value that differs
    on a line that both sources have, and the buffers that differ at the end. It opens at the first different value. `alignment`
    determines which moments are shown together: those with the same "event" number, or with the same "epoch" and event within it.

    The root has `data-testid="compare"`, `data-step`, `data-steps` once both recordings are there, and `data-difference`: the first
    different event of each, counted from 1, or "0,0" if there is none.
    """

    first = param.Bytes(default=b"", doc="The first recording, from `recordings.wire.pack`")
    second = param.Bytes(default=b"", doc="The second recording")
    first_meta = Typed(Meta, default={}, doc="What is known of the first without its bytes")
    second_meta = Typed(Meta, default={}, doc="The same of the second")
    names = Typed(tuple[str, str], default=("First", "Second"), doc="Their names")
    alignment = param.Selector(default="epoch", objects=["event", "epoch"])
    sequence = param.Integer(default=0, doc="Number of the comparison, counted from 1")
    busy = param.String(default="", doc="What is being waited for")
    error = param.String(default="", doc="Why there is no comparison, in one line")

    def show(
        self, first: PackedRecording, second: PackedRecording, names: tuple[str, str] = ("First", "Second"), **params: Any
    ) -> None:
        """Show two recordings, or the reason why one of them is missing."""
        error = first.meta.get("error", "") or second.meta.get("error", "")
        if error:
            self.fail(error)
            return
        params |= {"first": first.data, "first_meta": first.meta, "second": second.data, "second_meta": second.meta}
        self.param.update(busy="", error="", names=list(names), sequence=self.sequence + 1, **params)

    def wait(self, words: str = "Recording both …") -> None:
        """Show that recordings are being made."""
        self.param.update(busy=words, error="")

    def fail(self, words: str) -> None:
        """Show in one line why there is no comparison."""
        self.param.update(busy="", error=words)
