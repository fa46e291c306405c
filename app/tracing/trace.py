"""What a kernel did: a table of events by column, a table of sites, a header. Saved as one file, exported for Perfetto."""

import dataclasses
import io
import json
from dataclasses import dataclass, field

import numpy as np

from splatscope.tracing.instrument import Site
from splatscope.tracing.recorder import CONTINUED, OUTSIDE, REPLAY

NO_SLOT = np.uint32(0xFFFFFFFF)
_TICKED = ("read", "write", "atomic", "arrive", "resume", "overrun", "out-of-bounds")
_INDEXED = ("read", "write", "atomic", "out-of-bounds")


@dataclass
class Trace:
    """Events in each thread's program order, thread by thread; `order` sorts them as the device had them.

    Columns, one entry an event: `thread`, `site` (into `sites`), `slot` (the device's order of accesses, atomics and barriers;
    NO_SLOT elsewhere), `index` (of the element, rows flattened), `words` (n, w) uint32 (the value, as its site's type says),
    `flags`, and the epochs `shared_epoch`, `device_epoch`: how many barriers that order this memory its thread has passed.
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
        kinds = self.kinds
        spaces = np.array([site.space for site in self.sites])[self.site]
        waits = np.array([site.kind == "resume" and site.name.endswith("WithGroupSync") for site in self.sites])[self.site]
        assert len(kinds) == len(self.thread)
        self.shared_epoch = self._count(waits & np.isin(spaces, ("shared", "both")))
        self.device_epoch = self._count(waits & np.isin(spaces, ("device", "both")))

    def __len__(self) -> int:
        return len(self.thread)

    @property
    def kinds(self) -> np.ndarray:
        """The kind of each event's site."""
        return np.array([site.kind for site in self.sites])[self.site]

    def _count(self, marks: np.ndarray) -> np.ndarray:
        """How many marks each event's thread has passed by then, the event included."""
        total = np.cumsum(marks)
        first = np.r_[True, self.thread[1:] != self.thread[:-1]] if len(marks) else np.zeros(0, bool)
        before = np.maximum.accumulate(np.where(first, total - marks, 0)) if len(marks) else total
        return (total - before).astype(np.uint32)

    @property
    def order(self) -> np.ndarray:
        """Event numbers as the device had them: what has no slot comes right after what its thread did before."""
        ticked = self.slot != NO_SLOT
        latest = np.where(ticked, np.arange(len(self)), 0)
        starts = np.r_[True, self.thread[1:] != self.thread[:-1]] if len(self) else np.zeros(0, bool)
        latest[starts & ~ticked] = np.flatnonzero(starts & ~ticked)
        latest = np.maximum.accumulate(latest)
        key = np.where(self.slot[latest] != NO_SLOT, self.slot[latest].astype(np.int64), -1)
        return np.lexsort((np.arange(len(self)), self.thread, key))

    def value(self, event: int) -> list[float | int] | None:
        """An event's value as numbers, None where its type is not recorded."""
        return decode(self.words[event], self.sites[self.site[event]].type)

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
                columns = {name: file[name].astype(np.uint32) for name in ("thread", "site", "slot", "index", "words", "flags")}
        except (KeyError, TypeError, OSError, EOFError, ValueError) as error:
            raise ValueError("This is not a Splatscope recording, or it is cut short.") from error
        return cls(about["header"], sites, **columns)

    def perfetto(self) -> str:
        """The Chrome/Perfetto trace format: the workgroup is a process, each thread a thread, each event a slice one tick long."""
        order = self.order
        at = np.empty(len(self), np.int64)
        at[order] = np.arange(len(self))
        events = [
            {
                "name": f"{site.kind} {site.name}".strip(),
                "cat": site.kind,
                "ph": "X",
                "ts": int(at[i]),
                "dur": 1,
                "pid": 0,
                "tid": int(self.thread[i]),
                "args": {"line": site.line, "file": site.file, "value": self.value(i)},
            }
            for i, site in ((i, self.sites[self.site[i]]) for i in range(len(self)))
        ]
        return json.dumps({"traceEvents": events, "otherData": {k: str(v) for k, v in self.header.items()}})


def from_records(records: np.ndarray, sites: list[Site], header: dict) -> Trace:
    """The trace in what the recorder wrote: (threads, capacity, 4) uint32. Sets header["truncated"]."""
    threads, capacity, _ = records.shape
    written = records[..., 0] != 0
    header = header | {"truncated": bool(written[:, -1].any()), "capacity": capacity, "threads": threads}
    thread, _ = np.nonzero(written)
    rows = records[written]
    numbers = rows[:, 0] & CONTINUED
    goes_on = numbers == CONTINUED
    heads = np.flatnonzero(~goes_on)
    site = numbers[heads]
    kinds = np.array([s.kind for s in sites])[site]
    ticked, indexed = np.isin(kinds, _TICKED), np.isin(kinds, _INDEXED)
    is_element = kinds == "element"

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
        slot=np.where(ticked, rows[heads, 1], NO_SLOT).astype(np.uint32),
        index=np.where(indexed, rows[heads, 2], np.where(is_element, rows[heads, 1], 0)).astype(np.uint32),
        words=words,
        flags=((rows[heads, 0] & (REPLAY | OUTSIDE)) >> 30).astype(np.uint32),
    )


_KINDS = {"float": np.float32, "int": np.int32, "uint": np.uint32, "bool": np.uint32, "half": np.float32, "double": np.float64}
_KINDS |= {
    "int64_t": np.int64,
    "uint64_t": np.uint64,
    "int16_t": np.int32,
    "uint16_t": np.uint32,
    "int8_t": np.int32,
    "uint8_t": np.uint32,
}


def decode(words: np.ndarray, type_text: str) -> list[float | int] | None:
    """Numbers in `words` (…, w) uint32 of a value of this type."""
    scalar = next((name for name in sorted(_KINDS, key=len, reverse=True) if type_text.startswith(name)), None)
    if scalar is None:
        return None
    shape = type_text[len(scalar) :]
    count = int(np.prod([int(n) for n in shape.split("x")])) if shape else 1
    dtype = np.dtype(_KINDS[scalar])
    per = dtype.itemsize // 4
    return np.ascontiguousarray(words[..., : count * per]).view(dtype)[..., :count].tolist()


def _narrow(column: np.ndarray) -> np.ndarray:
    return column.astype(np.min_scalar_type(int(column.max(initial=0))))
