"""What a kernel did: a table of events by column, a table of sites, and a header; and its file."""

import dataclasses
import io
import json
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from splatscope.gpu.slang_types import SlangType
from splatscope.tracing.instrument.runtime import NO_SLOT
from splatscope.tracing.sites import Site

_COLUMNS = ("thread", "site", "slot", "index", "words", "flags")
VERSION = 1


@dataclass
class Trace:
    """Events in each thread's program order, thread by thread; `order` sorts them as the device had them.

    All columns are uint32, one entry for each event:

    - `thread`: its number in the workgroup, or through all workgroups, `header["lanes"]` to each, if `header["all_groups"]`;
    - `site`: a row of `sites`;
    - `slot`: the device's order of accesses, atomics and barriers; NO_SLOT for other events;
    - `index`: the element that was accessed, rows flattened;
    - `words`, (events, w): the value, as `SlangType.values` reads it for the type of its site;
    - `flags`: 1, the index was out of bounds; 2, a backward pass ran this again;
    - `shared_epoch`, `device_epoch`: how many barriers that order this memory its thread has passed.
    """

    header: dict
    sites: list[Site]
    thread: np.ndarray
    site: np.ndarray
    slot: np.ndarray
    index: np.ndarray
    words: np.ndarray
    flags: np.ndarray
    shared_epoch: np.ndarray = field(init=False)
    device_epoch: np.ndarray = field(init=False)

    def __post_init__(self):
        def passed(*spaces: str) -> np.ndarray:
            waits = self.at(lambda s: s.kind == "resume" and s.name.endswith("WithGroupSync") and s.space in spaces)
            return self.count(waits)

        self.shared_epoch, self.device_epoch = passed("shared", "both"), passed("device", "both")

    def __len__(self) -> int:
        return len(self.thread)

    @property
    def kinds(self) -> np.ndarray:
        """The kind of each event's site."""
        return np.array([site.kind for site in self.sites])[self.site]

    def at(self, says: Callable[[Site], bool]) -> np.ndarray:
        """Return of each event whether its site is so, (events,) bool."""
        return np.array([says(site) for site in self.sites], bool)[self.site]

    def count(self, marks: np.ndarray) -> np.ndarray:
        """Return how many marked events each event's thread has made by then, the event included, (events,) uint32."""
        total = np.cumsum(marks)
        before = np.maximum.accumulate(np.where(self._starts, total - marks, 0))
        return (total - before).astype(np.uint32)

    @property
    def _starts(self) -> np.ndarray:
        """The first event of each thread."""
        return np.r_[True, self.thread[1:] != self.thread[:-1]] if len(self) else np.zeros(0, bool)

    @cached_property
    def order(self) -> np.ndarray:
        """Event numbers as the device had them: what has no slot comes right after what its thread did before."""
        ticked = self.slot != NO_SLOT
        latest = np.maximum.accumulate(np.where(ticked | self._starts, np.arange(len(self)), 0))
        key = np.where(ticked, self.slot.astype(np.int64), -1)[latest]
        return np.argsort(key, kind="stable")  # a slot has one thread, and events stand in their thread's order

    def value(self, event: int) -> list[float | int] | None:
        """Return an event's value as numbers, None where its type is not recorded."""
        type_ = SlangType.parse(self.sites[self.site[event]].type)
        return type_.values(self.words[event]).tolist() if type_ else None

    def save(self) -> bytes:
        """Return one .npz: the columns, no wider than each needs, with sites and header as JSON. See docs/file-formats.md."""
        about = {"header": self.header, "sites": [dataclasses.asdict(site) for site in self.sites]}
        file = io.BytesIO()
        np.savez_compressed(
            file,
            about=np.frombuffer(json.dumps(about).encode(), np.uint8),
            thread=_narrow(self.thread),
            site=_narrow(self.site),
            slot=self.slot,
            index=_narrow(self.index),
            words=self.words,
            flags=_narrow(self.flags),
        )
        return file.getvalue()

    @classmethod
    def load(cls, data: bytes) -> "Trace":
        """Read what `save` wrote.

        Raises:
            ValueError: it is not such a file.
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                about = json.loads(file["about"].tobytes())
                sites = [Site(**(site | {"dims": tuple(site["dims"])})) for site in about["sites"]]
                columns = {name: file[name].astype(np.uint32) for name in _COLUMNS}
            events = len(columns["thread"])
            fits = all(len(column) == events and column.ndim == 1 + (name == "words") for name, column in columns.items())
            if not fits or int(columns["site"].max(initial=0)) >= len(sites) or about["header"]["version"] != VERSION:
                raise ValueError
            return cls(about["header"], sites, **columns)
        except (KeyError, TypeError, IndexError, AttributeError, OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error):
            raise ValueError("This is not a Splatscope recording of this version, or it is cut short.") from None

    @staticmethod
    def header_of(file: Path) -> dict[str, Any]:
        """Return the header alone of a trusted file that `save` wrote, without unpacking its columns."""
        with np.load(file, allow_pickle=False) as arrays:
            return json.loads(arrays["about"].tobytes())["header"]

    def of_group(self, number: int) -> tuple["Trace", int]:
        """Return one workgroup of a recording of all, as if it had been recorded alone, and the number of its first event."""
        lanes, (across, down, _) = self.header["lanes"], self.header["groups"]
        start, end = np.searchsorted(self.thread, (number * lanes, (number + 1) * lanes)).tolist()
        cut = [thread - number * lanes for thread in self.header.get("cut_threads", []) if thread // lanes == number]
        group = [number % across, number // across % down, number // (across * down)]
        header = self.header | {"all_groups": False, "group": group, "threads": lanes, "cut_threads": cut}
        columns = {name: getattr(self, name)[start:end] for name in _COLUMNS}
        columns["thread"] = columns["thread"] - np.uint32(number * lanes)
        return Trace(header, self.sites, **columns), start

    @property
    def group_and_lane(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each event, the number of its workgroup in the dispatch (x fastest) and its thread's number within."""
        if self.header.get("all_groups"):
            return np.divmod(self.thread, np.uint32(self.header["lanes"]))
        (x, y, z), (across, down, _) = self.header["group"], self.header["groups"]
        return np.full(len(self), (z * down + y) * across + x, np.uint32), self.thread


def _narrow(column: np.ndarray) -> np.ndarray:
    return column.astype(np.min_scalar_type(int(column.max(initial=0))))
