"""What a kernel did: a table of events by column, a table of sites, a header. Saved as one file, exported for Perfetto."""

import dataclasses
import io
import json
import math
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from splatscope.gpu.slang_types import SlangType
from splatscope.tracing.instrument.batching import Batches, spread
from splatscope.tracing.instrument.runtime import CONTINUED, NO_SLOT, OUTSIDE, REPLAY
from splatscope.tracing.sites import Site

_TICKED = ("read", "write", "atomic", "arrive", "resume", "overrun", "out-of-bounds")
_INDEXED = ("read", "write", "atomic", "out-of-bounds")
_COLUMNS = ("thread", "site", "slot", "index", "words", "flags")
VERSION = 1


@dataclass
class Trace:
    """Events in each thread's program order, thread by thread; `order` sorts them as the device had them.

    Columns, one entry an event: `thread`, `site` (into `sites`), `slot` (the device's order of accesses, atomics and barriers;
    NO_SLOT elsewhere), `index` (of the element, rows flattened), `words` (n, w) uint32 (the value, as its site's type says),
    `flags`, and the epochs `shared_epoch`, `device_epoch`: how many barriers that order this memory its thread has passed.
    Where the header says `all_groups`, threads count through the workgroups, `header["lanes"]` to each.
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
        """Of each event, whether its site is so."""
        return np.array([says(site) for site in self.sites], bool)[self.site]

    def count(self, marks: np.ndarray) -> np.ndarray:
        """How many marked events each event's thread has made by then, the event included."""
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
        """An event's value as numbers, None where its type is not recorded."""
        type_ = SlangType.parse(self.sites[self.site[event]].type)
        return type_.values(self.words[event]).tolist() if type_ else None

    def save(self) -> bytes:
        """One .npz: the columns, packed no wider than each needs, with sites and header as JSON."""
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
        """The header alone of a file that `save` wrote, and that is trusted: its columns are not unpacked."""
        with np.load(file, allow_pickle=False) as arrays:
            return json.loads(arrays["about"].tobytes())["header"]

    def perfetto(self) -> str:
        """The Chrome/Perfetto trace format: a workgroup is a process, each thread a thread, each event a slice one tick long."""
        at = np.empty(len(self), np.int64)
        at[self.order] = np.arange(len(self))
        group, lane = self.group_and_lane
        events = [
            {
                "name": f"{site.kind} {site.name}".strip(),
                "cat": site.kind,
                "ph": "X",
                "ts": int(at[i]),
                "dur": 1,
                "pid": int(group[i]),
                "tid": int(lane[i]),
                "args": {"line": site.line, "file": site.file, "value": _shown(self.value(i))},
            }
            for i, site in ((i, self.sites[self.site[i]]) for i in range(len(self)))
        ]
        x, y, _ = self.header["groups"]
        for number in np.unique(group).tolist():
            name = f"workgroup {number % x}, {number // x % y}, {number // (x * y)}"
            events.append({"name": "process_name", "ph": "M", "pid": number, "args": {"name": name}})
        return json.dumps({"traceEvents": events, "otherData": {k: str(v) for k, v in self.header.items()}}, allow_nan=False)

    @property
    def group_and_lane(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each event, the number of its workgroup in the dispatch (x fastest) and its thread's number within."""
        if self.header.get("all_groups"):
            return np.divmod(self.thread, np.uint32(self.header["lanes"]))
        (x, y, z), (across, down, _) = self.header["group"], self.header["groups"]
        return np.full(len(self), (z * down + y) * across + x, np.uint32), self.thread


def from_records(records: np.ndarray, sites: list[Site], header: dict, runs: Batches) -> Trace:
    """The trace in what the recorder wrote: (threads, capacity, 4) uint32; `runs` are the sites that it wrote together.

    Sets header["truncated"], and header["cut_threads"]: those whose part was full, of which the beginning is here. A thread's last
    record is spare: there stands the end of an endless loop, which comes after all that had room.
    """
    threads, capacity, _ = records.shape
    is_overrun = np.array([site.kind == "overrun" for site in sites])
    written = records[..., 0] != 0
    cut = written[:, -2].copy()  # a thread that goes on writes its last event over the one before
    numbers = records[..., 0] & CONTINUED
    for thread in np.flatnonzero(cut):
        end = capacity - 2
        while numbers[thread, end] == CONTINUED:
            end -= 1
        written[thread, end : capacity - 1] = False
    for thread in np.flatnonzero(written[:, -1]):
        *body, end = numbers[thread][written[thread] & (numbers[thread] != CONTINUED)]
        written[thread, -1] = is_overrun[end] and not is_overrun[body].any()
    header = header | {
        "truncated": bool(cut.any()),
        "cut_threads": np.flatnonzero(cut).tolist(),
        "capacity": capacity,
        "threads": threads,
    }
    thread, _ = np.nonzero(written)
    rows, thread = spread(records[written], thread, sites, runs)
    numbers = rows[:, 0] & CONTINUED
    goes_on = numbers == CONTINUED
    heads = np.flatnonzero(~goes_on)
    site = numbers[heads]
    ticked, indexed, is_element = (np.array([s.kind in kinds for s in sites])[site] for kinds in (_TICKED, _INDEXED, ("element",)))

    # Words of the value: what the head holds beyond slot and index, then three in each continuation.
    used = np.where(indexed, 2, np.where(ticked | is_element, 1, 0))
    follows = np.diff(np.r_[heads, len(rows)]) - 1
    width = 3 + 3 * int(follows.max(initial=0))
    words = np.zeros((len(heads), width), np.uint32)
    for shift in (0, 1, 2):
        chosen = used == shift
        words[chosen, : 3 - shift] = rows[heads[chosen], 1 + shift : 4]
    for extra in range(int(follows.max(initial=0))):
        chosen = np.flatnonzero(follows > extra)
        columns = (3 - used[chosen] + 3 * extra)[:, None] + np.arange(3)
        words[chosen[:, None], columns] = rows[heads[chosen] + 1 + extra, 1:4]
    return Trace(
        header,
        sites,
        thread=thread[heads].astype(np.uint32),
        site=site.astype(np.uint32),
        slot=np.where(ticked, rows[heads, 1], np.uint32(NO_SLOT)),
        index=np.where(indexed, rows[heads, 2], np.where(is_element, rows[heads, 1], 0)).astype(np.uint32),
        words=words,
        flags=((rows[heads, 0] & (REPLAY | OUTSIDE)) >> 30).astype(np.uint32),
    )


def _shown(values: list | float | int | None) -> list | float | int | str | None:
    """JSON has no NaN and no infinity: these are named."""
    if isinstance(values, list):
        return [_shown(value) for value in values]
    return str(values) if isinstance(values, float) and not math.isfinite(values) else values


def _narrow(column: np.ndarray) -> np.ndarray:
    return column.astype(np.min_scalar_type(int(column.max(initial=0))))
