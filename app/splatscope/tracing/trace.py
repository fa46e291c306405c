"""A trace of what a kernel did: a table of events by column, a table of sites, how it was run, and the verdict.

`recordings/recording_file.py` saves it with its inputs and outputs.
"""

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
from splatscope.tracing.run_info import RunInfo
from splatscope.tracing.sites import Site
from splatscope.tracing.verdict import Verdict

_COLUMNS = ("thread", "site", "slot", "index", "words", "flags")
VERSION = 1


@dataclass
class Trace:
    """Events in program order, thread by thread; `order` gives the device's order.

    All columns are uint32, with one entry for each event:

    - `thread`: its number in the workgroup or, if `info.all_groups`, in the dispatch, with `info.threads_per_group` per workgroup;
    - `site`: a row of `sites`;
    - `slot`: the device's order of accesses, atomics and barriers; NO_SLOT for other events;
    - `index`: the flat index of the accessed element, row-major;
    - `words`, (events, w): the value, as `SlangType.values` reads it for the type of its site;
    - `flags`: 1, the index was out of bounds; 2, a backward pass ran this again;
    - `shared_epoch`, `device_epoch`: the number of barriers for this memory that its thread has passed.

    `info` says how the kernel was run, and `verdict` what is said of it beside its findings.
    """

    info: RunInfo
    sites: list[Site]
    thread: np.ndarray
    site: np.ndarray
    slot: np.ndarray
    index: np.ndarray
    words: np.ndarray
    flags: np.ndarray
    verdict: Verdict = field(default_factory=Verdict)
    shared_epoch: np.ndarray = field(init=False)
    device_epoch: np.ndarray = field(init=False)

    def __post_init__(self):
        def passed(*spaces: str) -> np.ndarray:
            waits = self.at(lambda s: s.kind == "resume" and s.name.endswith("WithGroupSync") and s.space in spaces)
            return self.events_so_far(waits)

        self.shared_epoch, self.device_epoch = passed("shared", "both"), passed("device", "both")

    def __len__(self) -> int:
        return len(self.thread)

    @property
    def kinds(self) -> np.ndarray:
        """The kind of each event's site."""
        return self.kinds_of(slice(None))

    def kinds_of(self, events: np.ndarray | slice) -> np.ndarray:
        """Return the kinds of the sites of some events."""
        return np.array([site.kind for site in self.sites])[self.site[events]]

    def at(self, says: Callable[[Site], bool]) -> np.ndarray:
        """Return a mask of the events whose site satisfies a predicate, (events,) bool."""
        return np.array([says(site) for site in self.sites], bool)[self.site]

    def events_so_far(self, marks: np.ndarray) -> np.ndarray:
        """Return, for each event, how many marked events its thread has made so far, including it: (events,) uint32."""
        total = np.cumsum(marks)
        before = np.maximum.accumulate(np.where(self._starts, total - marks, 0))
        return (total - before).astype(np.uint32)

    @property
    def _starts(self) -> np.ndarray:
        """The first event of each thread."""
        return np.r_[True, self.thread[1:] != self.thread[:-1]] if len(self) else np.zeros(0, bool)

    @cached_property
    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        """The threads that have events, ascending; and the first event of each, followed by the number of events."""
        starts = np.flatnonzero(self._starts)
        return self.thread[starts], np.r_[starts, len(self)]

    @cached_property
    def accesses_by_cell(self) -> dict[tuple, np.ndarray]:
        """The accesses to cells that `checks.analysis.cell_history` has looked up, since many threads may wait for one cell."""
        return {}

    @cached_property
    def order(self) -> np.ndarray:
        """Event numbers in the device's order. An event without a slot comes right after its thread's previous event."""
        ticked = self.slot != NO_SLOT
        latest = np.maximum.accumulate(np.where(ticked | self._starts, np.arange(len(self)), 0))
        key = np.where(ticked, self.slot.astype(np.int64), -1)[latest]
        return np.argsort(key, kind="stable")  # a slot belongs to one thread, and a stable sort keeps that thread's order

    def value(self, event: int) -> list[float | int] | None:
        """Return an event's value as numbers, None if its type is not recorded."""
        type_ = SlangType.parse(self.sites[self.site[event]].type)
        return type_.values(self.words[event]).tolist() if type_ else None

    def header(self) -> dict[str, Any]:
        """Return how the kernel was run, and what is said of it, as JSON types: one object, for files and pages."""
        return {"version": VERSION} | self.info.as_header() | self.verdict.as_header()

    def save(self) -> bytes:
        """Return an .npz file: the columns in narrow dtypes, with sites and header as JSON. See docs/file-formats.md."""
        description = {"header": self.header(), "sites": [dataclasses.asdict(site) for site in self.sites]}
        file = io.BytesIO()
        np.savez_compressed(
            file,
            about=np.frombuffer(json.dumps(description).encode(), np.uint8),
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
            ValueError: It is not such a file.
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                description = json.loads(file["about"].tobytes())
                sites = [Site.of(site) for site in description["sites"]]
                columns = {name: file[name].astype(np.uint32) for name in _COLUMNS}
            events = len(columns["thread"])
            fits = all(len(column) == events and column.ndim == 1 + (name == "words") for name, column in columns.items())
            if not fits or int(columns["site"].max(initial=0)) >= len(sites) or description["header"]["version"] != VERSION:
                raise ValueError
            return cls(RunInfo.of(description["header"]), sites, **columns, verdict=Verdict.of(description["header"]))
        except (KeyError, TypeError, IndexError, AttributeError, OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error):
            raise ValueError("This is not a Splatscope recording of this version, or it is cut short.") from None

    @staticmethod
    def info_of(file: Path) -> RunInfo:
        """Return only how the kernel in a trusted file was run, without unpacking the columns."""
        with np.load(file, allow_pickle=False) as arrays:
            return RunInfo.of(json.loads(arrays["about"].tobytes())["header"])

    def of_group(self, number: int) -> tuple["Trace", int]:
        """Extract a workgroup from a recording of all, as if recorded alone. Return it and the number of its first event."""
        lanes = self.info.threads_per_group
        start, end = np.searchsorted(self.thread, (number * lanes, (number + 1) * lanes)).tolist()
        cut = tuple(thread - number * lanes for thread in self.info.cut_threads if thread // lanes == number)
        group = self.info.group_at(number)
        info = dataclasses.replace(self.info, all_groups=False, group=group, threads=lanes, cut_threads=cut)
        columns = {name: getattr(self, name)[start:end] for name in _COLUMNS}
        columns["thread"] = columns["thread"] - np.uint32(number * lanes)
        return Trace(info, self.sites, **columns, verdict=self.verdict), start

    @property
    def group_and_lane(self) -> tuple[np.ndarray, np.ndarray]:
        """For each event, the number of its workgroup in the dispatch (x fastest), and the number of its thread within that."""
        if self.info.all_groups:
            return np.divmod(self.thread, np.uint32(self.info.threads_per_group))
        return np.full(len(self), self.info.number_of(self.info.group), np.uint32), self.thread


def _narrow(column: np.ndarray) -> np.ndarray:
    return column.astype(np.min_scalar_type(int(column.max(initial=0))))
